import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { type Fault, faultOf } from '../ops/fault.ts';
import type { HealthSnapshot } from '../ops/health.ts';
import { type StartContext, UnavailableError } from '../ops/supervised.ts';
import { Supervisor } from '../ops/supervisor.ts';
import type { Oddities } from '../protocol/oddities.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { CatalogKeeper } from './catalogKeeper.ts';
import type { ConnectionEvents, ConnectionServices } from './connectionServices.ts';
import { ConnectionStatus } from './connectionStatus.ts';
import { NotDispatchedError } from './notDispatched.ts';
import { waitAtMost } from './patience.ts';
import type { ServerMessages } from './serverMessages.ts';
import { asLinkFailure, type Live, startServer } from './serverStart.ts';
import { Standby, type StandbyOptions } from './standby.ts';
import { Standing } from './standing.ts';
import { SYSTEM_CLOCK } from './systemClock.ts';
import { LinkFailure, type UpstreamLink } from './upstreamLink.ts';

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;

export interface LifePorts {
  config(): ServerConfig;
  services: ConnectionServices;
  events: ConnectionEvents;
  messages: ServerMessages;
  oddities: Oddities;
  /** A start has come so far that the server runs. */
  onOpened(): void;
  onReady(live: Live): void;
  /** Its supervisor has seen a start end that was ready. */
  onLost(generation: number, fault: Fault): void;
  /** What ran does so no more. */
  onEnd(): void;
}

