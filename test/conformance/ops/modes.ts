/** Operations of the gateway tools (G3, G4, G5). */
import { GatewayError } from '../../../src/errors/gatewayError.ts';
import { gatewayMode } from '../../../src/modes/gateway/gatewayMode.ts';
import { ALL_TOOLS, TRANSPARENT_TOOLS } from '../../../src/modes/shared/gatewayTools.ts';
import { fixedContext } from '../../support/fixedContext.ts';
import type { ConformanceFile, Operation, OperationTable, OverruledCase } from '../conformance.ts';

interface ToolResult {
  structuredContent: Record<string, unknown>;
}

/** Calls a meta-tool over the tools of the file's own fixture, in JSON. */
async function call(name: string, args: object, tools: readonly unknown[]): Promise<Record<string, unknown>> {
  const mode = gatewayMode(fixedContext([{ server: 'fixture', tools }]));
  const result = await mode.callTool(
    name,
    { ...args, render: 'json' },
    { signal: new AbortController().signal, client: 'conformance', session: {} },
  );
  return (result as ToolResult).structuredContent;
}

function fixtureTools(file: ConformanceFile): unknown[] {
  return file.groups.runtime_fixture?.[0]?.input as unknown[];
}

/** Definitions of both modes; tools of one name accept the same. */
const DEFINITIONS = [...ALL_TOOLS, ...TRANSPARENT_TOOLS.filter(({ name }) => name === 'tool_hydrate')];

/** Schema without `render`, which the cases do not have (O9.1). */
const inputSchema = (name: string): Operation => ({
  run: () => {
    const definition = DEFINITIONS.find((tool) => tool.name === name);
    const { render: _render, ...properties } = definition?.inputSchema.properties ?? {};
    return { inputSchema: { ...definition?.inputSchema, properties } };
  },
});

export const modeOverruled: readonly OverruledCase[] = [
  {
    id: 'browse_errors-01-v',
    op: 'tool_browse',
    rule: 'G5.3',
    why: 'a browse without arguments is that of "/", because an error costs the model a round',
  },
];

export const modeOperations: OperationTable = {
  meta_tools: Object.fromEntries(DEFINITIONS.map(({ name }) => [`inputSchema of ${name}`, inputSchema(name)])),
  browse_errors: {
    tool_browse: {
      run: async (input, { file, expected }) => {
        const answer = await call('tool_browse', input as object, fixtureTools(file));
        // The content of `details` is free; a case without it does not pin it.
        if ('details' in (expected as object)) return answer;
        const { details: _details, ...error } = answer;
        return error;
      },
    },
    'tool_browse query on empty catalog': {
      run: async (input) => ({ cards: (await call('tool_browse', input as object, [])).cards }),
    },
  },
  errors: {
    'GatewayError JSON': {
      run: (input) => {
        const { code, message, ...options } = input as {
          code: GatewayError['code'];
          message: string;
          path: string;
          retryable: boolean;
          details: Record<string, unknown>;
        };
        return new GatewayError(code, message, options).toObject();
      },
    },
  },
};
