import type { FirewalledCall } from '../../dispatch/callPipeline.ts';
import { dryRunText } from '../../dispatch/dryRun.ts';
import { elicitApproval } from '../../dispatch/elicitApproval.ts';
import type { ArtifactStore } from '../../firewall/artifactStore.ts';
import { type ConvertedResult, resultToEnvelope } from '../../firewall/envelope.ts';
import { count } from '../../ops/porcelain.ts';
import type { SurfaceCall } from '../../protocol/sessionServer.ts';
import type { CheckedArguments } from './arguments.ts';
import { chosenTool } from './chosenTool.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import type { SessionState } from './sessionState.ts';
import { unknownTool } from './unknownTool.ts';

/** What of a result is shown as it stands; the rest is behind its handle. */
const SHOWN_CHARS = 4_000;
/** A longer result begins with this much. */
const HEAD_CHARS = 3_000;

export async function execute(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  call: SurfaceCall,
): Promise<Answer> {
  const {
    tool_id: given,
    args: toolArgs,
    dry_run: dryRun,
  } = args as { tool_id: string; args: unknown; dry_run?: boolean };
  const { catalog, revision } = context.view();
  const { id } = chosenTool(given, catalog);
  const outcome = await context.calls.execute({
    toolId: id,
    args: toolArgs,
    dryRun: dryRun === true,
    session: call.session,
    signal: call.signal,
    onProgress: call.progress,
    approval: elicitApproval(call.ask, (text) => text),
    tools: catalog.byId,
    unknownTool: (toolId) => unknownTool(toolId, catalog),
  });
  if (outcome.kind === 'dry_run') return { text: dryRunText(outcome.report), data: outcome.report };
  session.recordHydrated(id, revision);
  const query = session.queryFor(id);
  if (query !== undefined && !outcome.result.isError) context.recordUse(query, id);
  return outcome.result;
}

/** What the pipeline's firewall stage makes of a result: the answer, with its artifacts kept. */
export function firewallAnswer(
  artifacts: ArtifactStore,
  result: Record<string, unknown>,
  { tool, provenance }: FirewalledCall,
): Answer {
  const converted = resultToEnvelope(result, tool.upstreamName);
  converted.envelope.provenance = { ...converted.envelope.provenance, ...provenance };
  return answerOf(converted, tool.id, result, artifacts);
}

function answerOf(
  converted: ConvertedResult,
  id: string,
  result: Record<string, unknown>,
  store: ArtifactStore,
): Answer {
  const { envelope, binaries, readableText } = converted;
  const isError = envelope.status === 'error';
  const artifacts = binaries.map(({ bytes, mediaType, label }, i) => {
    const kind = (envelope.artifacts[i]?.handle.split(':').at(-2) ?? 'part').replace(/^mcp$/, 'structured');
    const { handle } = store.put(kind, id, { bytes, mediaType, label });
    return { ...(envelope.artifacts[i] as (typeof envelope.artifacts)[number]), handle };
  });
  const label = `text result from ${id}`;
  const bytes = Buffer.from(readableText);
  const { handle } = store.put('text', id, { bytes, mediaType: 'text/plain', label });
  artifacts.push({ handle, media_type: 'text/plain', size_bytes: bytes.length, label });
  return {
    text: `${isError ? 'Error UPSTREAM_ERROR: ' : ''}${digest(readableText, handle)}`,
    data: { ...envelope, provenance: { ...envelope.provenance, tool_id: id }, artifacts },
    isError,
    media: mediaOf(result),
  };
}

function digest(text: string, handle: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  const head = text.slice(0, text.lastIndexOf('\n', HEAD_CHARS) > 0 ? text.lastIndexOf('\n', HEAD_CHARS) : HEAD_CHARS);
  const lines = text.split('\n').length;
  const shown = head.split('\n').length;
  return [
    head,
    `… ${count(text.length - head.length, 'more character')}, ${count(lines, 'line')} in all.`,
    `Read on: tool_view {"handle": "${handle}", "selector": {"type": "lines", "start": ${shown}, "end": ${shown + 80}}}`,
  ].join('\n');
}

/** What a text cannot stand for reaches clients that can show it. */
function mediaOf(result: Record<string, unknown>): object[] {
  const content = Array.isArray(result.content) ? result.content : [];
  return content.filter((part: unknown) => {
    const { type, data, mimeType } = (part ?? {}) as Record<string, unknown>;
    return (type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string';
  });
}