/** One server's starts and ends, its standing with the person, and what it listed in between. */
export class ServerLife {
  readonly keeper: CatalogKeeper;
  readonly status: ConnectionStatus;
  /** What is kept in reserve, where the configuration asks for that. */
  readonly standby: Standby | undefined;
  readonly #ports: LifePorts;
  readonly #supervisor: Supervisor<Live>;
  readonly #standing: Standing;
  #failure: LinkFailure | undefined;
  #remark: string | undefined;
  /** The start that is under way. */
  #opening: UpstreamLink | undefined;
  /** The client of a first start, whose tools are being listed before it is ready. */
  #firstClient: UpstreamClient | undefined;
  #stderr: readonly string[] = [];
  /** When it may be asked again, where it has said so. */
  #notBefore = 0;
  #opens: Promise<void> | undefined;
  #ending: Promise<unknown> | undefined;
  #hasRun = false;
  #attemptEnded = false;
  /** Called when a start has come to its end, either way. */
  readonly #outcomes = new Set<() => void>();
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(ports: LifePorts) {
    this.#ports = ports;
    const { config, services, events, messages } = ports;
    this.#standing = new Standing(config, services);
    this.standby = standbyOf(config(), {
      openLink: (linkEvents) => services.openLink(config(), linkEvents),
      log: (line) => this.log(line),
      scrubSecrets: events.scrubSecrets,
      onChange: () => events.onChange(),
      limits: services.restartLimits,
    });
    this.#supervisor = new Supervisor<Live>({
      start: (context) => {
        const open = this.#open(context);
        this.#opens = open.then(noop, noop);
        return open;
      },
      end: (live) => this.#end(live.link),
      faultOf: (error, generation) => this.faultOf(asLinkFailure(error), generation),
      onReady: (live) => this.#onReady(live),
      onLost: ports.onLost,
      onChange: (health) => this.#onSupervision(health),
      isReserved: () => this.standby?.isReady === true,
      clock: SYSTEM_CLOCK,
      ...(services.restartLimits ? { limits: services.restartLimits } : {}),
    });
    this.keeper = new CatalogKeeper({
      config,
      client: () => this.live?.client ?? this.#firstClient,
      settled: () => this.#settled(),
      messages,
      snapshots: services.snapshots,
      liveRefresh: services.liveRefresh,
      onChange: () => this.status.tell({ anyway: true }),
      log: (line) => this.log(line),
      scrubSecrets: events.scrubSecrets,
    });
    this.status = new ConnectionStatus(this.keeper.isKnown, {
      facts: () => ({
        stopped: this.#stopped,
        barred: this.#standing.barred,
        approvalNote: this.#standing.approvalNote,
        supervision: this.#supervisor.health.supervision,
        failure: this.#failure,
        hasRun: this.#hasRun,
        isKnown: this.keeper.isKnown,
        remark: this.#remark ?? this.keeper.note,
        staleNote: this.keeper.staleNote,
      }),
      log: (line) => this.log(line),
      onChange: () => events.onChange(),
    });
  }

  get health(): HealthSnapshot {
    return this.#supervisor.health;
  }

  /** What runs and is ready, for all that its supervisor has heard. */
  get live(): Live | undefined {
    return this.#supervisor.handle;
  }

  /** One whose output has just closed is as good as down; a call to it has not been sent yet. */
  get usable(): Live | undefined {
    const { live } = this;
    if (live?.client.closed) live.lose(new LinkFailure('It closed its output.', 'output_closed'));
    return live?.client.closed === false ? live : undefined;
  }

  get pid(): number | undefined {
    return (this.live?.link ?? this.#opening)?.pid;
  }

  get stderr(): readonly string[] {
    return (this.live?.link ?? this.#opening)?.stderr ?? this.#stderr;
  }

  /** Starts the server where it must run, or where nothing is known of it yet. */
  begin(): void {
    if (!this.#mayStart()) return;
    if (!this.keeper.isKnown || this.#ports.config().keepAlive) void this.start();
    else this.status.tell();
  }

  /** An approval was given, or taken back: what ran without one no longer does. */
  recheckApproval(): void {
    if (this.#stopped) return;
    if (this.status.state === 'needs_approval') this.begin();
    else if (!this.#standing.approved) {
      this.#mayStart();
      void this.#supervisor.stop();
    }
  }

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  async start(): Promise<void> {
    if (this.#stopped || !this.#mayStart()) return;
    const outcome = this.#outcome();
    if (this.live) return;
    if (this.#supervisor.health.supervision !== 'starting') this.#supervisor.retryNow();
    this.#supervisor.start();
    await outcome;
  }

  /** Ends it; the next call starts it again. */
  async pause(): Promise<void> {
    await this.#supervisor.stop();
  }

  /** What let us in is gone: it ends now, and the next start finds that out. */
  async signedOut(): Promise<void> {
    await this.#settled();
    if (this.#stopped) return;
    this.#standing.signedOut();
    this.#failure = new LinkFailure('Nobody is signed in to it.', 'unauthorized');
    await this.#supervisor.stop();
    this.status.tell();
  }

  async stop(): Promise<void> {
    this.keeper.stop();
    this.#stopped = true;
    await this.#supervisor.dispose();
    await Promise.all([this.#opens, this.#ending, this.standby?.stop()]);
    this.status.tell();
  }

  /** What is said of a server that serves, but not all that was asked of it. */
  remark(words: string | undefined): void {
    if (this.#remark === words) return;
    this.#remark = words;
    this.status.tell();
  }

  faultOf(failure: LinkFailure, generation = this.#supervisor.health.generation): Fault {
    return faultOf(failure.code, { generation, detail: failure.message }, this.#ports.events.scrubSecrets);
  }

  scrubSecrets(text: string): string {
    return this.#ports.events.scrubSecrets(text);
  }

  log(line: string): void {
    this.#ports.events.log(`${this.#ports.config().name}: ${line}`);
  }

  /** The first call of a server waits for its start, within its own deadline. */
  async waitUntilReady(options: CallOptions, deadline: number): Promise<Live> {
    const { signal } = options;
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    // What is lost is not gone before its supervisor has heard of it.
    if (this.live) await nextTurn();
    if (this.live?.client.closed) await waitAtMost(this.#outcome(), deadline, signal);
    options.onProgress?.({ progress: 0, message: `starting ${this.#ports.config().name}` });
    await this.#mayBeAsked();
    this.#waitedFor();
    let failed: unknown;
    const ready = this.#supervisor.ready(signal).catch((error: unknown) => {
      failed = error;
    });
    // The first start that fails is an answer: to wait for the next ones is the supervisor's business. Only a connection
    // that broke off is tried once more, as the supervisor does at once.
    for (const isLast of [false, true]) {
      await waitAtMost(Promise.race([ready, this.#outcome()]), deadline, signal);
      if (this.live || isLast || this.#failure?.code !== 'connection_lost') break;
    }
    const live = this.usable;
    if (live) return live;
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    if (failed instanceof UnavailableError) throw this.#notDispatched(failed.fault, failed.retryAfter);
    if (this.status.state !== 'starting') throw this.#notDispatched();
    const slow = `it has not started within ${Math.round(options.timeoutMs / 1000)} s`;
    throw new NotDispatchedError(slow, this.faultOf(new LinkFailure(slow, 'handshake_timeout')));
  }

  /** Where the server has said how long to leave it alone, nobody waits for that. */
  #waitedFor(): void {
    if (this.#retryAfter !== undefined) throw this.#notDispatched();
  }

  /** In the words of its status; `fault` is what its supervisor says where that is more than its last failure. */
  #notDispatched(fault?: Fault, retryAfter?: number): NotDispatchedError {
    const { state, reason = 'it is not running' } = this.status;
    const isOurs = state === 'stopped' || state === 'needs_approval';
    const failure = isOurs ? new LinkFailure(reason, state) : (this.#failure ?? new LinkFailure(reason, 'not_running'));
    return new NotDispatchedError(reason, fault ?? this.faultOf(failure), this.#retryAfter ?? retryAfter);
  }

  /** Seconds, from now. */
  get #retryAfter(): number | undefined {
    const left = (this.#notBefore - performance.now()) / 1_000;
    return left > 0 ? Math.ceil(left) : undefined;
  }

  /** Nobody but the person can change some things: a call must not knock at a closed door each time. */
  async #mayBeAsked(): Promise<void> {
    if (this.#stopped || !this.#mayStart()) throw this.#notDispatched();
    const { supervision, last_fault: fault } = this.#supervisor.health;
    if (this.status.state === 'needs_sign_in') {
      if (!(await this.#standing.mayTryAgain())) throw this.#notDispatched();
      this.#supervisor.retryNow();
    }
    // To knock at an address costs nothing: whoever needs it need not wait for the next try.
    else if (supervision === 'crash_loop' && fault?.class === 'transport') this.#supervisor.retryNow();
  }

  #mayStart(): boolean {
    if (this.#standing.recheck()) this.status.tell();
    return this.#standing.barred === undefined;
  }

  async #open(context: StartContext): Promise<{ handle: Live; exited: Promise<Fault> }> {
    const { services, events, messages, oddities, config, onOpened } = this.#ports;
    // A successor must not meet what is left of its predecessor.
    await this.#ending;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal: context.signal, ref: false }).catch(() => undefined);
    const listFirst = async (client: UpstreamClient): Promise<void> => {
      this.#firstClient = client;
      await this.keeper.listFirst(client);
    };
    try {
      return await startServer(context, {
        openLink: (linkEvents) => this.standby?.open(linkEvents) ?? services.openLink(config(), linkEvents),
        check: () => {
          if (!this.#standing.approved) throw new LinkFailure(this.#standing.approvalNote, 'needs_approval');
        },
        onOpened: (link) => {
          this.#opening = link;
          onOpened();
        },
        clientOptions: () => messages.clientOptions(oddities),
        timeoutMs: services.startTimeoutMs?.() ?? START_TIMEOUT_MS,
        ...(this.keeper.isKnown ? {} : { listFirst }),
        onFailed: (failure) => this.#onFailed(failure),
        onLost: (failure) => {
          this.#failure = failure;
          this.log(`lost: ${failure.message}`);
        },
        faultOf: (failure, generation) => this.faultOf(failure, generation),
        end: (link) => this.#end(link),
        log: (line) => this.log(line),
        scrubSecrets: events.scrubSecrets,
      });
    } finally {
      this.#opening = undefined;
      this.#firstClient = undefined;
    }
  }

  #onFailed(failure: LinkFailure): void {
    this.#opening = undefined;
    this.#failure = failure;
    this.#hasRun = false;
    this.#attemptEnded = true;
    if (failure.retryAfterSeconds) this.#notBefore = performance.now() + failure.retryAfterSeconds * 1_000;
  }

  #onReady(live: Live): void {
    this.#failure = undefined;
    this.#remark = undefined;
    this.#hasRun = true;
    this.#attemptEnded = true;
    // Not before whoever waits for it has got it.
    queueMicrotask(() => {
      if (this.live === live && live.wasKnown) void this.keeper.listAll();
    });
    this.#ports.onReady(live);
  }

  #onSupervision({ supervision }: HealthSnapshot): void {
    this.standby?.follow(supervision);
    this.status.tell({ anyway: true });
    if (supervision === 'starting' && !this.#attemptEnded) return;
    this.#attemptEnded = false;
    for (const settle of this.#outcomes) settle();
  }

  /** Resolves when the next start has come to its end, either way. */
  #outcome(): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.#outcomes.delete(settle);
        resolve();
      };
      this.#outcomes.add(settle);
    });
  }

  #settled(): Promise<unknown> {
    return this.#supervisor.health.supervision === 'starting' ? this.#outcome() : Promise.resolve();
  }

  /** Resolves when nothing of a start is left. */
  #end(link: UpstreamLink): Promise<void> {
    this.#stderr = link.stderr;
    this.#ports.onEnd();
    const ending = link.close();
    this.#ending = Promise.all([this.#ending, ending]);
    return ending;
  }
}

function standbyOf(config: ServerConfig, options: StandbyOptions): Standby | undefined {
  return config.type === 'stdio' && config.standby ? new Standby(options) : undefined;
}

const noop = (): void => undefined;
