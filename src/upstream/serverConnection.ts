import type { LiveRefreshConfig, ServerConfig } from '../config/gatewayConfig.ts';
import { Pace } from '../ops/pace.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from './callOrigin.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { ExposedCatalog, isExposed } from './exposedTools.ts';
import { KeptCatalog } from './keptCatalog.ts';
import { waitAtMost } from './patience.ts';
import { RefreshPace } from './refreshPace.ts';
import type { ServerCatalog } from './serverCatalog.ts';
import { introductionOf, LIST_GROUPS, type ListGroup, listGroup } from './serverLists.ts';
import { type NotificationListener, type RequestHandler, ServerMessages } from './serverMessages.ts';
import { describeRequestError, type LinkEvents, LinkFailure, type UpstreamLink } from './upstreamLink.ts';

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
}

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 30_000;
/** Servers announce several changes in a row, many of them right at their start, and some without an end. */
const RELIST_PACE = { delayMs: 200, intervalMs: 1_000 };
/** A server is ready with its tools; the rest of its first list may be late. */
const FIRST_LISTS_WAIT_MS = 2_000;
const BESIDE_TOOLS = ['resources', 'prompts'] as const;

/** One upstream server: its state, its connection whatever way it takes, and what it last told of itself. */
export class ServerConnection {
  config: ServerConfig;
  readonly #services: ConnectionServices;
  readonly #events: ConnectionEvents;
  readonly #messages = new ServerMessages();
  readonly #kept: KeptCatalog;
  /** On whose behalf requests are under way. */
  readonly #origins: CallOrigin[] = [];
  #callers = new Set<object>();
  readonly #exposed = new ExposedCatalog();
  readonly #refreshPace: RefreshPace;
  #state: ConnectionState = 'starting';
  #since = Date.now();
  #reason: string | undefined;
  #retryAfterSeconds: number | undefined;
  #link: UpstreamLink | undefined;
  #client: UpstreamClient | undefined;
  #stderr: readonly string[] = [];
  #starting: Promise<void> | undefined;
  #ending: Promise<unknown> | undefined;
  readonly #listings = new Map<ListGroup, Promise<void>>();
  readonly #paces: Readonly<Record<ListGroup, Pace>>;
  readonly #readyListeners = new Set<() => void>();
  #inFlight = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(config: ServerConfig, services: ConnectionServices, events: ConnectionEvents) {
    this.config = config;
    this.#services = services;
    this.#events = events;
    this.#kept = new KeptCatalog(config, services.snapshots);
    this.#refreshPace = new RefreshPace(services.liveRefresh);
    if (this.#kept.isKnown) this.#state = 'not_started';
    const paced = (group: ListGroup): Pace => {
      const pace = new Pace(() => this.#listAfterChange(group), RELIST_PACE);
      this.onNotification(LIST_GROUPS[group].changed, () => {
        const delayMs = this.#refreshPace.delayMs();
        if (delayMs !== undefined) pace.request(delayMs);
      });
      return pace;
    };
    this.#paces = { tools: paced('tools'), resources: paced('resources'), prompts: paced('prompts') };
  }

  get state(): ConnectionState {
    return this.#state;
  }
  get since(): number {
    return this.#since;
  }
  get reason(): string | undefined {
    return this.#reason;
  }
  /** Whether it has ever been listed. */
  get isKnown(): boolean {
    return this.#kept.isKnown;
  }
  /** What of it the configuration lets be seen. */
  get catalog(): ServerCatalog {
    return this.#exposed.of(this.#kept.current, this.config.tools);
  }
  get tools(): readonly unknown[] {
    return this.catalog.tools;
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#kept.current.capabilities;
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
    return this.#state === 'starting' || this.#state === 'ready' ? this.#link?.pid : undefined;
  }
  get stderr(): readonly string[] {
    return this.#link?.stderr ?? this.#stderr;
  }

  /** Starts the server where it must run, or where nothing is known of it yet. */
  begin(): void {
    if (!this.#approved) {
      this.#set('needs_approval', this.#approvalNote());
      return;
    }
    if (this.#state === 'needs_approval' && this.#kept.isKnown) this.#set('not_started');
    if (this.#state !== 'not_started' || this.config.keepAlive) void this.start();
  }

  /** An approval was given, or taken back: what ran without one no longer does. */
  recheckApproval(): void {
    if (this.#state === 'needs_approval') this.begin();
    else if (!this.#stopped && !this.#approved) {
      this.#set('needs_approval', this.#approvalNote());
      void this.#end();
    }
  }

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Lists everything again, starting the server if it is down. */
  async refresh(): Promise<void> {
    if (this.#state !== 'ready' || this.#starting) {
      await this.start();
      await Promise.all(this.#listings.values());
    } else await Promise.all([this.#listAgain('tools'), ...BESIDE_TOOLS.map((group) => this.#listAgain(group))]);
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
    if (this.#state === 'ready') await this.#client?.notify(method, params);
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

  /** Keeps it from being stopped as idle; call what is returned once. */
  hold(): () => void {
    this.#inFlight += 1;
    clearTimeout(this.#idleTimer);
    return () => {
      this.#inFlight -= 1;
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
    await this.#starting;
    if (this.#stopped) return;
    this.#set('needs_sign_in', 'Nobody is signed in to it.');
    await this.#end();
  }

  async stop(): Promise<void> {
    for (const pace of Object.values(this.#paces)) pace.stop();
    this.#stopped = true;
    this.#set('stopped');
    await this.#end();
  }

  async #send<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const origin: CallOrigin = options.origin ?? NOBODY;
    if (origin !== OWN_BUSINESS) {
      this.#origins.push(origin);
      this.#callers.add(sessionOf(origin));
    }
    const release = this.hold();
    try {
      return await this.#sendOnceMore(options, send);
    } finally {
      if (origin !== OWN_BUSINESS) this.#origins.splice(this.#origins.indexOf(origin), 1);
      release();
    }
  }

  async #sendOnceMore<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const deadline = performance.now() + options.timeoutMs;
    try {
      return await (this.#usable ? send(this.#usable, options) : this.#sendWhenReady(options, deadline, send));
    } catch (error) {
      if (!(error instanceof UpstreamRequestError)) throw error;
      if (error.failure === 'unauthorized')
        throw new UpstreamRequestError('unauthorized', await this.#refused(error), error.code);
      if (error.failure !== 'unsent') throw error;
    }
    // A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more.
    if (this.#state === 'ready') this.#set('failed', 'It had to be connected anew.');
    try {
      return await this.#sendWhenReady(options, deadline, send);
    } catch (error) {
      if (!(error instanceof UpstreamRequestError) || error.failure !== 'unsent') throw error;
      throw new NotDispatchedError(await this.#fail(error), this.#state, this.#retryAfterSeconds);
    }
  }

  /** The first call of a server waits for its start, within its own deadline. */
  async #sendWhenReady<T>(options: CallOptions, deadline: number, send: SendRequest<T>): Promise<T> {
    options.onProgress?.({ progress: 0, message: `starting ${this.config.name}` });
    const { signal } = options;
    // Nobody but the person can change it: a call must not knock at a closed door each time.
    if (this.#state === 'needs_sign_in' && !(await this.#services.mayTry?.(this.config)))
      throw new NotDispatchedError(this.#reason ?? 'It asks for a sign-in.', this.#state);
    await waitAtMost(this.#restart(), deadline, signal);
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    if (!this.#usable) {
      const slow = `it has not started within ${Math.round(options.timeoutMs / 1000)} s`;
      throw new NotDispatchedError(
        this.#state === 'starting' ? slow : (this.#reason ?? 'it is not running'),
        this.#state,
        this.#retryAfterSeconds,
      );
    }
    return send(this.#usable, { ...options, timeoutMs: Math.max(1, deadline - performance.now()) });
  }

  /** A server that wants more for this one request serves the others; one that lets us in no longer does not. */
  async #refused(error: UpstreamRequestError): Promise<string> {
    const link = this.#link;
    if (error.code !== 403 || !link) return this.#fail(error);
    this.#reason = (await link.explain(error)).message;
    this.#events.onChange();
    return this.#reason;
  }

  /** Gives the connection up for what a request told of it. */
  async #fail(error: UpstreamRequestError): Promise<string> {
    const link = this.#link;
    if (this.#state !== 'ready' || !link) return this.#reason ?? error.message;
    const { state, message, retryAfterSeconds } = await link.explain(error);
    if (this.#link === link) {
      this.#set(state, message);
      this.#retryAfterSeconds = retryAfterSeconds;
      await this.#end();
    }
    return message;
  }

  /** One whose output has just closed is as good as down; a call to it has not been sent yet. */
  get #usable(): UpstreamClient | undefined {
    return this.#state === 'ready' && this.#client?.closed === false ? this.#client : undefined;
  }

  #restart(): Promise<void> {
    if (this.#state === 'ready') this.#set('failed', 'It closed its output.');
    return this.start();
  }

  get #approved(): boolean {
    return this.#services.isApproved?.(this.config) ?? true;
  }

  #approvalNote(): string {
    const name = /^[\w.-]+$/.test(this.config.name) ? this.config.name : '--all';
    return `What it runs has not been approved for this workspace; see it and approve it: waygate approve ${name}.`;
  }

  async #start(): Promise<void> {
    const approved = this.#approved;
    if (approved) this.#set('starting');
    await this.#end();
    if (this.#stopped) return;
    if (!approved) {
      this.#set('needs_approval', this.#approvalNote());
      return;
    }
    let lost: string | undefined;
    let link: UpstreamLink | undefined;
    try {
      link = await this.#services.openLink(this.config, {
        onLost: (reason) => {
          lost = reason;
          this.#onLost(link, reason);
        },
        log: (line) => this.#log(line),
        scrubSecrets: this.#events.scrubSecrets,
      });
      // What was taken back while secrets were being looked up does not run after all.
      if (this.#stopped || !this.#approved) return;
      this.#link = link;
      this.#callers = new Set(this.#origins.map(sessionOf));
      const timeoutMs = this.#services.startTimeoutMs?.() ?? START_TIMEOUT_MS;
      this.#client = await link.connect(this.#messages.clientOptions, timeoutMs);
      // With its tools known nobody need wait for the list.
      const known = this.#kept.isKnown;
      if (!known) await this.#listFirst();
      if (lost !== undefined) throw new LinkFailure(lost);
      if (this.#link !== link || this.#stopped) return;
      this.#set('ready');
      this.#waitForIdle();
      if (known) for (const group of ['tools', ...BESIDE_TOOLS] as const) void this.#listAgain(group);
      for (const listener of this.#readyListeners) listener();
    } catch (error) {
      // Whoever has ended this start has said what the server is now.
      if (this.#stopped || (link && this.#link !== link)) return;
      const failure = link ? await link.explain(error) : asLinkFailure(error);
      await this.#end();
      // A reason that comes from a start which was stopped in the meantime is nobody's.
      if (this.#stopped) return;
      this.#set(failure.state, `${failure.message}${this.#kept.staleNote}`);
      this.#retryAfterSeconds = failure.retryAfterSeconds;
    }
  }

  /** Without its tools it cannot be served; what else it has is waited for only so long. */
  async #listFirst(): Promise<void> {
    const client = this.#client as UpstreamClient;
    const { lists, failures } = await listGroup(client, 'tools', { timeoutMs: LIST_TIMEOUT_MS });
    if (failures[0]) throw failures[0].error;
    // Kept at once with the rest where that comes in time: a snapshot should be whole.
    const rest: Partial<ServerCatalog> = {};
    let adopted = false;
    const beside = BESIDE_TOOLS.map(async (group) => {
      const parts = await this.#listedBeside(client, group);
      if (adopted) this.#adopt(client, parts);
      else Object.assign(rest, parts);
    });
    await waitAtMost(Promise.all(beside), performance.now() + FIRST_LISTS_WAIT_MS, undefined);
    adopted = true;
    this.#adopt(client, { ...lists, ...rest, ...introductionOf(client) });
  }

  /** What cannot be listed stays as it was last. */
  async #listedBeside(client: UpstreamClient, group: ListGroup): Promise<Partial<ServerCatalog>> {
    const { lists, failures } = await listGroup(client, group, { timeoutMs: LIST_TIMEOUT_MS });
    for (const { method, error } of failures) {
      if (client !== this.#client) break;
      const why = describeRequestError(error, LIST_TIMEOUT_MS, this.#events.scrubSecrets);
      this.#log(`${method}: ${why} What it listed before is kept.`);
    }
    return lists;
  }

  async #listTools(client: UpstreamClient): Promise<void> {
    const { lists, failures } = await listGroup(client, 'tools', { timeoutMs: LIST_TIMEOUT_MS });
    if (failures.length === 0) this.#adopt(client, { ...lists, ...introductionOf(client) });
    else if (this.#state === 'ready' && client === this.#client) {
      const why = describeRequestError(failures[0]?.error, LIST_TIMEOUT_MS, this.#events.scrubSecrets);
      this.#reason = `It could not list its tools: ${why}${this.#kept.staleNote}`;
      this.#log(this.#reason);
      this.#events.onChange();
    }
  }

  /** One step for whoever looks: the old lists or the new ones. */
  #adopt(client: UpstreamClient, parts: Partial<ServerCatalog>): void {
    if (client !== this.#client) return;
    const { isKnown } = this.#kept;
    const changed = this.#kept.replace(parts, this.config);
    if (isKnown && changed.length > 0) this.#log(`its catalog has changed: ${this.#changeNote(changed)}`);
    const told = parts.tools !== undefined && this.#state === 'ready' && this.#reason !== undefined;
    if (told) this.#reason = undefined;
    if (changed.length > 0 || told) this.#events.onChange();
  }

  #changeNote(changed: readonly (keyof ServerCatalog)[]): string {
    const { current } = this.#kept;
    const notes = changed.map((part) => {
      const value = current[part];
      return Array.isArray(value) ? `${part} (${value.length} now)` : part;
    });
    return notes.join(', ');
  }

  /** One list of a kind at a time. A server that cannot list keeps what it listed last, and serves all the same. */
  #listAgain(group: ListGroup): Promise<void> {
    const client = this.#client;
    if (!client) return Promise.resolve();
    const current =
      this.#listings.get(group) ??
      (group === 'tools'
        ? this.#listTools(client)
        : this.#listedBeside(client, group).then((parts) => this.#adopt(client, parts))
      ).finally(() => this.#listings.delete(group));
    this.#listings.set(group, current);
    return current;
  }

  /** A change that is announced while a list is under way may not be in it: it is listed again. */
  async #listAfterChange(group: ListGroup): Promise<void> {
    await this.#starting;
    await this.#listings.get(group);
    this.#refreshPace.onRefresh();
    if (this.#state === 'ready') await this.#listAgain(group);
  }

  /** A server that nobody calls is stopped, where what it lists is known without it. */
  #waitForIdle(): void {
    clearTimeout(this.#idleTimer);
    const idleMs = this.#services.idleMs?.();
    if (idleMs === undefined || this.#state !== 'ready' || this.config.keepAlive || this.#inFlight > 0) return;
    this.#idleTimer = setTimeout(() => this.#stopIdle(), idleMs);
    this.#idleTimer.unref();
  }

  #stopIdle(): void {
    if (this.#state !== 'ready' || this.#inFlight > 0) return;
    if (this.#listings.size > 0 || Object.values(this.#paces).some((pace) => pace.pending)) this.#waitForIdle();
    else {
      this.#set('not_started');
      void this.#end();
    }
  }

  #onLost(link: UpstreamLink | undefined, reason: string): void {
    if (this.#link !== link || this.#state !== 'ready') return;
    this.#set('failed', reason);
    void this.#end();
  }

  /** Resolves when nothing of the last start is left: a server's successor must not meet it. */
  async #end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const link = this.#link;
    this.#client = undefined;
    this.#link = undefined;
    if (link) {
      this.#stderr = link.stderr;
      this.#ending = Promise.all([this.#ending, link.close()]);
    }
    await this.#ending;
  }

  #log(line: string): void {
    this.#events.log(`${this.config.name}: ${line}`);
  }

  #set(state: ConnectionState, reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#retryAfterSeconds = undefined;
    this.#since = Date.now();
    if (state !== 'starting') this.#log(`${state.replace('_', ' ')}${reason ? `: ${reason}` : ''}`);
    this.#events.onChange();
  }
}

function sessionOf(origin: CallOrigin): object {
  return origin.session ?? origin;
}

function asLinkFailure(error: unknown): LinkFailure {
  return error instanceof LinkFailure ? error : new LinkFailure((error as Error).message);
}

type SendRequest<T> = (client: UpstreamClient, options: CallOptions) => Promise<T>;

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
  /** What the person must do first, where waiting is of no use. */
  readonly failure: 'unauthorized' | 'unapproved' | undefined;
  /** How long the server asked to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, state?: ConnectionState, retryAfterSeconds?: number) {
    super(reason);
    if (state === 'needs_approval') this.failure = 'unapproved';
    else if (state === 'needs_sign_in' || state === 'needs_secret') this.failure = 'unauthorized';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
