import { dispatchCall } from '../../dispatch/dispatchCall.ts';
import { argumentError } from '../../dispatch/validateArgs.ts';
import { type ConvertedResult, resultToEnvelope } from '../../firewall/envelope.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { count } from '../../ops/porcelain.ts';
import type { SurfaceCall } from '../../protocol/sessionServer.ts';
import type { CheckedArguments } from './arguments.ts';
import { chosenTool } from './chosenTool.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import type { SessionState } from './sessionState.ts';

/** What of a result is shown as it stands; the rest is behind its handle. */
const SHOWN_CHARS = 4_000;
/** A longer result begins with this much. */
const HEAD_CHARS = 3_000;

export async function execute(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  { signal, progress }: SurfaceCall,
): Promise<Answer> {
  const {
    tool_id: given,
    args: toolArgs,
    dry_run: dryRun,
  } = args as { tool_id: string; args: Record<string, unknown>; dry_run?: boolean };
  const { catalog, revision } = context.view();
  const tool = chosenTool(given, catalog);
  const { id } = tool;
  const invalid = argumentError(tool, toolArgs);
  if (invalid) throw invalid;
  if (dryRun) return dryRunReport(id, tool.upstreamName, tool.annotations);
  const connection = context.connection(tool.server);
  if (!connection) {
    throw new GatewayError('HYDRATE_FAILED', `The server ${tool.server} has left the configuration; browse again.`, {
      path: id,
    });
  }
  const result = await dispatchCall(tool, connection, toolArgs, {
    signal,
    ...(progress ? { onProgress: progress } : {}),
  });
  session.recordHydrated(id, revision);
  const query = session.queryFor(id);
  if (query !== undefined && result.isError !== true) context.recordUse(query, id);
  return answerOf(resultToEnvelope(result, tool.upstreamName), id, result, context);
}

function dryRunReport(id: string, upstreamName: string, annotations: Readonly<Record<string, unknown>>): Answer {
  return {
    text: `Dry run of ${id}: the arguments are valid. Nothing was called.`,
    data: {
      dry_run: true,
      tool_id: id,
      upstream_name: upstreamName,
      args_valid: true,
      annotations: { ...annotations, verified: false },
      checks: [{ name: 'schema_validation', status: 'pass' }],
    },
  };
}

function answerOf(
  converted: ConvertedResult,
  id: string,
  result: Record<string, unknown>,
  context: GatewayContext,
): Answer {
  const { envelope, binaries, readableText } = converted;
  const isError = envelope.status === 'error';
  const artifacts = binaries.map(({ bytes, mediaType, label }, i) => {
    const kind = (envelope.artifacts[i]?.handle.split(':').at(-2) ?? 'part').replace(/^mcp$/, 'structured');
    const { handle } = context.artifacts.put(kind, id, { bytes, mediaType, label });
    return { ...(envelope.artifacts[i] as (typeof envelope.artifacts)[number]), handle };
  });
  const label = `text result from ${id}`;
  const bytes = Buffer.from(readableText);
  const { handle } = context.artifacts.put('text', id, { bytes, mediaType: 'text/plain', label });
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
