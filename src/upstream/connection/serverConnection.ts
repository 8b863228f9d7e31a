import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { type ListedTool, listedTool } from '../../mcp/wire/listedTool.ts';
import { Oddities, type Oddity } from '../../mcp/wire/oddities.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { isExposed } from '../listing/exposedTools.ts';
import type { ServerCatalog } from '../listing/serverCatalog.ts';
import { ServerLife } from '../start/serverLife.ts';
import type { Live } from '../start/serverStart.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { Callers } from './callers.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from './callOrigin.ts';
import type { ConnectionEvents, ConnectionServices } from './connectionServices.ts';
import type { ConnectionState } from './connectionStatus.ts';
import { IdleTimer } from './idleTimer.ts';
import { NotDispatchedError } from './notDispatched.ts';
import { ServerCalls } from './serverCalls.ts';
import { type NotificationListener, type RequestHandler, ServerMessages } from './serverMessages.ts';
import type { Json, RequestOptions } from './serverRequest.ts';

export type { ConnectionEvents, ConnectionServices, OpenLink } from './connectionServices.ts';
export type { ConnectionState } from './connectionStatus.ts';

/** Connection of the same server as it was configured before. */
export interface Predecessor {
  /** Resolves when its calls and its process have ended. */
  ended: Promise<void>;
  /** Shown until the changed server has listed its own. */
  catalog: ServerCatalog;
}

/** One upstream server: its state, its connection whatever way it takes, and what it last told of itself. */
export class ServerConnection {
  config: ServerConfig;
  /** What was odd in what the server sent, over all its starts; for health and telemetry. */
  readonly oddities = new Oddities((oddity) => this.#onExcess(oddity));
  readonly #messages = new ServerMessages();
  readonly #callers = new Callers();
  readonly #life: ServerLife;
  readonly #calls: ServerCalls;
  readonly #idle: IdleTimer;
  readonly #readyListeners = new Set<() => void>();

  constructor(config: ServerConfig, services: ConnectionServices, events: ConnectionEvents, predecessor?: Predecessor) {
    this.config = config;
    this.#life = new ServerLife({
      config: () => this.config,
      services,
      events,
      predecessor,
      messages: this.#messages,
      oddities: this.oddities,
      onOpened: () => this.#callers.started(),
      onReady: (live) => this.#onReady(live),
      onLost: (generation, fault) => this.#calls.lost(generation, fault),
      onEnd: () => this.#idle.stop(),
    });
    this.#calls = new ServerCalls(this.#life, this.oddities);
    this.#idle = new IdleTimer(
      () => (this.#life.live && !this.config.keepAlive ? services.idleMs?.() : undefined),
      () => this.#stopIdle(),
    );
  }

  get state(): ConnectionState {
    return this.#life.status.state;
  }
  get since(): number {
    return this.#life.status.since;
  }
  get reason(): string | undefined {
    return this.#life.status.reason;
  }
  get health(): HealthSnapshot {
    return this.#life.health;
  }
  /** Whether it has ever been listed. */
  get isKnown(): boolean {
    return this.#life.keeper.isKnown;
  }
  /** All that the server has listed, before the configuration's filter. */
  get listed(): ServerCatalog {
    return this.#life.keeper.listed;
  }
  /** What of it the configuration lets be seen. */
  get catalog(): ServerCatalog {
    return this.#life.keeper.exposed;
  }
  get tools(): readonly unknown[] {
    return this.catalog.tools;
  }
  /** Its tools as clients can read them, each the very same where it can be as it is. */
  get listedTools(): readonly ListedTool[] {
    return this.tools.map(listedTool).filter((tool) => tool !== undefined);
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#life.keeper.capabilities;
  }
  /** On whose behalf requests are under way, each once for every request. */
  get origins(): readonly CallOrigin[] {
    return this.#callers.origins;
  }
  /** The one session that has asked this server for anything since its start, where no other has. */
  get onlyCaller(): object | undefined {
    return this.#callers.only;
  }
  get pid(): number | undefined {
    return this.#life.pid;
  }
  get stderr(): readonly string[] {
    return this.#life.stderr;
  }

  /** Starts the server where it must run, or where nothing is known of it yet. */
  begin(): void {
    this.#life.begin();
  }

  /** An approval was given, or taken back: what ran without one no longer does. */
  recheckApproval(): void {
    this.#life.recheckApproval();
  }

  /** Takes over an edit that needs no restart. */
  adopt(config: ServerConfig): void {
    const { keepAlive } = this.config;
    this.config = config;
    if (config.keepAlive && !keepAlive) this.begin();
    this.#idle.begin();
  }

  /** Ends the server after the requests that are under way; resolves when it has ended. */
  async retire(): Promise<void> {
    // Its successor owns the snapshot on the disk from now on.
    this.#life.keeper.stop();
    await this.#callers.over();
    await this.stop();
  }

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  async start(): Promise<void> {
    await this.#life.start();
  }

  /** Lists everything again, starting the server if it is down. */
  async refresh(): Promise<void> {
    const { keeper } = this.#life;
    if (this.#life.usable) await keeper.listAll();
    else {
      await this.#life.start();
      await keeper.idle();
    }
  }

  /** Calls a tool by its raw name. A server that is down is started first: the call has not been dispatched yet. */
  async call(tool: string, args: Json, options: RequestOptions): Promise<Json> {
    const { name, tools } = this.config;
    if (!isExposed(tool, tools)) {
      const fault = this.#life.faultOf(new LinkFailure('', 'tool_left_out'));
      throw new NotDispatchedError(`the configuration leaves this tool of ${name} out ("tools")`, fault);
    }
    const { probe } = options;
    // What the person has left out is not asked either.
    const left = probe && !isExposed(probe.tool, tools) ? { ...options, probe: undefined } : options;
    return this.request('tools/call', { name: tool, arguments: args }, left);
  }

  /** Sends any request, starting the server if it is down. */
  async request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const release = this.hold(options.origin ?? NOBODY);
    try {
      return await this.#calls.send(method, params, options);
    } finally {
      release();
    }
  }

  /** Sends a notification to a server that runs; one that does not has nothing to be told. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#life.live?.client.notify(method, params);
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
  hold(origin: CallOrigin = OWN_BUSINESS): () => void {
    this.#callers.enter(origin);
    this.#idle.hold();
    return () => {
      this.#callers.leave(origin);
      this.#idle.release();
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
    await this.#life.signedOut();
  }

  async stop(): Promise<void> {
    this.#idle.stop();
    await this.#life.stop();
  }

  #onReady(live: Live): void {
    this.#calls.opened(live);
    this.#idle.begin();
    // Not before whoever waits for it has got it.
    queueMicrotask(() => {
      if (this.#life.live !== live) return;
      for (const listener of this.#readyListeners) listener();
    });
  }

  /** A server that nobody calls is stopped, where what it lists is known without it. */
  #stopIdle(): void {
    if (!this.#life.live) return;
    if (this.#life.keeper.busy) this.#idle.begin();
    else void this.#life.pause();
  }

  /** More of something than a slip explains. */
  #onExcess(oddity: Oddity): void {
    this.#life.log(`it keeps doing what no server should (${oddity.replaceAll('_', ' ')})`);
    if (oddity !== 'unknown_response') return;
    const reason = 'It answered too much that nobody asked, so it was ended.';
    this.#life.live?.lose(new LinkFailure(reason, 'unknown_id_flood'));
  }
}
