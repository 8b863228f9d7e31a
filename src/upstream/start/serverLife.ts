import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { type Fault, faultOf } from '../../errors/fault.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { UnderWay } from '../../lib/underWay.ts';
import type { Oddities } from '../../mcp/wire/oddities.ts';
import type { CallOptions } from '../../mcp/wire/upstreamClient.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import type { Running, StartContext } from '../../supervision/supervised.ts';
import { Supervisor } from '../../supervision/supervisor.ts';
import type { ConnectionEvents, ConnectionServices } from '../connection/connectionServices.ts';
import { type Bar, ConnectionStatus } from '../connection/connectionStatus.ts';
import type { Predecessor } from '../connection/serverConnection.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { CatalogKeeper } from '../listing/catalogKeeper.ts';
import { LinkFailure, type UpstreamLink } from '../transports/upstreamLink.ts';
import { asLinkFailure, type Live, ServerStart, StartLimits } from './serverStart.ts';
import { type AwaitedServer, waitForStart } from './waitForStart.ts';

/** Limit of a start. `npx` may have to download the server first, and only calls of this server wait. */
const START_TIMEOUT_MS = 60_000;
const AWAITS_CALLS = 'Its configuration has changed; it restarts after its current calls.';

export interface LifePorts {
  config(): ServerConfig;
  services: ConnectionServices;
  /** Connection of the server under its previous configuration. */
  predecessor: Predecessor | undefined;
  events: ConnectionEvents;
  messages: ServerMessages;
  oddities: Oddities;
  /** The process of a start runs, or its connection is open. */
  onOpened(): void;
  onReady(live: Live): void;
  /** The supervisor has seen a ready server end. */
  onLost(generation: number, fault: Fault): void;
  /** A start or a running server is about to end. */
  onEnd(): void;
}

/**
 * Controls one server over all its starts. The supervisor's state (`SupervisionState`) covers idle to running,
 * `ServerStart` has the phases of a start, and `#bar` is an obstacle that only the user can remove. `ConnectionStatus`
 * derives the server's state from the three.
 */
export class ServerLife implements AwaitedServer {
  readonly keeper: CatalogKeeper;
  readonly status: ConnectionStatus;
  readonly #ports: LifePorts;
  readonly #supervisor: Supervisor<Live>;
  readonly #limits: StartLimits;
  /** Running start. */
  #start: ServerStart | undefined;
  #startOver: Promise<unknown> | undefined;
  readonly #endings = new UnderWay();
  /** Resolves when the connection under the previous configuration has ended. */
  #predecessorEnded: Promise<void> | undefined;
  #bar: Bar | undefined;
  /** Cause of the last end or failed start. */
  #failure: LinkFailure | undefined;
  #remark: string | undefined;
  #hasRun = false;
  #lastStderr: readonly string[] = [];
  /** Earliest time of the next start, if the server asked for a pause. */
  #notBefore = 0;
  readonly #outcomeListeners = new Set<() => void>();
  #startEnded = false;
  /** Final: a stopped connection is never started again. */
  #stopped = false;

