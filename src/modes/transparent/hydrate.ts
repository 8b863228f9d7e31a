import { boundText } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { schemaEvent } from '../gateway/view.ts';
import { UNKNOWN } from '../shared/callEvent.ts';
import { chosenTool } from '../shared/chosenTool.ts';
import { TOOL_HYDRATE } from '../shared/gatewayTools.ts';
import type { Answer, RunnableTool, ToolCall } from '../shared/modeContext.ts';
import { argumentsInWords, signatureOf } from '../shared/signature.ts';

/** Limit of a schema that is shown whole. A longer one is shown as an outline: it would be cut, or moved to a file (G5.8). */
const SHOWN_SCHEMA_CHARS = 6_000;

export const hydrate: RunnableTool<'tool_hydrate'> = {
  ...TOOL_HYDRATE,
  run,
  // Telemetry counts a failed tool_hydrate as the call of an unknown tool.
  failed: () => ({ event: 'call.failed', method: UNKNOWN }),
};

/** Returns the real schema of a listed tool (G5.8). */
function run({ args, context }: ToolCall): Answer {
  const tool = chosenTool(args.tool_id as string, context.view().catalog, context);
  const schema = tool.inputSchema ?? {};
  const whole = visibleJson(schema);
  const signature = signatureOf(tool.inputSchema);
  const taken = argumentsInWords(tool.inputSchema);
  const shown =
    whole.length <= SHOWN_SCHEMA_CHARS
      ? [`${tool.id}: ${taken}; input schema:`, whole]
      : [`${tool.id}: ${taken}; outline of its input schema, which is too long to be shown whole:`, ...signature];
  return {
    text: boundText(shown.join('\n')),
    data: { tool_id: tool.id, args_schema: schema, examples: [], constraints: {} },
    event: schemaEvent(tool),
  };
}
