import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { ProtocolVerdict } from '../../control/contract.ts';
import { type Fault, faultOf } from '../../errors/fault.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import { UnderWay } from '../../lib/underWay.ts';
import type { Oddities } from '../../mcp/wire/oddities.ts';
import type { CallOptions, UpstreamClient } from '../../mcp/wire/upstreamClient.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import type { Running, StartContext } from '../../supervision/supervised.ts';
import { Supervisor } from '../../supervision/supervisor.ts';
import type { ConnectionEvents, ConnectionServices } from '../connection/connectionServices.ts';
import { type Bar, ConnectionStatus, type LifeState, NOT_APPROVED } from '../connection/connectionStatus.ts';
import type { Predecessor } from '../connection/serverConnection.ts';
import type { ServerMessages } from '../connection/serverMessages.ts';
import { CatalogKeeper } from '../listing/catalogKeeper.ts';
import { ServerEras } from '../listing/serverEras.ts';
import { StderrTail } from '../process/stderrTail.ts';
import { LinkFailure, type UpstreamLink } from '../transports/upstreamLink.ts';
import { asLinkFailure, type Live, ServerStart, StartLimits } from './serverStart.ts';
import type { Turn } from './startQueue.ts';
import { type AwaitedServer, waitForStart } from './waitForStart.ts';

/** Bounds of a server's log for the user. */
const OUTPUT = { lines: 2_000, bytes: 256 * 1024 };
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
 * Controls one server over all its starts. `LifeState` names its states:
 *
 *     begin, a call ──► starting ──► running ──► idle (unused), backing_off or starting (lost)
 *                          │ failed
 *                          └──► backing_off, crash_loop, needs_sign_in, needs_configuration ──► starting
 *
 * A bar (`needs_approval`, `needs_sign_in`) covers any of them until the user removes it. `stopped` is final. The
 * supervisor makes the transitions, `StartPhase` names the phases of `starting`, and `ConnectionStatus` shows the result.
 */
export class ServerLife implements AwaitedServer {
  readonly keeper: CatalogKeeper;
  /** Stderr of all starts, for the user. */
  readonly output: StderrTail;
  readonly status: ConnectionStatus;
  readonly scrubSecrets: (text: string) => string;
  readonly log = (line: string): void => this.#ports.events.log(`${this.name}: ${line}`);
  readonly #ports: LifePorts;
  readonly #supervisor: Supervisor<Live>;
  readonly #limits: StartLimits;
  readonly #eras: ServerEras;
  /** Latest start, until it is ready or has failed. */
  #start: ServerStart | undefined;
  /** Everything that the next start must not meet: both may need the same port, file or device. */
  readonly #underWay = new UnderWay();
  #awaitsPredecessor = false;
  #bar: Bar | undefined;
  /** Cause of the last end or failed start. */
  #failure: LinkFailure | undefined;
  #remark: string | undefined;
  #hasRun = false;
  #implementation: UpstreamClient['implementation'];
  #lastStderr: readonly string[] = [];
  /** Earliest time of the next start, if the server asked for a pause. */
  #notBefore = 0;
  #nextOutcome = deferred<void>();
  /** Place of the latest start in the queue. */
  #turn: Turn | undefined;
  /** A call or the user has asked for the server, so a start of it does not wait for others. */
  #isNeeded = false;

