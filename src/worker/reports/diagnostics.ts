import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRecord, GatewayHealth, ServerStatus } from '../../control/contract.ts';
import type { HealthCore, HealthReport, TelemetryReport } from '../../control/healthContract.ts';
import { traitsOf } from '../../errors/faultCodes.ts';
import { BUILD } from '../../lib/build.ts';
import type { SessionRequest } from '../../mcp/session/sessionRequest.ts';
import type { CallEvent } from '../../modes/shared/callEvents.ts';
import { type CatalogLoaded, catalogLoaded } from '../../modes/shared/catalog/catalogEvents.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { TokenMeter } from '../../modes/shared/catalog/tokenMeter.ts';
import { GATEWAY_TOOLS } from '../../modes/shared/definitions.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { diagnosticEvent, type EventDraft, hotPaths } from '../../telemetry/diagnosticEvent.ts';
import { EventLog } from '../../telemetry/eventLog.ts';
import { eventLogFile } from '../../telemetry/eventLogFile.ts';
import { Telemetry, type TelemetryKept } from '../../telemetry/telemetry.ts';
import type { ToldFault } from '../../telemetry/telemetryForms.ts';
import { UpstreamWatch, type WatchedServer } from '../../telemetry/upstreamWatch.ts';
import { rememberClean } from './rememberClean.ts';
import { serverHealth } from './serverHealth.ts';

export interface DiagnosticsOptions {
  workspace: string;
  stateFolder: string;
  scrubSecrets(text: string): string;
  /** What whoever supervises this worker knows of its life; without one it is the first and has no past. */
  life?: () => Partial<SupervisedLife>;
}

export type SupervisedLife = Pick<
  HealthCore,
  'state' | 'worker_handshake' | 'generation' | 'consecutive_failures' | 'restart_count' | 'rollout' | 'last_fault'
>;

/** A catalog is counted when it has come to rest: servers come up one after the other. */
const CATALOG_REST_MS = 1_000;
/** A snapshot of the busiest tools stands in the log every so many calls of tools. */
const SNAPSHOT_EVERY = 200;
/** Of all servers together, in telemetry. */
const MAX_ODDITIES = 50;
/** A server's words may repeat what it was given: the log has none of them, worker.log has them scrubbed. */
const OWN_WORDS: Readonly<Record<string, string>> = {
  UPSTREAM_ERROR: 'The server answered with an error.',
  UPSTREAM_TIMEOUT: 'The server did not answer in time.',
  UPSTREAM_UNAVAILABLE: 'The server was lost, or not to be reached.',
  RATE_LIMITED: 'The server limits its calls.',
};
const CLOSE_TIMEOUT_MS = 500;

/** Health and telemetry of the gateway: counts at once, writes events a moment later (O7, O8). */
export class Diagnostics {
  readonly #options: DiagnosticsOptions;
  readonly #startedAt = performance.now();
  readonly #telemetry: Telemetry;
  readonly #meter = new TokenMeter();
  readonly #watch = new UpstreamWatch();
  readonly #log: EventLog;
  readonly #scrub: (text: string) => string;
  #toolCalls = 0;
  #requests = 0;
  #catalogTimer: NodeJS.Timeout | undefined;
  #counting: AbortController | undefined;

