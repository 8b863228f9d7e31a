import type { CatalogTool } from '../../catalog/types.ts';
import { select, viewFailed } from '../../firewall/selectors.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { boundText, count } from '../../ops/porcelain.ts';
import type { CheckedArguments } from './arguments.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import type { SessionState } from './sessionState.ts';
import { signatureOf } from './signature.ts';
import { unknownTool } from './unknownTool.ts';

const SCHEMA_PREFIX = 'schema:';

export function view(args: CheckedArguments, context: GatewayContext, session: SessionState): Answer {
  const { handle, selector } = args as { handle: string; selector: Record<string, unknown> };
  if (handle.startsWith(SCHEMA_PREFIX)) return viewSchema(handle.slice(SCHEMA_PREFIX.length), context, session);
  const artifact = context.artifacts.get(handle);
  if (!artifact) {
    throw new GatewayError(
      'VIEW_FAILED',
      `There is no artifact ${JSON.stringify(handle.slice(0, 120))}; run the call again for a new handle.`,
      {
        path: handle,
      },
    );
  }
  const whole = artifact.bytes.toString('utf8');
  let part: string;
  try {
    part = select(whole, selector);
  } catch (error) {
    if (error instanceof GatewayError) throw new GatewayError(error.code, error.message, { path: handle });
    throw viewFailed(String(error));
  }
  return {
    text: boundText(part),
    data: { handle, media_type: artifact.mediaType, size_bytes: artifact.bytes.length, text: boundText(part) },
  };
}

/** Hydration on demand: cards never carry anything of a schema (000 §2.2). */
function viewSchema(toolId: string, context: GatewayContext, session: SessionState): Answer {
  const { catalog, revision } = context.view();
  const tool: CatalogTool | undefined = catalog.byId.get(toolId);
  if (!tool) throw unknownTool(toolId, catalog, 'VIEW_FAILED', SCHEMA_PREFIX + toolId);
  session.recordHydrated(tool.id, revision);
  const signature = signatureOf(tool.inputSchema);
  const heading = `${tool.id}: ${signature.length === 0 ? 'takes no arguments' : count(signature.length, 'argument')}`;
  return {
    text: boundText([heading, ...signature].join('\n')),
    data: { tool_id: tool.id, args_schema: tool.inputSchema ?? {} },
  };
}
