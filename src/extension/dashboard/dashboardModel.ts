import type { GatewaySnapshot, SessionStatus } from '../../control/contract.ts';
import type {
  CallsPlot,
  DashboardState,
  Figure,
  HealthLevel,
  NowPart,
  QuarantinedServer,
  ToolRow,
} from '../../control/dashboardMessages.ts';
import type { CallsReport, TelemetryReport } from '../../control/healthContract.ts';
import { duration, groupDigits, inLines, latency } from '../../text/porcelain.ts';
import { timeOfDay } from '../../text/timeOfDay.ts';
import { plural, t } from '../l10n.ts';
import { amounts } from '../plainText.ts';
import { type GatewayView, summarize } from '../status/health.ts';
import { type KnownLimits, limitsPart } from './limitRows.ts';
import { needRows } from './needs.ts';
import { serversPart } from './serverRows.ts';
import { compact, toolParts } from './words.ts';

/** Everything that the dashboard shows, at one moment. */
export interface DashboardSources {
  /** Milliseconds since the epoch. */
  now: number;
  view: GatewayView;
  /** Last known snapshot; that of a replaced worker stays until the next one. */
  snapshot?: GatewaySnapshot | undefined;
  telemetry?: TelemetryReport | undefined;
  limits: KnownLimits;
  quarantined: readonly QuarantinedServer[];
}

const MAX_TOOLS = 20;
const LEVEL_WORDS: Record<HealthLevel, string> = {
  ready: t`Ready`,
  starting: t`Starting`,
  degraded: t`Degraded`,
  stopping: t`Stopping`,
  lost: t`Not running`,
  off: t`Off`,
};
const OLD = t`Everything below is as it was when the gateway answered last.`;
const TOKEN_METHOD = t`Tokens are counted with cl100k, about as models count. Before: the definitions of all tools. After: the definitions and instructions that clients are sent in their place. Results: as servers sent them, and as models were shown them.`;

/** Builds the state of the page. Every text is a single line that hides nothing. */
export function dashboardState(sources: DashboardSources): DashboardState {
  const { now, view, snapshot, telemetry, limits, quarantined } = sources;
  const state: DashboardState = {
    workspace: snapshot?.workspace ?? '',
    refreshing: (view.refreshing?.size ?? 0) > 0,
    live: view.link.kind === 'attached',
    needs: needRows(view, { snapshot, quarantined }),
    now: nowPart(sources),
    ...(snapshot && {
      limits: limitsPart(limits, now),
      servers: serversPart(snapshot, now),
      tools: toolRows(telemetry),
    }),
  };
  return inLines(state);
}

function nowPart({ view, snapshot, telemetry, now }: DashboardSources): NowPart {
  const { level, headline } = summarize(view);
  const calls = telemetry?.calls;
  return {
    level,
    words: LEVEL_WORDS[level],
    headline,
    figures: snapshot ? [rate(calls), answerTime(calls), errors(calls), context(telemetry)] : [],
    lines: snapshot
      ? [...(view.link.kind === 'attached' ? [] : [OLD]), sessions(snapshot.sessions), worker(snapshot, now)]
      : [],
  };
}

function rate(calls: CallsReport | undefined): Figure {
  const minutes = calls?.per_minute ?? [];
  const sum = minutes.reduce((total, minute) => total + minute.calls, 0);
  return {
    id: 'rate',
    term: t`Calls a minute`,
    value: groupDigits(minutes.at(-1)?.calls ?? 0),
    notes: [calls ? t`${groupDigits(sum)} in ${minutes.length} min` : t`no calls yet`],
    ...(calls && { plot: plot(calls) }),
  };
}

function answerTime(calls: CallsReport | undefined): Figure {
  return {
    id: 'latency',
    term: t`Answer time p50 / p95`,
    value: calls ? `${latency(calls.p50_latency_ms)} / ${latency(calls.p95_latency_ms)}` : '–',
    notes: calls ? [plural(calls.request_count, t`of 1 call`, t`of ${groupDigits(calls.request_count)} calls`)] : [],
  };
}

function errors(calls: CallsReport | undefined): Figure {
  const { error_count: failed = 0, recovery_error_count: lost = 0, retry_count: retries = 0 } = calls ?? {};
  return {
    id: 'errors',
    term: t`Errors`,
    value: groupDigits(failed),
    notes: [
      plural(
        retries,
        t`${groupDigits(lost)} lost, 1 retry`,
        t`${groupDigits(lost)} lost, ${groupDigits(retries)} retries`,
      ),
    ],
  };
}

function context(telemetry: TelemetryReport | undefined): Figure {
  const tokens = telemetry?.tokens;
  const { definition_tokens_full: full = 0, definition_tokens_exposed: exposed = 0 } = tokens ?? {};
  const saved = full > 0 ? Math.round((1 - exposed / full) * 100) : 0;
  return {
    id: 'context',
    term: t`Context, tokens a request`,
    value: full === 0 ? '–' : `${groupDigits(full)} → ${groupDigits(exposed)}`,
    notes: [
      ...(full === 0 ? [] : [saved > 0 ? `−${saved} %` : `+${-saved} %`]),
      ...(tokens && tokens.result_tokens_raw > 0
        ? [t`results: ${compact(tokens.result_tokens_raw)} → ${compact(tokens.result_tokens_shown)}`]
        : []),
    ],
    method: TOKEN_METHOD,
  };
}

function plot({ per_minute: minutes }: CallsReport): CallsPlot {
  const sum = (key: 'calls' | 'errors'): number => minutes.reduce((total, minute) => total + minute[key], 0);
  const most = Math.max(0, ...minutes.map(({ calls }) => calls));
  const title = t`Calls a minute in the last ${minutes.length} minutes: ${amounts.calls(sum('calls'))}, ${amounts.errors(sum('errors'))}, at most ${groupDigits(most)} a minute.`;
  return { title, minutes };
}

function sessions(sessions: readonly SessionStatus[]): string {
  if (sessions.length === 0) return t`No session. The editor attaches with the first message of a chat.`;
  const names = new Map<string, number>();
  for (const { client, clientVersion, protocolVersion, mode } of sessions) {
    const notes = [t`MCP ${protocolVersion}`, ...(mode === undefined || mode === 'gateway' ? [] : [mode])];
    const name = `${client} ${clientVersion} (${notes.join(', ')})`;
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  const list = [...names].map(([name, amount]) => (amount === 1 ? name : `${amount} × ${name}`)).join(', ');
  return plural(sessions.length, t`1 session: ${list}.`, t`${groupDigits(sessions.length)} sessions: ${list}.`);
}

function worker({ worker }: GatewaySnapshot, now: number): string {
  const { pid, version, startedAt } = worker;
  return t`Counts since ${timeOfDay(startedAt, false)} (${duration(now - startedAt)}), the start of worker ${pid}, version ${version}.`;
}

/** Returns the tools with most calls. The worker sorts them. */
function toolRows(telemetry: TelemetryReport | undefined): ToolRow[] {
  return (telemetry?.tools ?? [])
    .filter(({ request_count: calls }) => calls > 0)
    .slice(0, MAX_TOOLS)
    .map((row) => ({
      toolId: row.tool_id,
      ...toolParts(row.tool_id),
      calls: row.request_count,
      errors: row.error_count,
      p95Ms: row.p95_latency_ms,
      tokensSaved: row.result_tokens_saved ?? 0,
    }));
}
