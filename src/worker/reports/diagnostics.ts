import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRecord } from '../../control/activityContract.ts';
import type { CatalogStatus, ServerStatus } from '../../control/contract.ts';
import type { GatewayHealth, HealthCore, HealthReport, TelemetryReport } from '../../control/healthContract.ts';
import type { Fault } from '../../errors/fault.ts';
import { traitsOf } from '../../errors/faultCodes.ts';
import { BUILD } from '../../lib/build.ts';
import type { SessionRequest } from '../../mcp/session/sessionRequest.ts';
import type { CallEvent } from '../../modes/shared/callEvent.ts';
import { catalogLoaded } from '../../modes/shared/catalog/catalogEvents.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { TokenMeter } from '../../modes/shared/catalog/tokenMeter.ts';
import { GATEWAY_TOOLS } from '../../modes/shared/gatewayTools.ts';
import { Counters, type UseReport } from '../../telemetry/counters.ts';
import { diagnosticEvent, type EventDraft, hotPaths } from '../../telemetry/diagnosticEvent.ts';
import { EventLog, eventLogFile } from '../../telemetry/eventLog.ts';
import { ServerWatch, type WatchedServer } from '../../telemetry/serverEvents.ts';
import type { Figures } from './activeCall.ts';
import { cachedScrub } from './cachedScrub.ts';
import { serverHealth } from './serverStatuses.ts';

export interface DiagnosticsOptions {
  workspace: string;
  stateFolder: string;
  scrubSecrets(text: string): string;
  /** Tokens of the definitions and instructions that clients are sent at present. */
  sentTokens(): number;
  /** Called when the definitions of a changed catalog are counted. */
  onCounted?(): void;
  /** Returns facts about the life of this worker; without them it is the workspace's first. */
  life?: () => Partial<SupervisedLife>;
}

export type SupervisedLife = Omit<HealthCore, 'uptime_ms'>;

/** State of the gateway at one moment: the reports are made of it. */
export interface GatewayState {
  condition: GatewayHealth;
  servers: readonly ServerStatus[];
  problems: readonly string[];
}

/** Servers start one after the other: a catalog is counted when it has not changed for this time. */
const CATALOG_QUIET_MS = 1_000;
/** Calls of tools between two snapshots of the busiest tools in the log. */
const SNAPSHOT_EVERY = 200;
/** Limit for all servers together, in telemetry. */
const MAX_ODDITIES = 50;
/** A server's error may repeat a secret, so the log uses these texts in its place. */
const OWN_MESSAGES: Readonly<Record<string, string>> = {
  UPSTREAM_ERROR: 'The server answered with an error.',
  UPSTREAM_TIMEOUT: 'The server did not answer in time.',
  UPSTREAM_UNAVAILABLE: 'The server crashed or could not be reached.',
  RATE_LIMITED: 'The server limits its calls.',
};
const CLOSE_TIMEOUT_MS = 500;

/** Counts the work of this worker at once, writes its events in the background, and creates its reports. */
export class Diagnostics {
  readonly #options: DiagnosticsOptions;
  readonly #counters: Counters;
  readonly #meter = new TokenMeter();
  readonly #watch = new ServerWatch();
  readonly #logFile: string;
  readonly #log: EventLog;
  readonly #scrub: (text: string) => string;
  #toolCalls = 0;
  #tokensByServer: ReadonlyMap<string, number> = new Map();
  #requests = 0;
  #catalogTimer: NodeJS.Timeout | undefined;
  #counting: AbortController | undefined;