  constructor(ports: LifePorts) {
    this.#ports = ports;
    this.#predecessorEnded = ports.predecessor?.ended;
    const { config, services, events, messages } = ports;
    this.#limits = new StartLimits({
      firstMs: () => {
        const { startTimeoutSeconds: own } = config();
        return own === undefined ? (services.startTimeoutMs?.() ?? START_TIMEOUT_MS) : own * 1_000;
      },
      againMs: services.restartTimeoutMs,
    });
    this.#supervisor = new Supervisor<Live>({
      start: (context) => {
        const start = this.#open(context);
        this.#startOver = start.catch(() => undefined);
        return start;
      },
      end: (live) => this.#end(live.link),
      faultOf: (error, generation) => this.faultOf(asLinkFailure(error), generation),
      onReady: (live) => this.#onReady(live),
      onLost: ports.onLost,
      onChange: (health) => this.#onSupervision(health),
      clock: SYSTEM_CLOCK,
      ...(services.restartLimits ? { limits: services.restartLimits } : {}),
    });
    this.keeper = new CatalogKeeper({
      config,
      listedBefore: ports.predecessor?.catalog,
      client: () => this.live?.client ?? this.#start?.listingClient,
      settled: () => this.#settled(),
      messages,
      snapshots: services.snapshots,
      liveRefresh: services.liveRefresh,
      listLimitMs: services.listLimitMs,
      onChange: () => this.status.update({ anyway: true }),
      log: (line) => this.log(line),
      scrubSecrets: events.scrubSecrets,
      maskKnown: events.maskKnown,
    });
    this.status = new ConnectionStatus(this.keeper.isKnown, {
      facts: () => ({
        stopped: this.#stopped,
        barred: this.#bar,
        approvalNote: approvalNote(this.name),
        supervision: this.#supervisor.health.supervision,
        failure: this.#failure,
        hasRun: this.#hasRun,
        isKnown: this.keeper.isKnown,
        slowNote: this.#predecessorEnded ? AWAITS_CALLS : this.#start?.slowNote,
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

  /** The running server, as far as the supervisor knows. */
  get live(): Live | undefined {
    return this.#supervisor.handle;
  }

  /** The running server, unless its output has just closed. */
  get usable(): Live | undefined {
    const { live } = this;
    return live?.client.closed === false ? live : undefined;
  }

  get name(): string {
    return this.#ports.config().name;
  }

  get failure(): LinkFailure | undefined {
    return this.#failure;
  }

  /** Seconds until the server may be asked again, if it said so. */
  get retryAfter(): number | undefined {
    const left = (this.#notBefore - performance.now()) / 1_000;
    return left > 0 ? Math.ceil(left) : undefined;
  }

  get pid(): number | undefined {
    return (this.live?.link ?? this.#start?.link)?.pid;
  }

  get stderr(): readonly string[] {
    return (this.live?.link ?? this.#start?.link)?.stderr ?? this.#lastStderr;
  }

  /** Starts the server if it must run or has never been listed. */
  begin(): void {
    if (!this.#mayStart()) return;
    if (!this.keeper.isKnown || this.#ports.config().keepAlive) void this.start();
    else this.status.update();
  }

  /** Applies an approval that the user gave or revoked: without one, a running server stops. */
  recheckApproval(): void {
    if (this.#stopped) return;
    if (this.status.state === 'needs_approval') this.begin();
    else if (!this.#approved) {
      this.#mayStart();
      void this.#supervisor.stop();
    }
  }

  /** Starts the server, or waits for a running start. Never rejects; the status has the outcome. */
  async start(): Promise<void> {
    if (this.#stopped || !this.#mayStart()) return;
    const outcome = this.outcome();
    if (this.live) return;
    if (this.#supervisor.health.supervision !== 'starting') this.#supervisor.retryNow();
    this.#supervisor.start();
    await outcome;
  }

  /** Ends the server; the next call starts it again. */
  async pause(): Promise<void> {
    await this.#supervisor.stop();
  }

  /** Ends the server after a sign-out; only a sign-in brings it back. */
  async signedOut(): Promise<void> {
    await this.#settled();
    if (this.#stopped) return;
    this.#bar = 'needs_sign_in';
    this.#failure = new LinkFailure('No user is signed in to it.', 'unauthorized');
    await this.#supervisor.stop();
    this.status.update();
  }

  async stop(): Promise<void> {
    this.keeper.stop();
    this.#stopped = true;
    await this.#supervisor.dispose();
    await Promise.all([this.#startOver, this.#endings.over]);
    this.status.update();
  }

  /** Notes what a ready server lacks, for its status. */
  remark(words: string | undefined): void {
    if (this.#remark === words) return;
    this.#remark = words;
    this.status.update();
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

  /** Starts the server if needed and waits for it; rejects with a `NotDispatchedError` if that fails or takes too long. */
  waitUntilReady(options: CallOptions, deadline: number): Promise<void> {
    return waitForStart(this, options, deadline);
  }

  /** Reports whether a call may try the server; returns false behind an obstacle that only the user can remove. */
  async mayBeAsked(): Promise<boolean> {
    if (this.#stopped || !this.#mayStart()) return false;
    const { supervision, last_fault: fault } = this.#supervisor.health;
    const isProcess = this.#ports.config().type === 'stdio';
    if (this.status.state === 'needs_sign_in') {
      const { services, config } = this.#ports;
      if (!(await services.mayTry?.(config()))) return false;
      this.#bar = undefined;
      this.#supervisor.retryNow();
    }
    // Trying an address is cheap, so a caller does not wait for the next scheduled attempt.
    else if (supervision === 'crash_loop' && fault?.class === 'transport' && !isProcess) this.#supervisor.retryNow();
    return true;
  }

  ready(signal: AbortSignal | undefined): Promise<Live> {
    return this.#supervisor.ready(signal);
  }

  /** Resolves when the next start has succeeded or failed. */
  outcome(): Promise<void> {
    return new Promise((resolve) => this.#outcomeListeners.add(resolve));
  }

  get #approved(): boolean {
    const { services, config } = this.#ports;
    return services.isApproved?.(config()) ?? true;
  }

  /** Checks the approval anew; it alone can lift a bar of its kind. */
  #mayStart(): boolean {
    const bar: Bar | undefined = this.#approved ? undefined : 'needs_approval';
    const changed = bar !== this.#bar;
    this.#bar = bar;
    if (changed) this.status.update();
    return bar === undefined;
  }

  async #open(context: StartContext): Promise<Running<Live>> {
    // A start must not meet a process of an earlier one: both may need the same port, file or device.
    await this.#endings.over;
    await this.#predecessorOver(context.signal);
    const wait = this.#notBefore - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal: context.signal, ref: false }).catch(() => undefined);
    const began = performance.now();
    const start = this.#newStart();
    this.#start = start;
    try {
      const running = await start.run(context);
      this.#limits.started(performance.now() - began);
      return running;
    } finally {
      // An aborted start may end after the next one has begun.
      if (this.#start === start) this.#start = undefined;
    }
  }

  async #predecessorOver(signal: AbortSignal): Promise<void> {
    if (!this.#predecessorEnded) return;
    this.status.update();
    await this.#predecessorEnded;
    this.#predecessorEnded = undefined;
    signal.throwIfAborted();
    this.status.update();
  }

  #newStart(): ServerStart {
    const { config, services, messages, oddities, events, onOpened } = this.#ports;
    const isFirst = !this.keeper.isKnown;
    return new ServerStart(
      {
        openLink: (linkEvents) => services.openLink(config(), linkEvents),
        check: () => {
          if (!this.#approved) throw new LinkFailure(approvalNote(this.name), 'needs_approval');
        },
        clientOptions: () => messages.clientOptions(oddities),
        listFirst: isFirst ? (client) => this.keeper.listFirst(client) : undefined,
        onOpened,
        onSlow: () => this.status.update(),
        onFailed: (failure) => this.#onFailed(failure),
        onLost: (failure) => {
          this.#failure = failure;
          this.log(`lost: ${failure.message}`);
        },
        faultOf: (failure, generation) => this.faultOf(failure, generation),
        end: (link) => this.#end(link),
        log: (line) => this.log(line),
        scrubSecrets: events.scrubSecrets,
      },
      this.#limits,
    );
  }

  /** Closes a link; resolves when nothing of its start is left. */
  #end(link: UpstreamLink): Promise<void> {
    this.#lastStderr = link.stderr;
    this.#ports.onEnd();
    const ending = link.close();
    this.#endings.add(ending);
    return ending;
  }

  #onFailed(failure: LinkFailure): void {
    if (failure.code === 'handshake_timeout') this.#limits.timedOut();
    if (failure.retryAfterSeconds) this.#notBefore = performance.now() + failure.retryAfterSeconds * 1_000;
    this.#failure = failure;
    this.#hasRun = false;
    this.#startEnded = true;
  }

  #onReady(live: Live): void {
    this.#failure = undefined;
    this.#remark = undefined;
    this.#hasRun = true;
    this.#startEnded = true;
    // Callers that wait for the server go first.
    queueMicrotask(() => {
      if (this.live === live && live.wasKnown) void this.keeper.listAll();
    });
    this.#ports.onReady(live);
  }

  #onSupervision({ supervision }: HealthSnapshot): void {
    this.status.update({ anyway: true });
    // Resolve outcomes after the supervisor has decided about the next step.
    if (supervision === 'starting' && !this.#startEnded) return;
    this.#startEnded = false;
    for (const resolve of this.#outcomeListeners) resolve();
    this.#outcomeListeners.clear();
  }

  #settled(): Promise<unknown> {
    return this.#supervisor.health.supervision === 'starting' ? this.outcome() : Promise.resolve();
  }
}

function approvalNote(name: string): string {
  const subject = /^[\w.-]+$/.test(name) ? name : '--all';
  return `It has not been approved for this workspace. Review and approve it: waygate approve ${subject}.`;
}
