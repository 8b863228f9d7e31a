import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LiveRefreshConfig, ServerConfig } from '../config/gatewayConfig.ts';
import { CircuitBreaker } from '../ops/circuitBreaker.ts';
import { type Fault, faultOf } from '../ops/fault.ts';
import type { KnownFaultCode } from '../ops/faultCodes.ts';
import type { HealthSnapshot } from '../ops/health.ts';
import type { RestartLimits } from '../ops/restartPolicy.ts';
import { type Running, type StartContext, UnavailableError } from '../ops/supervised.ts';
import { Supervisor } from '../ops/supervisor.ts';
import { Oddities, type Oddity } from '../protocol/oddities.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from './callOrigin.ts';
import { CatalogKeeper } from './catalogKeeper.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { isExposed } from './exposedTools.ts';
import { ranOutOfTime, showsLife } from './liveness.ts';
import { NotDispatchedError } from './notDispatched.ts';
import { waitAtMost } from './patience.ts';
import type { ServerCatalog } from './serverCatalog.ts';
import { type NotificationListener, type RequestHandler, ServerMessages } from './serverMessages.ts';
import { SYSTEM_CLOCK } from './systemClock.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from './upstreamLink.ts';

export type ConnectionState =
  | 'needs_approval'
  | 'not_started'
  | 'starting'
  | 'ready'
  | 'failed'
  | 'needs_sign_in'
  | 'needs_secret'
  | 'stopped';

export interface ConnectionEvents {
  /** State, catalog or reason have changed. */
  onChange(): void;
  log(line: string): void;
  /** Applied to what a server says before it is told to anybody. */
  scrubSecrets(text: string): string;
}

/** Makes the way to a server, one for each start; rejects with one sentence where something is missing for it. */
export type OpenLink = (config: ServerConfig, events: LinkEvents) => Promise<UpstreamLink>;

export interface ConnectionServices {
  openLink: OpenLink;
  /** Whether the person lets it run; asked before each start. Without it everything may. */
  isApproved?: (config: ServerConfig) => boolean;
  /** Whether a server that wants a sign-in may be asked again; without it, only when somebody asks for a start. */
  mayTry?: (config: ServerConfig) => Promise<boolean>;
  /** Without them a server starts with the gateway. */
  snapshots?: CatalogSnapshots;
  /** How long a server without a call runs on; for ever when absent. */
  idleMs?: () => number;
  startTimeoutMs?: () => number;
  liveRefresh?: () => LiveRefreshConfig;
  restartLimits?: RestartLimits;
}

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;

/** A server that runs: the way to it and the client on it. */
interface Live {
  link: UpstreamLink;
  client: UpstreamClient;
  /** Its lists were known before: they are listed again when it is ready. */
  wasKnown: boolean;
  /** It is as good as gone: what was noticed of it ends it. */
  lose(failure: LinkFailure): void;
}

