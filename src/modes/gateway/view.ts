import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import { viewArtifact } from '../../results/artifacts/viewArtifact.ts';
import { boundText, count } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { CheckedArguments } from '../shared/arguments.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import type { SessionState } from '../shared/sessionState.ts';
import { signatureOf } from '../shared/signature.ts';
import { unknownTool } from '../shared/unknownTool.ts';

const SCHEMA_PREFIX = 'schema:';

export async function view(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  call: CallContext,
): Promise<Answer> {
  const { handle, selector } = args as { handle: string; selector: Record<string, unknown> };
  if (handle.startsWith(SCHEMA_PREFIX)) return viewSchema(handle.slice(SCHEMA_PREFIX.length), context, session);
  const source = sourceOf(handle);
  const tool = context.view().catalog.byId.get(source) ?? context.primitives.view().choice(source);
  if (tool) {
    const approval = elicitApproval(call.ask, visibleText);
    await context.calls.authorizeView({ tool, session: call.session, signal: call.signal, approval });
  }
  const { text, data, parts } = await viewArtifact(context.artifacts, handle, selector, {
    maskSecrets: context.masksViews(),
  });
  return { text, data, media: parts, told: { kind: 'view', shown: String(data.text ?? '') } };
}

/** The tool whose result a handle stands for: `kind:tool_id:digest`. */
function sourceOf(handle: string): string {
  return handle.slice(handle.indexOf(':') + 1, handle.lastIndexOf(':'));
}

/** Shows the arguments of a tool (G5.9). Cards never carry them (G2.2). */
function viewSchema(toolId: string, context: GatewayContext, session: SessionState): Answer {
  const { catalog, revision } = context.view();
  const prompt = context.primitives.view().prompts.catalog.byId.get(toolId);
  const tool: CatalogTool | undefined = catalog.byId.get(toolId) ?? prompt;
  if (!tool) throw unknownTool(toolId, catalog, context, 'VIEW_FAILED', SCHEMA_PREFIX + toolId);
  if (tool !== prompt) session.recordHydrated(tool.id, revision);
  const signature = signatureOf(tool.inputSchema);
  const heading = `${tool.id}: ${signature.length === 0 ? 'takes no arguments' : count(signature.length, 'argument')}`;
  return {
    text: boundText([heading, ...signature].join('\n')),
    data: { [prompt ? 'prompt_id' : 'tool_id']: tool.id, args_schema: tool.inputSchema ?? {} },
    told: { kind: 'hydrate', tool },
  };
}
