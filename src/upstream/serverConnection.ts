import type { ServerConfig } from '../config/gatewayConfig.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from './callOrigin.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { KeptCatalog } from './keptCatalog.ts';
import { waitAtMost } from './patience.ts';
import type { ServerCatalog } from './serverCatalog.ts';
import { type NotificationListener, type RequestHandler, ServerMessages } from './serverMessages.ts';
import { describeRequestError, type LinkEvents, LinkFailure, type UpstreamLink } from './upstreamLink.ts';

export type ConnectionState =
  | 'needs_approval'
  | 'not_started'
  | 'starting'
  | 'ready'
  | 'failed'
  | 'needs_sign_in'
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
  /** Without them a server starts with the gateway. */
  snapshots?: CatalogSnapshots;
  /** How long a server without a call runs on; for ever when absent. */
  idleMs?: () => number;
  /** A connection has been made, and is not started yet: who answers what its server asks is set here. */
  onConnection?: (connection: ServerConnection) => void;
}

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 30_000;
/** Servers announce several changes in a row, many of them right at their start. */
const LIST_CHANGED_DEBOUNCE_MS = 200;

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
  readonly #readyListeners = new Set<() => void>();
  #state: ConnectionState = 'starting';
  #since = Date.now();
  #reason: string | undefined;
  #link: UpstreamLink | undefined;
  #client: UpstreamClient | undefined;
  #stderr: readonly string[] = [];
  #starting: Promise<void> | undefined;
  #ending: Promise<unknown> | undefined;
  #listing: Promise<void> | undefined;
  #inFlight = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(config: ServerConfig, services: ConnectionServices, events: ConnectionEvents) {
    this.config = config;
    this.#services = services;
    this.#events = events;
    this.#kept = new KeptCatalog(config, services.snapshots);
    if (this.#kept.isKnown) this.#state = 'not_started';
    this.onNotification('notifications/tools/list_changed', () => this.#onToolsChanged());
    services.onConnection?.(this);
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
  get catalog(): ServerCatalog {
    return this.#kept.current;
  }
  get tools(): readonly unknown[] {
    return this.#kept.current.tools;
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#kept.current.capabilities;
  }
  /** Whether it has ever been listed: without that nothing is known of what it offers. */
  get isKnown(): boolean {
    return this.#kept.isKnown;
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

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Lists the tools again, starting the server if it is down. */
  async refresh(): Promise<void> {
    if (this.#state !== 'ready' || this.#starting) {
      await this.start();
      await this.#listing;
    } else await this.#listAgain();
  }

  /** Calls a tool by its raw name. A server that is down is started first: the call has not been dispatched yet. */
  async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
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

  /**
   * Answers a request of the server. `capability` is what is declared for it (`{ roots: {} }`), from the next start on:
   * set it before the first.
   */
  setRequestHandler(method: string, handler: RequestHandler, capability: Record<string, object> = {}): void {
    this.#messages.setRequestHandler(method, handler, capability);
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

  /** Called at every start, when the server can be spoken to: it has forgotten what it was told before. */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#listTimer);
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
      if (error.failure === 'unauthorized') await this.#fail(error);
      if (error.failure !== 'unsent') throw error;
    }
    // A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more.
    if (this.#state === 'ready') this.#set('failed', 'It had to be connected anew.');
    try {
      return await this.#sendWhenReady(options, deadline, send);
    } catch (error) {
      if (!(error instanceof UpstreamRequestError) || error.failure !== 'unsent') throw error;
      throw new NotDispatchedError(await this.#fail(error), this.#state);
    }
  }

  /** The first call of a server waits for its start, within its own deadline. */
  async #sendWhenReady<T>(options: CallOptions, deadline: number, send: SendRequest<T>): Promise<T> {
    options.onProgress?.({ progress: 0, message: `starting ${this.config.name}` });
    const { signal } = options;
    await waitAtMost(this.#restart(), deadline, signal);
    if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
    if (!this.#usable) {
      const slow = `it has not started within ${Math.round(options.timeoutMs / 1000)} s`;
      throw new NotDispatchedError(
        this.#state === 'starting' ? slow : (this.#reason ?? 'it is not running'),
        this.#state,
      );
    }
    return send(this.#usable, { ...options, timeoutMs: Math.max(1, deadline - performance.now()) });
  }

  /** Gives the connection up for what a request told of it. */
  async #fail(error: UpstreamRequestError): Promise<string> {
    const link = this.#link;
    if (this.#state !== 'ready' || !link) return this.#reason ?? error.message;
    const { state, message } = await link.explain(error);
    if (this.#link === link) {
      this.#set(state, message);
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
      if (this.#stopped) return;
      this.#link = link;
      this.#callers = new Set(this.#origins.map(sessionOf));
      this.#client = await link.connect(this.#messages.clientOptions, START_TIMEOUT_MS);
      // With its tools known nobody need wait for the list.
      const known = this.#kept.isKnown;
      if (!known) await this.#list();
      if (lost !== undefined) throw new LinkFailure(lost);
      if (this.#link !== link || this.#stopped) return;
      this.#set('ready');
      for (const listener of this.#readyListeners) listener();
      this.#waitForIdle();
      if (known) void this.#listAgain();
    } catch (error) {
      if (this.#stopped) return;
      const { state, message } = link ? await link.explain(error) : new LinkFailure((error as Error).message);
      await this.#end();
      // A reason that comes from a start which was stopped in the meantime is nobody's.
      if (!this.#stopped) this.#set(state, `${message}${this.#kept.staleNote}`);
    }
  }

  async #list(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const tools = await client.listTools({ timeoutMs: LIST_TIMEOUT_MS });
    if (client !== this.#client) return;
    const { instructions, capabilities } = client;
    this.#adopt({ tools, capabilities, ...(instructions === undefined ? {} : { instructions }) });
  }

  #adopt(catalog: ServerCatalog): void {
    const { isKnown } = this.#kept;
    const changed = this.#kept.replace(catalog, this.config);
    if (changed && isKnown) this.#log(`its catalog has changed; it lists ${catalog.tools.length} tools now`);
    if (this.#state === 'ready') this.#reason = undefined;
    this.#events.onChange();
  }

  /** One list at a time. A server that cannot list keeps what it listed last, and serves calls all the same. */
  #listAgain(): Promise<void> {
    this.#listing ??= this.#list()
      .catch((error: unknown) => {
        if (this.#state !== 'ready') return;
        const why = describeRequestError(error, LIST_TIMEOUT_MS, this.#events.scrubSecrets);
        this.#reason = `It could not list its tools: ${why}${this.#kept.staleNote}`;
        this.#log(this.#reason);
        this.#events.onChange();
      })
      .finally(() => {
        this.#listing = undefined;
      });
    return this.#listing;
  }

  /** A change that is announced while the tools are being listed may not be in that list: it is listed again. */
  #onToolsChanged(): void {
    this.#listTimer ??= setTimeout(() => void this.#listAfterChange(), LIST_CHANGED_DEBOUNCE_MS);
  }

  async #listAfterChange(): Promise<void> {
    await this.#starting;
    await this.#listing;
    if (this.#state === 'ready') await this.#listAgain();
    // Only now: however many changes are announced, one list is under way.
    this.#listTimer = undefined;
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
    if (this.#listing || this.#listTimer) this.#waitForIdle();
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
    this.#since = Date.now();
    if (state !== 'starting') this.#log(`${state.replace('_', ' ')}${reason ? `: ${reason}` : ''}`);
    this.#events.onChange();
  }
}

function sessionOf(origin: CallOrigin): object {
  return origin.session ?? origin;
}

type SendRequest<T> = (client: UpstreamClient, options: CallOptions) => Promise<T>;

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
  /** What the person must do first, where waiting is of no use. */
  readonly failure: 'unauthorized' | 'unapproved' | undefined;

  constructor(reason: string, state?: ConnectionState) {
    super(reason);
    this.failure = state === 'needs_sign_in' ? 'unauthorized' : state === 'needs_approval' ? 'unapproved' : undefined;
  }
}
