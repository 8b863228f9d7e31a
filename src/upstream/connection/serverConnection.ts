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

/** Connection of the same server under its previous configuration. */
export interface Predecessor {
  /** Resolves when its calls and its process have ended. */
  ended: Promise<void>;
  /** Catalog to show until the changed server has listed its own. */
  catalog: ServerCatalog;
}

/** Represents one upstream server: its state, its connection over any transport, and its latest catalog. */
export class ServerConnection {
  config: ServerConfig;
  /** Protocol violations of the server over all its starts, for health and telemetry. */
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
  /** True after the first successful list. */
  get isKnown(): boolean {
    return this.#life.keeper.isKnown;
  }
  /** Everything the server lists, before the configuration's filter. */
  get listed(): ServerCatalog {
    return this.#life.keeper.listed;
  }
  /** Catalog after the configuration's filter. */
  get catalog(): ServerCatalog {
    return this.#life.keeper.exposed;
  }
  get tools(): readonly unknown[] {
    return this.catalog.tools;
  }
  /** Tools in the form for clients; unchanged tools stay the same objects. */
  get listedTools(): readonly ListedTool[] {
    return this.tools.map(listedTool).filter((tool) => tool !== undefined);
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#life.keeper.capabilities;
  }
  /** Origins of the running requests, one entry per request. */
  get origins(): readonly CallOrigin[] {
    return this.#callers.origins;
  }
  /** Only session that has used this server since its start; `undefined` if several have. */
  get onlyCaller(): object | undefined {
    return this.#callers.only;
  }
  get pid(): number | undefined {
    return this.#life.pid;
  }
  get stderr(): readonly string[] {
    return this.#life.stderr;
  }

  /** Starts the server if it must run or has never been listed. */
  begin(): void {
    this.#life.begin();
  }

  /** Applies an approval that the user gave or revoked: without one, a running server stops. */
  recheckApproval(): void {
    this.#life.recheckApproval();
  }

  /** Applies an edit that needs no restart. */
  adopt(config: ServerConfig): void {
    const { keepAlive } = this.config;
    this.config = config;
    if (config.keepAlive && !keepAlive) this.begin();
    this.#idle.begin();
  }

  /** Ends the server after its running requests; resolves when the process has ended. */
  async retire(): Promise<void> {
    // The successor owns the snapshot file from now on.
    this.#life.keeper.stop();
    await this.#callers.over();
    await this.stop();
  }

  /** Starts the server, or waits for a running start. Never rejects; the state has the outcome. */
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

  /** Calls a tool by its raw name. Starts the server first if necessary, before dispatching the call. */
  async call(tool: string, args: Json, options: RequestOptions): Promise<Json> {
    const { name, tools } = this.config;
    if (!isExposed(tool, tools)) {
      const fault = this.#life.faultOf(new LinkFailure('', 'tool_left_out'));
      throw new NotDispatchedError(`the configuration of ${name} excludes this tool ("tools")`, fault);
    }
    const { probe } = options;
    // A probe must not call a tool that the user excluded.
    const left = probe && !isExposed(probe.tool, tools) ? { ...options, probe: undefined } : options;
    return this.request('tools/call', { name: tool, arguments: args }, left);
  }

  /** Sends any request, starting the server if it is down. */
  async request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const release = this.hold(options.origin ?? NOBODY);
    const { uri } = params;
    const own = typeof uri === 'string' && method.startsWith('resources/') ? this.#life.keeper.ownAddress(uri) : uri;
    try {
      return await this.#calls.send(method, own === uri ? params : { ...params, uri: own }, options);
    } finally {
      release();
    }
  }

  /** Sends a notification to a running server, and does nothing otherwise. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#life.live?.client.notify(method, params);
  }

  /** Subscribes to a notification of the server over all its starts. Returns the unsubscriber. */
  onNotification(method: string, listener: NotificationListener): () => void {
    return this.#messages.onNotification(method, listener);
  }

  /** Subscribes to completed starts. Returns the unsubscriber. */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  /**
   * Keeps the server from idling until the returned function is called. Questions of the server may belong to the
   * origin.
   */
  hold(origin: CallOrigin = OWN_BUSINESS): () => void {
    this.#callers.enter(origin);
    this.#idle.hold();
    return () => {
      this.#callers.leave(origin);
      this.#idle.release();
    };
  }

  /**
   * Sets the handler for a request of the server. `capability` declares the handler (`{ roots: {} }`) from the next
   * start on, so set it before the first.
   */
  setRequestHandler(method: string, handler: RequestHandler, capability: Record<string, object> = {}): void {
    this.#messages.setRequestHandler(method, handler, capability);
  }

  /** Ends the server after a sign-out; the next start finds out that a sign-in is required. */
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
    // Run after the callers awaiting the start have resumed.
    queueMicrotask(() => {
      if (this.#life.live !== live) return;
      for (const listener of this.#readyListeners) listener();
    });
  }

  /** Stops an idle server, unless it is being listed. */
  #stopIdle(): void {
    if (!this.#life.live) return;
    if (this.#life.keeper.busy) this.#idle.begin();
    else void this.#life.pause();
  }

  /** Reports repeated protocol violations, and ends a server that floods the gateway with unknown responses. */
  #onExcess(oddity: Oddity): void {
    this.#life.log(`it keeps violating the protocol (${oddity.replaceAll('_', ' ')})`);
    if (oddity !== 'unknown_response') return;
    const reason = 'It sent too many responses to unknown requests, so it was ended.';
    this.#life.live?.lose(new LinkFailure(reason, 'unknown_id_flood'));
  }
}