  constructor(ports: LifePorts) {
    this.#ports = ports;
    const { config, services, events, messages, predecessor } = ports;
    if (predecessor) this.#underWay.add(this.#awaits(predecessor));
    this.scrubSecrets = events.scrubSecrets;
    this.output = new StderrTail(events.scrubSecrets, OUTPUT);
    this.#limits = new StartLimits(config, services);
    this.#eras = services.eras ?? new ServerEras();
    this.#supervisor = new Supervisor<Live>({
      start: (context) => {
        const start = this.#run(context);
        this.#underWay.add(start);
        return start;
      },
      end: (live) => this.#end(live.link),
      faultOf: (error, generation) => this.faultOf(asLinkFailure(error), generation),
      onReady: (live) => this.#onReady(live),
      onLost: ports.onLost,
      onFailed: () => this.#onOutcome(),
      onChange: ({ supervision }) => {
        this.status.update({ anyway: true });
        if (supervision !== 'starting') this.#onOutcome();
      },
      clock: SYSTEM_CLOCK,
      ...(services.restartLimits ? { limits: services.restartLimits } : {}),
    });
    this.keeper = new CatalogKeeper({
      config,
      listedBefore: predecessor?.catalog,
      client: () => this.live?.client ?? this.#start?.listingClient,
      settled: () => this.#settled(),
      messages,
      services,
      onChange: () => this.status.update({ anyway: true }),
      log: this.log,
      scrubSecrets: this.scrubSecrets,
      maskKnown: events.maskKnown,
    });
    this.status = new ConnectionStatus(this.keeper.isKnown, {
      facts: () => ({
        state: this.#state,
        failure: this.#failure,
        hasRun: this.#hasRun,
        isKnown: this.keeper.isKnown,
        slowNote: this.#awaitsPredecessor ? AWAITS_CALLS : this.#start?.slowNote,
        remark: this.#remark ?? this.keeper.note,
        staleNote: this.keeper.staleNote,
      }),
      log: this.log,
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

  /** Revision of MCP that the server was found to speak. */
  get protocol(): ProtocolVerdict | undefined {
    return this.#eras.of(this.name);
  }

  /** Name and version that the server gave itself at its last start. */
  get implementation(): UpstreamClient['implementation'] {
    return this.#implementation;
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

  /** Last lines of stderr; of the server that has ended, until the next start says something or is ready. */
  get stderr(): readonly string[] {
    if (this.live) return this.live.link.stderr;
    const starting = this.#start?.link?.stderr ?? [];
    return starting.length > 0 ? starting : this.#lastStderr;
  }

  /** Starts the server if it must run, or if its tools were never listed, never pinned, or are all held back. */
  begin(): void {
    if (!this.#mayStart()) return;
    const { isKnown, lacksBaseline, isHeldBack } = this.keeper;
    if (!isKnown || lacksBaseline || isHeldBack || this.#ports.config().keepAlive) void this.#tryStart();
    else this.status.update();
  }

  /** Applies an approval that the user gave or revoked: without one, a running server stops. */
  recheckApproval(): void {
    if (this.#state === 'stopped') return;
    if (this.status.state === 'needs_approval') this.begin();
    else if (!this.#isApproved()) {
      this.#mayStart();
      void this.#supervisor.stop();
    }
  }

  /** Starts the server before others, or waits for a running start. Never rejects; the status has the outcome. */
  start(): Promise<void> {
    this.#hurry();
    return this.#tryStart();
  }

  async #tryStart(): Promise<void> {
    if (this.#state === 'stopped' || !this.#mayStart()) return;
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
    if (this.#state === 'stopped') return;
    this.#bar = 'needs_sign_in';
    this.#failure = new LinkFailure('No user is signed in to it.', 'unauthorized');
    await this.#supervisor.stop();
  }

  async stop(): Promise<void> {
    this.keeper.stop();
    await this.#supervisor.dispose();
    await this.#underWay.over;
  }

  /** Notes that the server has answered a call, which resets its count of ends. */
  proved(): void {
    this.#supervisor.proved();
  }

  /** Notes what a ready server lacks, for its status. */
  remark(words: string | undefined): void {
    this.#remark = words;
    this.status.update();
  }

  faultOf(failure: LinkFailure, generation = this.#supervisor.health.generation): Fault {
    const { code, message: detail, secret } = failure;
    return faultOf(code, { generation, detail, secret }, this.scrubSecrets);
  }

  waitUntilReady(options: CallOptions, deadline: number): Promise<void> {
    return waitForStart(this, options, deadline);
  }

  async mayBeAsked(): Promise<boolean> {
    if (this.#state === 'stopped' || !this.#mayStart()) return false;
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
    this.#hurry();
    return this.#supervisor.ready(signal);
  }

  outcome(): Promise<void> {
    return this.#nextOutcome.promise;
  }

  #hurry(): void {
    this.#isNeeded = true;
    this.#turn?.hurry();
  }

  #isApproved(entry: ServerConfig = this.#ports.config()): boolean {
    return this.#ports.services.isApproved?.(entry) ?? true;
  }

  /** Checks the approval anew; it alone can lift a bar of its kind. */
  #mayStart(): boolean {
    this.#bar = this.#isApproved() ? undefined : 'needs_approval';
    this.status.update();
    return this.#bar === undefined;
  }

  get #state(): LifeState {
    const { supervision } = this.#supervisor.health;
    return supervision === 'stopped' ? 'stopped' : (this.#bar ?? supervision);
  }

  async #run(context: StartContext): Promise<Running<Live>> {
    const { config, services, messages, oddities, onOpened } = this.#ports;
    // The approval must be for exactly the entry that starts.
    const entry = config();
    const { log, scrubSecrets } = this;
    const start = new ServerStart(
      {
        clear: () => this.#clear(context.signal),
        openLink: (onLost) =>
          services.openLink(entry, { onLost, log, scrubSecrets, onStderr: (chunk) => this.output.push(chunk) }),
        check: () => {
          if (!this.#isApproved(entry)) throw new LinkFailure(NOT_APPROVED, 'needs_approval');
        },
        clientOptions: async () => ({
          ...(await messages.clientOptions(oddities)),
          era: this.#eras.forStart(entry),
        }),
        wasKnown: this.keeper.isKnown,
        list: (client) => (this.keeper.isKnown ? this.keeper.listTools() : this.keeper.listFirst(client)),
        onOpened,
        onSlow: () => this.status.update(),
        end: (link) => this.#end(link),
        log,
      },
      this.#limits,
    );
    this.#start = start;
    try {
      const handle = await start.run(context);
      return { handle, exited: handle.lost.then((failure) => this.#onLost(failure, handle.generation)) };
    } catch (error) {
      // The function that aborted the start has already reported the new state.
      if (!context.signal.aborted) this.#onFailed(error as LinkFailure);
      throw error;
    } finally {
      this.#turn?.leave();
      // An aborted start may end after the next one has begun.
      if (this.#start === start) this.#start = undefined;
    }
  }

  /**
   * Resolves when nothing of an earlier start is left, a pause that the server asked for is over, and it is the server's
   * turn. A known server that a call needs starts at once.
   */
  async #clear(signal: AbortSignal): Promise<void> {
    await this.#underWay.over;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted || (this.keeper.isKnown && this.#isNeeded)) return;
    this.#turn = this.#ports.services.startQueue?.enter(this.#isNeeded, signal);
    await this.#turn?.ready;
  }

  async #awaits({ ended }: Predecessor): Promise<void> {
    this.#awaitsPredecessor = true;
    await ended;
    this.#awaitsPredecessor = false;
    this.status.update();
  }

  /** Closes a link; resolves when nothing of its start is left. */
  #end(link: UpstreamLink): Promise<void> {
    this.#lastStderr = link.stderr;
    this.#ports.onEnd();
    const ending = link.close();
    this.#underWay.add(ending);
    return ending;
  }

  #onLost(failure: LinkFailure, generation: number): Fault {
    this.#failure = failure;
    this.log(`lost: ${failure.message}`);
    return this.faultOf(failure, generation);
  }

  #onFailed(failure: LinkFailure): void {
    if (failure.retryAfterSeconds) this.#notBefore = performance.now() + failure.retryAfterSeconds * 1_000;
    this.#failure = failure;
    this.#hasRun = false;
  }

  #onReady(live: Live): void {
    this.#implementation = live.client.implementation;
    this.#failure = undefined;
    this.#remark = undefined;
    this.#hasRun = true;
    // A server that has run is restarted without delay.
    this.#isNeeded = true;
    // Callers that wait for the server go first.
    queueMicrotask(() => {
      if (this.live === live && live.wasKnown) void this.keeper.listBesideTools();
    });
    this.#ports.onReady(live);
  }

  #onOutcome(): void {
    this.#nextOutcome.resolve();
    this.#nextOutcome = deferred();
  }

  #settled(): Promise<unknown> {
    return this.#supervisor.health.supervision === 'starting' ? this.outcome() : Promise.resolve();
  }
}
