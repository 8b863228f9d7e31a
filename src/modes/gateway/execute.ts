import type { CallDiagnostics } from '../../calls/pipeline/callPipeline.ts';
import { dryRunText } from '../../calls/pipeline/dryRun.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { YOU } from '../../mcp/session/sessionMode.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import { firstLines, oneLine, shortened } from '../../text/porcelain.ts';
import { announceContract } from '../shared/announceContract.ts';
import { renderMode } from '../shared/arguments.ts';
import {
  answeredWithError,
  type CallEvent,
  completedEvent,
  namedTool,
  ofTool,
  UNKNOWN,
  wasDispatched,
} from '../shared/callEvent.ts';
import { clientEndOf } from '../shared/callRequest.ts';
import { chosenTool } from '../shared/chosenTool.ts';
import { TOOL_EXECUTE } from '../shared/gatewayTools.ts';
import type { Answer, FailedCall, RunnableTool, ToolCall } from '../shared/modeContext.ts';
import { awaitServerOf } from '../shared/unknownTool.ts';

type Args = FailedCall['args'];

/** Limit of the repairs that the text notes. The data has all of them (`arg_repairs`). */
const MAX_NOTED_REPAIRS = 5;
const MAX_REASON_CHARS = 200;

export const execute: RunnableTool<'tool_execute'> = { ...TOOL_EXECUTE, run, failed };

async function run({ args, context, session, call, onCorrection }: ToolCall): Promise<Answer> {
  const {
    tool_id: given,
    args: toolArgs = {},
    dry_run: dryRun,
  } = args as { tool_id: string; args?: unknown; dry_run?: boolean };
  await awaitServerOf(given, context, call);
  const { catalog, revision } = context.view();
  const tool = chosenTool(given, catalog, context);
  const { id } = tool;
  if (id !== given) onCorrection({ rule: 'tool_id', from: shortened(given, 128), to: id });
  announceContract(tool, context, call);
  const outcome = await context.clientRequests.during(call, (origin) =>
    context.calls.execute({
      ...clientEndOf(call, catalog, context),
      toolId: id,
      args: toolArgs,
      dryRun: dryRun === true,
      origin,
    }),
  );
  if (outcome.kind === 'dry_run') {
    return { text: dryRunText(outcome.report), data: outcome.report, event: dryRunEvent(args, tool) };
  }
  const { text, parts, isError, envelope, structured } = outcome.result;
  session.recordHydrated(id, revision);
  const query = session.queryFor(id);
  if (query !== undefined && !isError && call.sessionId !== YOU) context.recordUse(query, id);
  // The envelope counts tokens, so it is made only when it is asked for.
  const data = renderMode(args) === 'json' ? { ...(await envelope()), ...withStructure(structured()) } : undefined;
  const { result, diagnostics, repairs, unchecked } = outcome;
  const repaired = repairs.map(
    ({ path, rule }) => `note: ${oneLine(path, 128)} of the arguments was repaired (${rule})`,
  );
  return {
    text,
    data: data ?? {},
    isError,
    media: parts,
    notes: [
      ...(unchecked === undefined
        ? []
        : [`note: the arguments were not checked: ${oneLine(unchecked, MAX_REASON_CHARS)}`]),
      ...firstLines(repaired, MAX_NOTED_REPAIRS),
    ],
    event: resultEvent(args, tool, diagnostics, result, data?.summary ?? text),
  };
}

/** The client of a gateway tool does not see the server's own structured content otherwise. */
function withStructure(structuredContent: unknown): { structuredContent?: unknown } {
  return structuredContent === undefined ? {} : { structuredContent };
}

function dryRunEvent(args: Args, tool: CatalogTool): CallEvent {
  return completedEvent(TOOL_EXECUTE, {
    event: 'execute.dry_run',
    ...ofTool(tool),
    attributes: () => ({ arg_keys: argumentNames(args, tool), dispatched: false }),
  });
}

function resultEvent(
  args: Args,
  tool: CatalogTool,
  { attempts, cacheHit, shared }: CallDiagnostics,
  { isError, summary }: AdmittedResult,
  shown: string,
): CallEvent {
  const status = isError ? 'error' : summary.partial ? 'partial' : 'ok';
  return completedEvent(TOOL_EXECUTE, {
    ...(cacheHit ? { event: 'execute.cache_hit' } : {}),
    ...ofTool(tool),
    retries: Math.max(0, attempts - 1),
    dispatched: !cacheHit && !shared,
    ...(isError ? answeredWithError(tool) : {}),
    attributes: (meter) => {
      const names = { arg_keys: argumentNames(args, tool), status };
      if (cacheHit) return { ...names, cache_hit: true, dispatched: false };
      const raw = meter.countScaled(summary.beginning, summary.chars);
      const compact = meter.count(shown);
      return {
        ...names,
        raw_chars: summary.chars,
        raw_tokens: raw,
        compact_chars: shown.length,
        compact_tokens: compact,
        tokens_saved: Math.max(0, raw - compact),
        artifact_count: summary.artifacts.length,
        artifact_bytes: summary.artifacts.reduce((sum, artifact) => sum + artifact.size_bytes, 0),
        artifact_refs: summary.artifacts.map((artifact) => artifact.handle),
        firewall_triggered: summary.chars > shown.length,
        attempts,
        cache_hit: false,
        ...(summary.findings.length > 0 && { result_findings: summary.findings }),
      };
    },
  });
}

function failed({ args, error, toolOf }: FailedCall): Partial<CallEvent> {
  // The path has the corrected id, where the given id was corrected.
  const toolId = error.path !== '' ? error.path : String(args.tool_id ?? '');
  return {
    ...namedTool(toolId, toolOf),
    dispatched: wasDispatched(error),
    attributes: () => ({ error_code: error.code, arg_keys: argumentNames(args, toolOf(toolId)) }),
  };
}

/** Returns the argument names that the tool's schema has. Other names are made up by the caller and hidden. */
function argumentNames({ args }: Args, tool: CatalogTool | undefined): string[] {
  const known = objectOf(objectOf(tool?.inputSchema).properties);
  const names = Object.keys(objectOf(args)).map((name) => (Object.hasOwn(known, name) ? name : UNKNOWN));
  return [...new Set(names)].sort();
}

function objectOf(value: unknown): Args {
  return isRecord(value) ? value : {};
}
