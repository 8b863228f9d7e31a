import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { ArtifactSource } from '../../results/artifacts/artifactFile.ts';
import { sourceOf, viewArtifact } from '../../results/artifacts/viewArtifact.ts';
import { SELECTOR_TYPES } from '../../results/select/selectors.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { boundText, shortened } from '../../text/porcelain.ts';
import { type CallEvent, completedEvent, namedTool, ofTool, UNKNOWN } from '../shared/callEvent.ts';
import { schemaTokens } from '../shared/catalog/definitionTokens.ts';
import { meantChoice } from '../shared/chosenTool.ts';
import { TOOL_VIEW } from '../shared/gatewayTools.ts';
import type { Answer, FailedCall, RunnableTool, ToolCall } from '../shared/modeContext.ts';
import { argumentsInWords, signatureOf } from '../shared/signature.ts';
import { awaitServerOf, unknownTool } from '../shared/unknownTool.ts';

const SCHEMA_PREFIX = 'schema:';
/** Form of real handles: kind, tool and digest. A caller made up anything else. */
const HANDLE = /^[a-z_]{1,20}:.{1,200}:[0-9a-f]{16}$/;

export const view: RunnableTool<'tool_view'> = { ...TOOL_VIEW, run, failed };

async function run(toolCall: ToolCall): Promise<Answer> {
  const { args, context, call } = toolCall;
  const { handle, selector = {} } = args as { handle: string; selector?: Record<string, unknown> };
  if (handle.startsWith(SCHEMA_PREFIX)) return viewSchema(handle.slice(SCHEMA_PREFIX.length), toolCall);
  const { session, signal, trace } = call;
  const approval = elicitApproval(call.ask, scrubSecrets);
  const {
    text,
    data,
    parts,
    shown: raw,
  } = await viewArtifact(context.artifacts, handle, selector, {
    maskSecrets: context.masks(false),
    // The recorded source, because the catalog may have changed or lost the tool since.
    authorize: ({ source }) =>
      context.calls.authorizeView(
        { tool: toolOf(source, handle), session, signal, approval, trace },
        source !== undefined,
      ),
  });
  const review = context.reviewed(raw, sourceOf(handle.slice(handle.indexOf(':') + 1)));
  const shown = String(data.text ?? '');
  const attributes: CallEvent['attributes'] = (meter) => ({
    ...viewed(args),
    result_chars: shown.length,
    result_tokens: meter.count(shown),
    ...(review && { result_findings: review.rules }),
  });
  const noted = review
    ? { text: `${text}\n${review.note}`, data: { ...data, trust_note: review.note } }
    : { text, data };
  return { ...noted, media: parts, event: completedEvent(TOOL_VIEW, { attributes }) };
}

/** Returns the source of an artifact as rules and questions name it. An unknown one has the id in its handle. */
function toolOf(source: ArtifactSource | undefined, handle: string): CatalogTool {
  const id = handle.slice(handle.indexOf(':') + 1, handle.lastIndexOf(':'));
  const unknown = { id, name: id, namespace: '', server: UNKNOWN, upstreamName: id, title: id, fingerprint: '' };
  const nothing = { description: '', sideEffects: false, costHint: 0, inputSchema: {}, outputSchema: undefined };
  return { ...nothing, annotations: {}, ...(source ?? { ...unknown, tags: [], safety: '' }) };
}

/** Shows the arguments of a tool (G5.9). Cards never carry them (G2.2). */
async function viewSchema(toolId: string, { context, session, call, onCorrection }: ToolCall): Promise<Answer> {
  await awaitServerOf(toolId, context, call);
  const { catalog, revision } = context.view();
  const own = meantChoice(toolId, catalog);
  const prompt = own ? undefined : meantChoice(toolId, context.primitives.view().prompts.catalog);
  const tool = own ?? prompt;
  if (!tool) throw unknownTool(toolId, catalog, context, 'VIEW_FAILED', SCHEMA_PREFIX + toolId);
  if (tool.id !== toolId) onCorrection({ rule: 'tool_id', from: shortened(toolId, 128), to: tool.id });
  if (tool !== prompt) session.recordHydrated(tool.id, revision);
  const signature = signatureOf(tool.inputSchema);
  const heading = `${tool.id}: ${argumentsInWords(tool.inputSchema)}`;
  return {
    text: boundText([heading, ...signature].join('\n')),
    data: { [prompt ? 'prompt_id' : 'tool_id']: tool.id, args_schema: tool.inputSchema ?? {} },
    event: schemaEvent(tool),
  };
}

/** Makes the event of a schema that was shown. Every mode counts it as a view. */
export function schemaEvent(tool: CatalogTool): CallEvent {
  return completedEvent(TOOL_VIEW, {
    event: 'hydrate.completed',
    ...ofTool(tool),
    attributes: () => ({ schema_tokens: schemaTokens(tool.inputSchema) }),
  });
}

function failed({ args, error: { code }, toolOf }: FailedCall): Partial<CallEvent> {
  const { handle } = args;
  if (typeof handle !== 'string' || !handle.startsWith(SCHEMA_PREFIX)) {
    return { attributes: () => ({ ...viewed(args), error_code: code }) };
  }
  return {
    event: 'hydrate.failed',
    ...namedTool(handle.slice(SCHEMA_PREFIX.length), toolOf),
    attributes: () => ({ error_code: code === 'VIEW_FAILED' ? 'HYDRATE_FAILED' : code }),
  };
}

function viewed({ handle, selector }: FailedCall['args']): Record<string, unknown> {
  const { type } = (selector ?? {}) as { type?: unknown };
  return {
    artifact_ref: typeof handle === 'string' && HANDLE.test(handle) ? handle : UNKNOWN,
    selector_type: type === undefined ? 'head' : (SELECTOR_TYPES.find((known) => known === type) ?? UNKNOWN),
  };
}
