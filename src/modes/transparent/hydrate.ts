import type { CatalogTool } from '../../catalog/types.ts';
import { boundText, count } from '../../text/porcelain.ts';
import type { Answer } from '../shared/modeContext.ts';
import { signatureOf } from '../shared/signature.ts';

/** A longer schema is shown as an outline: whole it would be cut, or moved to a file (G5.8). */
const SHOWN_SCHEMA_CHARS = 6_000;

/** Returns the real schema of a listed tool (G5.8). */
export function hydrate(tool: CatalogTool): Answer {
  const schema = tool.inputSchema ?? {};
  const whole = JSON.stringify(schema);
  const signature = signatureOf(tool.inputSchema);
  const taken = signature.length === 0 ? 'takes no arguments' : count(signature.length, 'argument');
  const shown =
    whole.length <= SHOWN_SCHEMA_CHARS
      ? [`${tool.id}: ${taken}; input schema:`, whole]
      : [`${tool.id}: ${taken}; outline of its input schema, which is too long to be shown whole:`, ...signature];
  return {
    text: boundText(shown.join('\n')),
    data: { tool_id: tool.id, args_schema: schema, examples: [], constraints: {} },
    told: { kind: 'hydrate', tool },
  };
}