  constructor(options: DiagnosticsOptions) {
    this.#options = options;
    this.#scrub = rememberClean(options.scrubSecrets);
    this.#telemetry = new Telemetry({
      now: () => performance.now(),
      wallClock: () => Date.now(),
      scrub: options.scrubSecrets,
    });
    this.#log = new EventLog({
      file: eventLogFile(options.stateFolder),
      notice: (event, attributes) => this.#line({ event, success: event === 'log.healed', attributes }, new Date()),
    });
  }

  started(): void {
    this.#write({
      event: 'worker.started',
      success: true,
      attributes: { pid: process.pid, build: BUILD, generation: this.#life('starting').generation },
    });
  }

  /** The worker before this one ended by itself, or hangs. */
  workerLost(fault: ToldFault): void {
    this.#telemetry.fault(fault, { restarts: true });
    const { generation, class: kind, code } = fault;
    this.#write({ event: 'worker.lost', success: false, attributes: { generation, reason: `${kind}/${code}` } });
  }

  rolloutFailed(reason: string): void {
    this.#write({ event: 'rollout.failed', success: false, attributes: { pid: process.pid, reason } });
  }

  callEnded(call: Pick<CallRecord, 'durationMs'>, event: CallEvent & { sessionId?: string }): void {
    const { method, end, retries, error, fault, toolId } = event;
    const { durationMs } = call;
    // Rows of tools are of calls: a schema that is read, or an id that is none, is not.
    const tool = event.event.startsWith('execute.') && event.namespace !== null ? toolId : null;
    this.#telemetry.request({
      method,
      latencyMs: durationMs,
      end,
      retries,
      ...(tool === null ? {} : { tool }),
      ...(error === undefined ? {} : { error }),
    });
    // An incident of its own; a server that ended is one too, however many calls it took with it.
    if (fault && traitsOf(fault).error === 'UPSTREAM_TIMEOUT') {
      this.#telemetry.fault(fault, { restarts: false, method, ...(tool === null ? {} : { tool }) });
    }
    this.#requests += 1;
    const at = new Date();
    const requestId = this.#requests;
    this.#log.append(() => {
      const attributes = event.attributes(this.#meter);
      if (typeof attributes.raw_tokens === 'number') {
        this.#telemetry.result({ raw: attributes.raw_tokens, shown: Number(attributes.compact_tokens) });
      }
      return this.#line({ ...event, durationMs, attributes }, at);
    });
    if (tool !== null && event.dispatched) this.#toolCalled(event, tool, durationMs, requestId, at);
  }

  /** What a client asked for by MCP's own methods. Its words are its own: none of them is kept, nor of the answer. */
  sessionAnswered({ method, latencyMs, failed, replays = 0 }: SessionRequest): void {
    const error = failed === undefined ? undefined : { code: String(failed), message: `JSON-RPC error ${failed}` };
    const end = error ? 'answered_with_error' : 'ok';
    this.#telemetry.request({ method, latencyMs, end, retries: replays, ...(error ? { error } : {}) });
  }

  /** What was counted so far; it is the successor's from now on. */
  takeCounts(): TelemetryKept {
    this.#toolCalls = 0;
    return this.#telemetry.take();
  }

  inherit(counts: TelemetryKept): void {
    this.#toolCalls += counts.tools.reduce((sum, [, { counts: row }]) => sum + row.request_count, 0);
    this.#telemetry.inherit(counts);
  }

  /** To be called whenever a server's state or list has changed. */
  serversChanged(servers: readonly WatchedServer[]): void {
    for (const { event, server, attributes, fault } of this.#watch.look(servers)) {
      if (fault) this.#telemetry.fault(fault, { restarts: true });
      this.#write({ event, success: fault === undefined, namespace: server, attributes });
    }
  }

  catalogChanged(view: CatalogView): void {
    this.#refreshed('refreshed', view);
    this.#counting?.abort();
    clearTimeout(this.#catalogTimer);
    this.#catalogTimer = setTimeout(() => void this.#countCatalog(view), CATALOG_REST_MS).unref();
  }

  /** The last good catalog, which serves on. */
  catalogFailed(view: CatalogView): void {
    this.#refreshed('error', view);
  }

  #refreshed(outcome: 'refreshed' | 'error', view: CatalogView): void {
    const registered = view.catalog.tools.length;
    this.#write({
      event: 'catalog.refresh.live',
      success: outcome === 'refreshed',
      attributes: { outcome, registered },
    });
  }

  /** `healthOf`: what a server's supervisor knows; nothing of one that is disabled or written wrong. */
  health(
    condition: GatewayHealth,
    servers: readonly ServerStatus[],
    problems: readonly string[],
    healthOf: (server: string) => HealthSnapshot | undefined = noop,
  ): HealthReport {
    const { file, ...log } = { file: eventLogFile(this.#options.stateFolder), ...this.#log.status };
    return {
      workspace: this.#options.workspace,
      ...this.#life(condition),
      uptime_ms: Math.round(performance.now() - this.#startedAt),
      condition,
      problems: [
        ...problems,
        ...(log.failing === undefined ? [] : [`The event log ${file} cannot be written (${log.failing}).`]),
      ],
      servers: servers.map((server) => serverHealth(server, healthOf(server.name), this.#options.scrubSecrets)),
      event_log: { file, ...log },
    };
  }

  telemetry(condition: GatewayHealth, servers: readonly ServerStatus[] = []): TelemetryReport {
    const { workspace } = this.#options;
    const oddities = servers.flatMap(({ name: server, oddities = [] }) => oddities.map((one) => ({ server, ...one })));
    return {
      workspace,
      ...this.#telemetry.snapshot(this.#life(condition)),
      oddities: oddities.sort((a, b) => b.count - a.count).slice(0, MAX_ODDITIES),
    };
  }

  #life(condition: GatewayHealth): SupervisedLife {
    return {
      state: condition === 'starting' ? 'starting' : 'ready',
      // Who can ask has shaken hands.
      worker_handshake: 'ready',
      generation: 1,
      consecutive_failures: 0,
      restart_count: 0,
      rollout: 'stable',
      ...this.#options.life?.(),
    };
  }

  /** Resolves when what has happened so far is in the log, or lost. */
  flush(): Promise<void> {
    return this.#log.flush();
  }

  async close(): Promise<void> {
    this.#counting?.abort();
    clearTimeout(this.#catalogTimer);
    this.#write({ event: 'worker.stopped', success: true, attributes: { pid: process.pid } });
    // A disk that hangs must not keep the worker.
    await Promise.race([this.#log.close(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Writes the record of a call, and from time to time a snapshot of the busiest tools. */
  #toolCalled(event: CallEvent, tool: string, latencyMs: number, requestId: number, at: Date): void {
    const { end, retries, error } = event;
    this.#log.append(() => ({
      event: 'tool_call',
      ts_unix_ms: at.getTime(),
      repo_root: this.#options.workspace,
      request_id: requestId,
      tool_name: tool,
      latency_ms: Math.round(latencyMs * 1_000) / 1_000,
      replay_attempts: retries,
      outcome: error === undefined ? 'ok' : 'error',
      error_code: error?.code ?? null,
      error_kind: error === undefined ? null : end,
      error_message: error === undefined ? null : (OWN_WORDS[error.code] ?? 'The gateway did not make the call.'),
    }));
    this.#toolCalls += 1;
    if (this.#toolCalls % SNAPSHOT_EVERY !== 0) return;
    const total = this.#toolCalls;
    this.#log.append(() => ({
      event: 'hot_paths_snapshot',
      ts_unix_ms: at.getTime(),
      repo_root: this.#options.workspace,
      total_tool_events: total,
      ...hotPaths(this.telemetry('ready').tools.map(({ tool_id: path, ...row }) => pathOf(path, row))),
    }));
  }

  async #countCatalog(view: CatalogView): Promise<void> {
    const counting = new AbortController();
    this.#counting = counting;
    const loaded: CatalogLoaded | undefined = await catalogLoaded(view, GATEWAY_TOOLS, this.#meter, counting.signal);
    if (!loaded) return;
    this.#telemetry.schemas({ full: loaded.full_schema_tokens, exposed: loaded.exposed_schema_tokens });
    this.#write({ event: 'catalog.loaded', success: true, attributes: { ...loaded } });
  }

  #write(draft: EventDraft): void {
    const at = new Date();
    this.#log.append(() => this.#line(draft, at));
  }

  #line(draft: EventDraft, at: Date): object {
    return diagnosticEvent(draft, at, this.#scrub);
  }
}

const noop = (): undefined => undefined;

function pathOf(
  path: string,
  row: { request_count: number; error_count: number; avg_latency_ms: number; max_latency_ms: number },
) {
  const { request_count, error_count, avg_latency_ms, max_latency_ms } = row;
  return { path, request_count, error_count, avg_latency_ms, max_latency_ms };
}