/** One upstream server: its state, its connection whatever way it takes, and what it last told of itself. */
export class ServerConnection {
  config: ServerConfig;
  /** What was odd in what the server sent, over all its starts; for health and telemetry. */
  readonly oddities = new Oddities((oddity) => this.#onExcess(oddity));
  readonly #services: ConnectionServices;
  readonly #events: ConnectionEvents;
  readonly #messages = new ServerMessages();
  readonly #keeper: CatalogKeeper;
  readonly #supervisor: Supervisor<Live>;
  readonly #breaker = new CircuitBreaker(SYSTEM_CLOCK.now);
  /** On whose behalf requests are under way. */
  readonly #origins: CallOrigin[] = [];
  #callers = new Set<object>();
  readonly #readyListeners = new Set<() => void>();
  /** What the person must do before it may start: no supervisor can help that. */
  #barred: 'needs_approval' | 'needs_sign_in' | undefined;
  #told: { state: ConnectionState; reason: string | undefined } = { state: 'starting', reason: undefined };
  #since = Date.now();
  /** What ended it, or kept it from starting. */
  #failure: LinkFailure | undefined;
  /** Said of a server that serves, but not all that was asked of it. */
  #remark: string | undefined;
  /** The start that is under way. */
  #opening: UpstreamLink | undefined;
  #stderr: readonly string[] = [];
  /** When it may be asked again, where it has said so. */
  #notBefore = 0;
  #opens: Promise<void> | undefined;
  #ending: Promise<unknown> | undefined;
  #checking: UpstreamClient | undefined;
  #inFlight = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  /** It ran since its last failed start: what ended it is no reason yet to call it down. */
  #hasRun = false;
  #attemptEnded = false;
  /** Called when a start has come to its end, either way. */
  readonly #outcomes = new Set<() => void>();
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(config: ServerConfig, services: ConnectionServices, events: ConnectionEvents) {
    this.config = config;
    this.#services = services;
    this.#events = events;
    this.#supervisor = new Supervisor<Live>({
      start: (context) => {
        const open = this.#open(context);
        this.#opens = open.then(noop, noop);
        return open;
      },
      end: (live) => this.#end(live.link),
      faultOf: (error, generation) => this.#faultOf(asLinkFailure(error), generation),
      onReady: (live) => this.#onReady(live),
      onChange: (health) => this.#onSupervision(health),
      clock: SYSTEM_CLOCK,
      ...(services.restartLimits ? { limits: services.restartLimits } : {}),
    });
    this.#keeper = new CatalogKeeper({
      config: () => this.config,
      client: () => this.#supervisor.handle?.client ?? this.#firstClient,
      settled: () => this.#settled(),
      messages: this.#messages,
      snapshots: services.snapshots,
      liveRefresh: services.liveRefresh,
      onChange: () => this.#tell({ anyway: true }),
      log: (line) => this.#log(line),
      scrubSecrets: events.scrubSecrets,
    });
    if (this.#keeper.isKnown) this.#told.state = 'not_started';
  }

  get state(): ConnectionState {
    return this.#told.state;
  }
  get since(): number {
    return this.#since;
  }
  get reason(): string | undefined {
    return this.#told.reason;
  }
  get health(): HealthSnapshot {
    return this.#supervisor.health;
  }
  /** Whether it has ever been listed. */
  get isKnown(): boolean {
    return this.#keeper.isKnown;
  }
  /** What of it the configuration lets be seen. */
  get catalog(): ServerCatalog {
    return this.#keeper.exposed;
  }
  get tools(): readonly unknown[] {
    return this.catalog.tools;
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#keeper.capabilities;
  }
  /** On whose behalf requests are under way, each once for every request. */
  get origins(): readonly CallOrigin[] {
    return this.#origins;
  }
  /** The sessions that have asked this server for anything since its start. */
  get callers(): ReadonlySet<object> {
    return this.#callers;
  }
  get pid(): number | undefined {
    return (this.#supervisor.handle?.link ?? this.#opening)?.pid;
  }
  get stderr(): readonly string[] {
    return (this.#supervisor.handle?.link ?? this.#opening)?.stderr ?? this.#stderr;
  }

  /** Starts the server where it must run, or where nothing is known of it yet. */
  begin(): void {
    if (!this.#mayStart()) return;
    if (!this.#keeper.isKnown || this.config.keepAlive) void this.start();
    else this.#tell();
  }

  /** An approval was given, or taken back: what ran without one no longer does. */
  recheckApproval(): void {
    if (this.#stopped) return;
    if (this.state === 'needs_approval') this.begin();
    else if (!this.#approved) {
      this.#mayStart();
      void this.#supervisor.stop();
    }
  }

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  async start(): Promise<void> {
    if (this.#stopped || !this.#mayStart()) return;
    const outcome = this.#outcome();
    if (this.#supervisor.handle) return;
    if (this.#supervisor.health.supervision !== 'starting') this.#supervisor.retryNow();
    this.#supervisor.start();
    await outcome;
  }

  /** Lists everything again, starting the server if it is down. */
  async refresh(): Promise<void> {
    if (this.#usable) await this.#keeper.listAll();
    else {
      await this.start();
      await this.#keeper.idle();
    }
  }

  /** Calls a tool by its raw name. A server that is down is started first: the call has not been dispatched yet. */
  async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    if (!isExposed(tool, this.config.tools)) {
      throw new NotDispatchedError(`the configuration leaves this tool of ${this.config.name} out ("tools")`);
    }
    return this.#send(options, (client, left) => client.callTool(tool, args, left));
  }

  /** Sends any request, starting the server if it is down. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    return this.#send(options, (client, left) => client.request(method, params, left));
  }

  /** Sends a notification to a server that runs; one that does not has nothing to be told. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#supervisor.handle?.client.notify(method, params);
  }

  /** Hears a notification of the server, over all its starts. Returns what ends that. */
  onNotification(method: string, listener: NotificationListener): () => void {
    return this.#messages.onNotification(method, listener);
  }

  /** Hears of every start that has come to its end. Returns what ends that. */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  /** Keeps it from being stopped as idle; call what is returned once. What it asks meanwhile may belong to the origin. */
  hold(origin?: CallOrigin): () => void {
    this.#inFlight += 1;
    if (origin) this.#origins.push(origin);
    clearTimeout(this.#idleTimer);
    return () => {
      this.#inFlight -= 1;
      if (origin) this.#origins.splice(this.#origins.indexOf(origin), 1);
      this.#waitForIdle();
    };
  }

  /**
   * Answers a request of the server. `capability` is what is declared for it (`{ roots: {} }`), from the next start on:
   * set it before the first.
   */
  setRequestHandler(method: string, handler: RequestHandler, capability: Record<string, object> = {}): void {
    this.#messages.setRequestHandler(method, handler, capability);
  }

  /** What let us in is gone: it ends now, and the next start finds that out. */
  async signedOut(): Promise<void> {
    await this.#settled();
    if (this.#stopped) return;
    this.#barred = 'needs_sign_in';
    this.#failure = new LinkFailure('Nobody is signed in to it.', 'unauthorized');
    await this.#supervisor.stop();
    this.#tell();
  }

  async stop(): Promise<void> {
    this.#keeper.stop();
    clearTimeout(this.#idleTimer);
    this.#stopped = true;
    await this.#supervisor.dispose();
    await Promise.all([this.#opens, this.#ending]);
    this.#tell();
  }

  async #send<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const origin: CallOrigin = options.origin ?? NOBODY;
    if (origin !== OWN_BUSINESS) {
      this.#origins.push(origin);
      this.#callers.add(sessionOf(origin));
    }
    const release = this.hold();
    const answer = this.#breaker.admit();
    try {
      if (!answer.allowed) {
        throw new NotDispatchedError(
          'it failed several calls in a row and is left alone for a while',
          undefined,
          answer.retryAfter,
        );
      }
      const result = await this.#sendOnceMore(options, send);
      answer.permit.succeeded();
      if (this.#remark !== undefined) {
        this.#remark = undefined;
        this.#tell();
      }
      return result;
    } catch (error) {
      const code = callFault(error, options.signal);
      if (answer.allowed && code) answer.permit.failed(this.#faultOf(new LinkFailure('', code)));
      throw error;
    } finally {
      if (answer.allowed) answer.permit.abandoned();
      if (origin !== OWN_BUSINESS) this.#origins.splice(this.#origins.indexOf(origin), 1);
      release();
    }
  }

  async #sendOnceMore<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const deadline = performance.now() + options.timeoutMs;
    const live = this.#usable ?? (await this.#waitUntilReady(options, deadline));
    const left = { ...options, timeoutMs: Math.max(1, deadline - performance.now()) };
    try {
      return await send(live.client, left);
    } catch (error) {
      if (!(error instanceof UpstreamRequestError)) throw error;
      if (ranOutOfTime(error, options.signal)) void this.#checkLife();
      if (error.failure === 'unauthorized')
        throw new UpstreamRequestError('unauthorized', await this.#refused(live, error), error.code);
      if (error.failure !== 'unsent') throw error;
      live.lose(new LinkFailure('It had to be connected anew.', 'session_lost'));
    }
    // A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more.
    const next = await this.#waitUntilReady(options, deadline);
    try {
      return await send(next.client, { ...options, timeoutMs: Math.max(1, deadline - performance.now()) });
    } catch (error) {
      if (!(error instanceof UpstreamRequestError) || error.failure !== 'unsent') throw error;
      const failure = await next.link.explain(error);
      next.lose(failure);
      throw new NotDispatchedError(failure.message, this.state, failure.retryAfterSeconds);
    }
  }

  /** The first call of a server waits for its start, within its own deadline. */
  async #waitUntilReady(options: CallOptions, deadline: number): Promise<Live> {
    const { signal } = options;
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    // What is lost is not gone before its supervisor has heard of it.
    if (this.#supervisor.handle) await nextTurn();
    options.onProgress?.({ progress: 0, message: `starting ${this.config.name}` });
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
      if (this.#supervisor.handle || isLast || this.#failure?.code !== 'connection_lost') break;
    }
    const live = this.#usable;
    if (live) return live;
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    const retryAfter = this.#retryAfter ?? (failed instanceof UnavailableError ? failed.retryAfter : undefined);
    const slow = `it has not started within ${Math.round(options.timeoutMs / 1000)} s`;
    const reason = this.state === 'starting' ? slow : (this.reason ?? 'it is not running');
    throw new NotDispatchedError(reason, this.state, retryAfter);
  }

  /** Where the server has said how long to leave it alone, nobody waits for that. */
  #waitedFor(): void {
    const left = this.#retryAfter;
    if (left !== undefined) throw new NotDispatchedError(this.reason ?? 'it is not running', this.state, left);
  }

  /** Seconds, from now. */
  get #retryAfter(): number | undefined {
    const left = (this.#notBefore - performance.now()) / 1_000;
    return left > 0 ? Math.ceil(left) : undefined;
  }

  /** Nobody but the person can change some things: a call must not knock at a closed door each time. */
  async #mayBeAsked(): Promise<void> {
    if (this.#stopped || !this.#mayStart())
      throw new NotDispatchedError(this.reason ?? 'it is not running', this.state);
    const { supervision, last_fault: fault } = this.#supervisor.health;
    if (this.state === 'needs_sign_in') {
      if (!(await this.#services.mayTry?.(this.config)))
        throw new NotDispatchedError(this.reason ?? 'It asks for a sign-in.', this.state);
      this.#barred = undefined;
      this.#supervisor.retryNow();
    }
    // To knock at an address costs nothing: whoever needs it need not wait for the next try.
    else if (supervision === 'crash_loop' && fault?.class === 'transport') this.#supervisor.retryNow();
  }

  /** A server that wants more for this one request serves the others; one that lets us in no longer does not. */
  async #refused(live: Live, error: UpstreamRequestError): Promise<string> {
    const failure = await live.link.explain(error);
    if (error.code === 403) {
      this.#remark = failure.message;
      this.#tell();
    } else live.lose(failure);
    return failure.message;
  }

  /** A process that let a deadline pass and says nothing at all is replaced: every further call would hang too. */
  async #checkLife(): Promise<void> {
    const live = this.#usable;
    if (live?.link.pid === undefined || this.#checking === live.client) return;
    this.#checking = live.client;
    if (await showsLife(live.client)) this.#checking = undefined;
    else {
      this.oddities.add('unresponsive');
      live.lose(new LinkFailure('It stopped answering, so it was ended.', 'unresponsive'));
    }
  }

  /** More of something than a slip explains. */
  #onExcess(oddity: Oddity): void {
    this.#log(`it keeps doing what no server should (${oddity.replaceAll('_', ' ')})`);
    if (oddity !== 'unknown_response') return;
    const reason = 'It answered too much that nobody asked, so it was ended.';
    this.#supervisor.handle?.lose(new LinkFailure(reason, 'unknown_id_flood'));
  }

  /** One whose output has just closed is as good as down; a call to it has not been sent yet. */
  get #usable(): Live | undefined {
    const live = this.#supervisor.handle;
    if (live?.client.closed) live.lose(new LinkFailure('It closed its output.', 'output_closed'));
    return live?.client.closed === false ? live : undefined;
  }

  get #approved(): boolean {
    return this.#services.isApproved?.(this.config) ?? true;
  }

  #mayStart(): boolean {
    const barred = this.#approved ? undefined : ('needs_approval' as const);
    if (barred !== this.#barred) {
      this.#barred = barred;
      this.#tell();
    }
    return barred === undefined;
  }

  #approvalNote(): string {
    const name = /^[\w.-]+$/.test(this.config.name) ? this.config.name : '--all';
    return `What it runs has not been approved for this workspace; see it and approve it: waygate approve ${name}.`;
  }

  /** The client of a first start, whose tools are being listed before it is ready. */
  #firstClient: UpstreamClient | undefined;

  /** One start, from nothing to a server that is ready for calls. Clears up after itself where it fails. */
  async #open({ generation, signal, initializing }: StartContext): Promise<Running<Live>> {
    // A successor must not meet what is left of its predecessor.
    await this.#ending;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    const exit = Promise.withResolvers<LinkFailure>();
    let link: UpstreamLink | undefined;
    try {
      link = await this.#services.openLink(this.config, {
        onLost: (reason, code) => exit.resolve(new LinkFailure(reason, code)),
        log: (line) => this.#log(line),
        scrubSecrets: this.#events.scrubSecrets,
      });
      const opened = link;
      signal.addEventListener('abort', () => void this.#end(opened), { once: true });
      // What was taken back while secrets were being looked up does not run after all.
      signal.throwIfAborted();
      if (!this.#approved) throw new LinkFailure(this.#approvalNote(), 'needs_approval');
      this.#opening = link;
      this.#callers = new Set(this.#origins.map(sessionOf));
      initializing();
      const timeoutMs = this.#services.startTimeoutMs?.() ?? START_TIMEOUT_MS;
      const client = await link.connect(this.#messages.clientOptions(this.oddities), timeoutMs);
      // With its tools known nobody need wait for the list.
      const wasKnown = this.#keeper.isKnown;
      if (!wasKnown) {
        this.#firstClient = client;
        await this.#keeper.listFirst(client);
      }
      const gone = await Promise.race([exit.promise, undefined]);
      if (gone) throw gone;
      signal.throwIfAborted();
      this.#opening = undefined;
      const lost = exit.promise.then((failure) => {
        this.#failure = failure;
        this.#log(`lost: ${failure.message}`);
        return this.#faultOf(failure, generation);
      });
      return { handle: { link, client, wasKnown, lose: exit.resolve }, exited: lost };
    } catch (error) {
      const failure = link ? await link.explain(error) : asLinkFailure(error);
      this.#opening = undefined;
      // Whoever has ended this start has said what the server is now.
      if (!signal.aborted) {
        this.#failure = failure;
        this.#hasRun = false;
        this.#attemptEnded = true;
        if (failure.retryAfterSeconds) this.#notBefore = performance.now() + failure.retryAfterSeconds * 1_000;
      }
      if (link) await this.#end(link);
      throw failure;
    } finally {
      this.#firstClient = undefined;
    }
  }

  #onReady(live: Live): void {
    this.#failure = undefined;
    this.#remark = undefined;
    this.#hasRun = true;
    this.#attemptEnded = true;
    this.#breaker.reset();
    this.#waitForIdle();
    // Not before whoever waits for it has got it.
    queueMicrotask(() => {
      if (this.#supervisor.handle !== live) return;
      if (live.wasKnown) void this.#keeper.listAll();
      for (const listener of this.#readyListeners) listener();
    });
  }

  #onSupervision({ supervision }: HealthSnapshot): void {
    this.#tell({ anyway: true });
    if (supervision === 'starting' && !this.#attemptEnded) return;
    this.#attemptEnded = false;
    for (const settle of this.#outcomes) settle();
  }

  #faultOf(failure: LinkFailure, generation = this.#supervisor.health.generation): Fault {
    return faultOf(failure.code, { generation, detail: failure.message }, this.#events.scrubSecrets);
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

  /** A server that nobody calls is stopped, where what it lists is known without it. */
  #waitForIdle(): void {
    clearTimeout(this.#idleTimer);
    const idleMs = this.#services.idleMs?.();
    if (idleMs === undefined || !this.#supervisor.handle || this.config.keepAlive || this.#inFlight > 0) return;
    this.#idleTimer = setTimeout(() => this.#stopIdle(), idleMs);
    this.#idleTimer.unref();
  }

  #stopIdle(): void {
    if (!this.#supervisor.handle || this.#inFlight > 0) return;
    if (this.#keeper.busy) this.#waitForIdle();
    else void this.#supervisor.stop();
  }

  /** Resolves when nothing of a start is left. */
  #end(link: UpstreamLink): Promise<void> {
    this.#stderr = link.stderr;
    clearTimeout(this.#idleTimer);
    const ending = link.close();
    this.#ending = Promise.all([this.#ending, ending]);
    return ending;
  }

  #log(line: string): void {
    this.#events.log(`${this.config.name}: ${line}`);
  }

  /** Puts state and reason into words, and tells them where they are others. */
  #tell({ anyway = false } = {}): void {
    const { state, reason } = this.#view();
    const changed = state !== this.#told.state;
    if (changed) this.#since = Date.now();
    const news = changed || reason !== this.#told.reason;
    if (state !== 'starting' && news) {
      this.#log(`${state.replace('_', ' ')}${reason ? `: ${reason}` : ''}`);
    }
    this.#told = { state, reason };
    if (news || anyway) this.#events.onChange();
  }

  #view(): { state: ConnectionState; reason: string | undefined } {
    if (this.#stopped) return { state: 'stopped', reason: undefined };
    if (this.#barred === 'needs_approval') return { state: 'needs_approval', reason: this.#approvalNote() };
    if (this.#barred) return { state: this.#barred, reason: this.#failure?.message };
    const { supervision } = this.#supervisor.health;
    switch (supervision) {
      case 'running':
        return { state: 'ready', reason: this.#remark ?? this.#keeper.note };
      case 'idle':
      case 'stopped':
        return { state: this.#keeper.isKnown ? 'not_started' : 'starting', reason: undefined };
      case 'starting':
        // Once it has failed to come, it is down until it is there.
        if (!this.#failure || this.#hasRun) return { state: 'starting', reason: undefined };
        break;
      case 'needs_sign_in':
        return { state: 'needs_sign_in', reason: this.#failed };
    }
    return { state: this.#failure?.code === 'secret_missing' ? 'needs_secret' : 'failed', reason: this.#failed };
  }

  get #failed(): string | undefined {
    return this.#failure && `${this.#failure.message}${this.#keeper.staleNote}`;
  }
}

/** What a failed call says of its server; `undefined` where it says nothing. A loss is the supervisor's matter. */
function callFault(error: unknown, signal: AbortSignal | undefined): KnownFaultCode | undefined {
  if (ranOutOfTime(error, signal)) return 'call_timeout';
  if (!(error instanceof UpstreamRequestError)) return undefined;
  if (error.failure === 'protocol') return 'malformed_response';
  return error.failure === 'error' ? 'upstream_error' : undefined;
}

function sessionOf(origin: CallOrigin): object {
  return origin.session ?? origin;
}

function asLinkFailure(error: unknown): LinkFailure {
  if (error instanceof LinkFailure) return error;
  return new LinkFailure(error instanceof Error ? error.message : String(error), 'spawn_failed');
}

const noop = (): void => undefined;

type SendRequest<T> = (client: UpstreamClient, options: CallOptions) => Promise<T>;