  constructor(options: DiagnosticsOptions) {
    this.#options = options;
    this.#scrub = cachedScrub(options.scrubSecrets);
    this.#counters = new Counters({
      now: () => performance.now(),
      wallClock: () => Date.now(),
      scrub: options.scrubSecrets,
      sentTokens: () => options.sentTokens(),
    });
    this.#logFile = eventLogFile(options.stateFolder);
    this.#log = new EventLog({
      file: this.#logFile,
      dropped: (loss) => this.#line({ event: 'log.dropped', success: false, attributes: { ...loss } }, new Date()),
    });
  }

  /** Tokens of the definitions, once they have been counted. */
  get tokens(): CatalogStatus['tokens'] {
    return this.#counters.context;
  }

  started(): void {
    const { generation } = this.#life('starting');
    this.#write({ event: 'worker.started', success: true, attributes: { pid: process.pid, build: BUILD, generation } });
  }

  /** Counts the crash or hang of the previous worker. */
  workerLost(fault: Fault): void {
    this.#counters.fault(fault, { restarts: true });
    const { generation, class: kind, code } = fault;
    this.#write({ event: 'worker.lost', success: false, attributes: { generation, reason: `${kind}/${code}` } });
  }

  /** `counted` receives the figures of the call, once they are counted. */
  callEnded(
    { durationMs, server, client }: Pick<CallRecord, 'durationMs' | 'server'> & Partial<Pick<CallRecord, 'client'>>,
    event: CallEvent & { sessionId?: string },
    counted: (figures: Figures) => void = () => undefined,
  ): void {
    const { method, end, retries, error, fault, toolId } = event;
    // Only calls of known tools have rows: reading a schema, or an unknown id, has none.
    const tool = event.event.startsWith('execute.') && event.namespace !== null ? toolId : null;
    const ofTool = { ...(tool !== null && { tool }), ...(server !== undefined && { server }) };
    this.#counters.request({
      method,
      isCall: true,
      latencyMs: durationMs,
      end,
      retries,
      ...ofTool,
      ...(error === undefined ? {} : { error }),
    });
    // A timeout is an incident of its own. A crash is counted once, however many calls it ends.
    if (fault && traitsOf(fault).error === 'UPSTREAM_TIMEOUT')
      this.#counters.fault(fault, { restarts: false, method, ...ofTool });
    this.#requests += 1;
    const at = new Date();
    const requestId = this.#requests;
    this.#log.append(() => {
      const attributes = event.attributes(this.#meter);
      counted(figuresIn(attributes));
      if (typeof attributes.raw_tokens === 'number')
        this.#counters.result({ raw: attributes.raw_tokens, shown: Number(attributes.compact_tokens), ...ofTool });
      if (Array.isArray(attributes.result_findings)) this.#counters.findings(attributes.result_findings);
      const who = { server, client, ...(fault && { fault: `${fault.class}/${fault.code}` }) };
      return this.#line({ ...event, durationMs, attributes: { ...attributes, ...who } }, at);
    });
    if (tool !== null && event.dispatched) this.#toolCalled(event, { tool, durationMs, requestId, at });
  }

  useOf(subject: { tool: string } | { server: string }): UseReport | undefined {
    return this.#counters.useOf(subject);
  }

  /** Tokens of a server's definitions; undefined until they are counted. */
  definitionTokensOf(server: string): number | undefined {
    return this.#tokensByServer.get(server);
  }

  /** Counts a request of MCP's own methods. Neither its parameters nor its answer are recorded. */
  sessionAnswered({ method, latencyMs, failed, replays = 0 }: SessionRequest): void {
    const error = failed === undefined ? undefined : { code: String(failed), message: `JSON-RPC error ${failed}` };
    const end = error ? 'answered_with_error' : 'ok';
    this.#counters.request({ method, latencyMs, end, retries: replays, ...(error ? { error } : {}) });
  }

  /** Call after every change of a server's state or list. */
  serversChanged(servers: readonly WatchedServer[]): void {
    for (const { event, server, attributes, fault } of this.#watch.look(servers)) {
      if (fault) this.#counters.fault(fault, { restarts: true });
      this.#write({ event, success: fault === undefined, namespace: server, attributes });
    }
  }

  catalogChanged(view: CatalogView): void {
    this.#refreshed('refreshed', view);
    this.#counting?.abort();
    clearTimeout(this.#catalogTimer);
    this.#catalogTimer = setTimeout(() => void this.#countCatalog(view), CATALOG_QUIET_MS).unref();
  }

  /** Reports a failed refresh: `view` is the last good catalog, which stays in use. */
  catalogFailed(view: CatalogView): void {
    this.#refreshed('error', view);
  }

  health({ condition, servers, problems }: GatewayState): HealthReport {
    const { status } = this.#log;
    const logProblem =
      status.failing === undefined ? [] : [`The event log ${this.#logFile} cannot be written (${status.failing}).`];
    return {
      workspace: this.#options.workspace,
      ...this.#life(condition),
      ...this.#counters.period,
      condition,
      problems: [...problems, ...logProblem],
      servers: servers.map(serverHealth),
      event_log: { file: this.#logFile, ...status },
    };
  }

  telemetry({ condition, servers }: Omit<GatewayState, 'problems'>): TelemetryReport {
    const oddities = servers.flatMap(({ name: server, oddities = [] }) => oddities.map((one) => ({ server, ...one })));
    return {
      workspace: this.#options.workspace,
      ...this.#counters.snapshot(this.#life(condition)),
      oddities: oddities.sort((a, b) => b.count - a.count).slice(0, MAX_ODDITIES),
    };
  }

  /** Resolves when all events so far are written or dropped. */
  flush(): Promise<void> {
    return this.#log.flush();
  }

  async close(): Promise<void> {
    this.#counting?.abort();
    clearTimeout(this.#catalogTimer);
    this.#write({ event: 'worker.stopped', success: true, attributes: { pid: process.pid } });
    // A disk that hangs must not keep the worker alive.
    await Promise.race([this.#log.close(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  #life(condition: GatewayHealth): SupervisedLife {
    return {
      state: condition === 'starting' ? 'starting' : 'ready',
      // A client that can ask has completed the handshake.
      worker_handshake: 'ready',
      generation: 1,
      consecutive_failures: 0,
      restart_count: 0,
      rollout: 'stable',
      ...this.#options.life?.(),
    };
  }

  /** Writes the record of a call in the form of libmcp, and now and then a snapshot of the busiest tools. */
  #toolCalled(
    { retries, error, end }: CallEvent,
    { tool, durationMs, requestId, at }: { tool: string; durationMs: number; requestId: number; at: Date },
  ): void {
    const origin = { ts_unix_ms: at.getTime(), repo_root: this.#options.workspace };
    this.#log.append(() => ({
      event: 'tool_call',
      ...origin,
      request_id: requestId,
      tool_name: tool,
      latency_ms: Math.round(durationMs * 1_000) / 1_000,
      replay_attempts: retries,
      outcome: error === undefined ? 'ok' : 'error',
      error_code: error?.code ?? null,
      error_kind: error === undefined ? null : end,
      error_message: error === undefined ? null : (OWN_MESSAGES[error.code] ?? 'The gateway did not make the call.'),
    }));
    this.#toolCalls += 1;
    const total = this.#toolCalls;
    if (total % SNAPSHOT_EVERY !== 0) return;
    this.#log.append(() => {
      const { tools } = this.#counters.snapshot(this.#life('ready'));
      return { event: 'hot_paths_snapshot', ...origin, total_tool_events: total, ...hotPaths(tools) };
    });
  }

  #refreshed(outcome: 'refreshed' | 'error', view: CatalogView): void {
    const attributes = { outcome, registered: view.catalog.tools.length };
    this.#write({ event: 'catalog.refresh.live', success: outcome === 'refreshed', attributes });
  }

  async #countCatalog(view: CatalogView): Promise<void> {
    const counting = new AbortController();
    this.#counting = counting;
    const counted = await catalogLoaded(view, GATEWAY_TOOLS, counting.signal);
    if (!counted) return;
    this.#tokensByServer = counted.tokensByServer;
    this.#counters.definitions(counted.definitionTokens);
    this.#options.onCounted?.();
    this.#write({ event: 'catalog.loaded', success: true, attributes: { ...counted.loaded } });
  }

  #write(draft: EventDraft): void {
    const at = new Date();
    this.#log.append(() => this.#line(draft, at));
  }

  #line(draft: EventDraft, at: Date): object {
    return diagnosticEvent(draft, at, this.#scrub);
  }
}

/** Returns the figures for the activity from the attributes of a call's event. */
function figuresIn({ raw_tokens, compact_tokens, result_tokens, artifact_refs }: Record<string, unknown>): Figures {
  const tokensOut = compact_tokens ?? result_tokens;
  return {
    ...(typeof raw_tokens === 'number' && { tokensIn: raw_tokens }),
    ...(typeof tokensOut === 'number' && { tokensOut }),
    ...(Array.isArray(artifact_refs) && { handles: artifact_refs as readonly string[] }),
  };
}
