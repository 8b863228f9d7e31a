import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { type Fault, faultOf } from '../../errors/fault.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import type { Oddities } from '../../mcp/wire/oddities.ts';
import type { CallOptions } from '../../mcp/wire/upstreamClient.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { Supervisor } from '../../supervision/supervisor.ts';
import type { ConnectionEvents, ConnectionServices } from '../connection/connectionServices.ts';
import { ConnectionStatus } from '../connection/connectionStatus.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { CatalogKeeper } from '../listing/catalogKeeper.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { asLinkFailure, type Live } from './serverStart.ts';
import { ServerStarts } from './serverStarts.ts';
import { Standing } from './standing.ts';
import { StartOutcomes } from './startOutcomes.ts';
import { type AwaitedServer, waitForStart } from './startWait.ts';

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
export class ServerLife implements AwaitedServer {
  readonly keeper: CatalogKeeper;
  readonly status: ConnectionStatus;
  readonly #ports: LifePorts;
  readonly #supervisor: Supervisor<Live>;
  readonly #standing: Standing;
  readonly #starts: ServerStarts;
  #failure: LinkFailure | undefined;
  #remark: string | undefined;
  #hasRun = false;
  readonly #outcomes = new StartOutcomes();
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(ports: LifePorts) {
    this.#ports = ports;
    const { config, services, events, messages } = ports;
    this.#standing = new Standing(config, services);
    this.#starts = new ServerStarts({
      services,
      openLink: (linkEvents) => services.openLink(config(), linkEvents),
      check: () => {
        if (!this.#standing.approved) throw new LinkFailure(this.#standing.approvalNote, 'needs_approval');
      },
      clientOptions: () => messages.clientOptions(ports.oddities),
      keeper: () => this.keeper,
      onOpened: ports.onOpened,
      onFailed: (failure) => this.#onFailed(failure),
      onLost: (failure) => {
        this.#failure = failure;
        this.log(`lost: ${failure.message}`);
      },
      onSlow: () => this.status.tell(),
      onEnd: ports.onEnd,
      faultOf: (failure, generation) => this.faultOf(failure, generation),
      log: (line) => this.log(line),
      scrubSecrets: events.scrubSecrets,
    });
    this.#supervisor = new Supervisor<Live>({
      start: (context) => this.#starts.open(context),
      end: (live) => this.#starts.end(live.link),
      faultOf: (error, generation) => this.faultOf(asLinkFailure(error), generation),
      onReady: (live) => this.#onReady(live),
      onLost: ports.onLost,
      onChange: (health) => this.#onSupervision(health),
      clock: SYSTEM_CLOCK,
      ...(services.restartLimits ? { limits: services.restartLimits } : {}),
    });
    this.keeper = new CatalogKeeper({
      config,
      client: () => this.live?.client ?? this.#starts.firstClient,
      settled: () => this.#settled(),
      messages,
      snapshots: services.snapshots,
      liveRefresh: services.liveRefresh,
      listLimitMs: services.listLimitMs,
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
        slowNote: this.#starts.slowNote,
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

  /** One whose output has just closed is as good as down. */
  get usable(): Live | undefined {
    const { live } = this;
    return live?.client.closed === false ? live : undefined;
  }

  get name(): string {
    return this.#ports.config().name;
  }

  /** What ended it, or kept it from starting. */
  get failure(): LinkFailure | undefined {
    return this.#failure;
  }

  /** Seconds, where it has said when it may be asked again. */
  get retryAfter(): number | undefined {
    return this.#starts.retryAfter;
  }

  get pid(): number | undefined {
    return (this.live?.link ?? this.#starts.opening)?.pid;
  }

  get stderr(): readonly string[] {
    return (this.live?.link ?? this.#starts.opening)?.stderr ?? this.#starts.stderr;
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
    const outcome = this.outcome();
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
    await this.#starts.over();
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
    this.#ports.events.log(`${this.name}: ${line}`);
  }

  /** Starts it where need be, and waits for that; rejects with a `NotDispatchedError` where it cannot be had in time. */
  waitUntilReady(options: CallOptions, deadline: number): Promise<void> {
    return waitForStart(this, options, deadline);
  }

  /** Nobody but the person can change some things: a call must not knock at a closed door each time. */
  async mayBeAsked(): Promise<boolean> {
    if (this.#stopped || !this.#mayStart()) return false;
    const { supervision, last_fault: fault } = this.#supervisor.health;
    const isProcess = this.#ports.config().type === 'stdio';
    if (this.status.state === 'needs_sign_in') {
      if (!(await this.#standing.mayTryAgain())) return false;
      this.#supervisor.retryNow();
    }
    // To knock at an address costs nothing: whoever needs it need not wait for the next try.
    else if (supervision === 'crash_loop' && fault?.class === 'transport' && !isProcess) this.#supervisor.retryNow();
    return true;
  }

  ready(signal: AbortSignal | undefined): Promise<Live> {
    return this.#supervisor.ready(signal);
  }

  /** Resolves when the next start has come to its end, either way. */
  outcome(): Promise<void> {
    return this.#outcomes.next();
  }

  #mayStart(): boolean {
    if (this.#standing.recheck()) this.status.tell();
    return this.#standing.barred === undefined;
  }

  #onFailed(failure: LinkFailure): void {
    this.#failure = failure;
    this.#hasRun = false;
    this.#outcomes.ended();
  }

  #onReady(live: Live): void {
    this.#failure = undefined;
    this.#remark = undefined;
    this.#hasRun = true;
    this.#outcomes.ended();
    // Not before whoever waits for it has got it.
    queueMicrotask(() => {
      if (this.live === live && live.wasKnown) void this.keeper.listAll();
    });
    this.#ports.onReady(live);
  }

  #onSupervision({ supervision }: HealthSnapshot): void {
    this.status.tell({ anyway: true });
    this.#outcomes.supervised(supervision);
  }

  #settled(): Promise<unknown> {
    return this.#supervisor.health.supervision === 'starting' ? this.outcome() : Promise.resolve();
  }
}
