import type { PrimitiveListing } from '../../src/catalog/primitives/primitiveCatalog.ts';
import type { CallSettings } from '../../src/config/declaration/callBlocks.ts';
import type { Settings } from '../../src/config/declaration/document.ts';
import type { ConfigurationStatus, ServerStatus } from '../../src/control/contract.ts';
import type { CallContext } from '../../src/mcp/session/sessionMode.ts';
import { gatewayMode } from '../../src/modes/gateway/gatewayMode.ts';
import type { PrimitiveUpstream } from '../../src/modes/primitives/primitivePorts.ts';
import type { GatewayContext } from '../../src/modes/shared/modeContext.ts';
import { fixedContext, readyServer } from '../support/fixedContext.ts';

export const FILE = '/home/ada/shop/.vscode/waygate.json';

export interface Answer {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Creates the mode over a catalog that never changes, without a process. */
export function fixedGateway(
  listings: Record<string, readonly unknown[]>,
  more: {
    servers?: Partial<ServerStatus>[];
    configuration?: Partial<ConfigurationStatus>;
    primitives?: readonly Partial<PrimitiveListing>[];
    upstream?: PrimitiveUpstream['request'];
    calls?: Partial<CallSettings>;
    primitiveTools?: Settings['primitives'];
  } = {},
) {
  const calls: Parameters<GatewayContext['onCallEnd']>[0][] = [];
  const running = Object.entries(listings).map(([name, tools]) => readyServer(name, tools.length));
  const context: GatewayContext = {
    ...fixedContext(
      Object.entries(listings).map(([server, tools]) => ({ server, tools })),
      {
        servers: [...running, ...(more.servers ?? []).map((one) => ({ ...readyServer(one.name ?? '', 0), ...one }))],
        ...(more.primitives ? { primitives: more.primitives } : {}),
        ...(more.upstream ? { upstream: more.upstream } : {}),
        ...(more.calls ? { calls: more.calls } : {}),
        ...(more.primitiveTools ? { primitiveTools: more.primitiveTools } : {}),
      },
    ),
    workspace: '/home/ada/shop',
    configuration: () => ({ file: FILE, exists: true, problems: [], ...more.configuration }),
    onCallEnd: (call) => void calls.push(call),
  };
  const mode = gatewayMode(context);
  const session = {};
  const call = async (name: string, args: unknown, more: Partial<CallContext> = {}): Promise<Answer> => {
    const { signal } = new AbortController();
    return (await mode.callTool(name, args, { signal, client: 'test', session, ...more })) as Answer;
  };
  return {
    mode,
    context,
    artifacts: context.artifacts,
    calls,
    view: context.view(),
    call,
    text: async (name: string, args: unknown, more?: Partial<CallContext>) => textOf(await call(name, args, more)),
  };
}

export function textOf(answer: Answer): string {
  return answer.content.map((part) => part.text).join('');
}

const text = { type: 'string' };

/** Small catalog with files and issues. */
export const SHOP = {
  files: [
    {
      name: 'read_file',
      description: 'Read the whole content of a file.',
      inputSchema: {
        type: 'object',
        properties: { path: { ...text, description: 'Where it lies.' }, tail: { type: 'integer', default: 10 } },
        required: ['path'],
      },
      annotations: { readOnlyHint: true },
    },
    {
      name: 'delete_file',
      description: 'Delete a file for good.',
      inputSchema: { type: 'object', properties: { path: text }, required: ['path'] },
      annotations: { destructiveHint: true },
    },
  ],
  github: [
    {
      name: 'create_issue',
      description: 'Create an issue in a repository.',
      inputSchema: {
        type: 'object',
        properties: {
          title: text,
          labels: { type: 'array', items: text },
          state: { enum: ['open', 'closed'] },
          assignee: { anyOf: [text, { type: 'null' }] },
        },
        required: ['title'],
      },
    },
    { name: 'whoami', description: 'Tell who is signed in.', inputSchema: { type: 'object' } },
  ],
};
