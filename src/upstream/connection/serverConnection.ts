import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { ProtocolVerdict } from '../../control/contract.ts';
import { type ListedTool, listedTool } from '../../mcp/wire/listedTool.ts';
import { Oddities, type Oddity } from '../../mcp/wire/oddities.ts';
import type { UpstreamClient } from '../../mcp/wire/upstreamClient.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import { isExposed } from '../listing/exposedTools.ts';
import type { HeldItem } from '../listing/listingGate.ts';
import type { ServerCatalog } from '../listing/serverCatalog.ts';
import type { StderrTail } from '../process/stderrTail.ts';
import { ServerLife } from '../start/serverLife.ts';
import type { Live } from '../start/serverStart.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { Callers } from './callers.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from './callOrigin.ts';
import type { ConnectionEvents, ConnectionServices, Predecessor } from './connectionServices.ts';
import type { ConnectionState } from './connectionStatus.ts';
import { IdleTimer } from './idleTimer.ts';
import { NotDispatchedError } from './notDispatched.ts';
import { ServerCalls } from './serverCalls.ts';
import {
  type Capability,
  type NotificationListener,
  type QuestionsHandler,
  type RequestHandler,
  ServerMessages,
} from './serverMessages.ts';
import type { Json, RequestOptions } from './serverRequest.ts';
import { SessionConnections } from './sessionConnections.ts';

export type { ConnectionEvents, ConnectionServices, OpenLink, Predecessor } from './connectionServices.ts';
export type { ConnectionState } from './connectionStatus.ts';

/** Notifications that concern the lists and resources of a server, and none of its calls. */
const ABOUT_LISTS = /\/(list_changed|updated)$/;

/** Represents one upstream server: its state, its connection over any transport, and its latest catalog. */
export class ServerConnection {
  config: ServerConfig;
  /** Session that has this connection for itself. */
  readonly session: object | undefined;
  /** Protocol violations of the server over all its starts, for health and telemetry. */
  readonly oddities = new Oddities((oddity) => this.#onExcess(oddity));
  readonly #events: ConnectionEvents;
  readonly #messages = new ServerMessages();
  readonly #callers = new Callers();
  readonly #life: ServerLife;
  readonly #calls: ServerCalls;
  readonly #idle: IdleTimer;
  readonly #readyListeners = new Set<() => void>();
  readonly #own: SessionConnections;
  /** Set once the configuration no longer has this connection. Returns the current one of the same name. */
  #successor: (() => ServerConnection | undefined) | undefined;

  constructor(
    config: ServerConfig,
    services: ConnectionServices,
    events: ConnectionEvents,
    predecessor?: Predecessor,
    session?: object,
  ) {
    this.config = config;
    this.session = session;
    this.#events = events;
    this.#own = new SessionConnections((one) => {
      // The shared connection alone keeps the catalog.
      const { snapshots: _, idleMs: __, ...own } = services;
      const known = { ended: Promise.resolve(), catalog: this.listed };
      const connection = new ServerConnection(this.config, own, events, known, one);
      events.onSessionConnection?.(connection);
      return connection;
    });
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
  /** True while the server starts and nothing of it can be shown. A changed server shows its earlier tools. */
  get isUnlisted(): boolean {
    return this.state === 'starting' && !this.isKnown && this.catalog.tools.length === 0;
  }
  /** Everything the server lists, before the configuration's filter. */
  get listed(): ServerCatalog {
    return this.#life.keeper.listed;
  }
  /** Catalog that clients may see: approved, and not excluded by the configuration. */
  get catalog(): ServerCatalog {
    return this.#life.keeper.exposed;
  }
  /** Listed items that no client may see, and why. */
  get held(): readonly HeldItem[] {
    return this.#life.keeper.held;
  }
  /** True if nothing of the server reaches a client, as in quarantine. */
  get isWithheld(): boolean {
    return this.#life.keeper.isWithheld;
  }
  /** Returns the items of a list that clients may see. The server may have sent other ones than it listed last. */
  offeredOf(part: string, items: readonly unknown[]): readonly unknown[] {
    return this.#life.keeper.offeredOf(part, items);
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
  /** Whether each client session has its own connection to the server. */
  get isPerSession(): boolean {
    return this.config.sharing === 'session';
  }
  /** This connection and those of single sessions. */
  get withSessions(): readonly ServerConnection[] {
    return [this, ...this.#own.all];
  }
  /** Revision of MCP that the server was found to speak. */
  get protocol(): ProtocolVerdict | undefined {
    return this.#life.protocol;
  }
  /** Name and version that the server gave itself at its last start. */
  get implementation(): UpstreamClient['implementation'] {
    return this.#life.implementation;
  }
  get pid(): number | undefined {
    return this.#life.pid;
  }
  get stderr(): readonly string[] {
    return this.#life.stderr;
  }

  /** Stderr of all starts. */
  get output(): Pick<StderrTail, 'lines' | 'count'> {
    return this.#life.output;
  }

  /** Starts the server if it must run or has never been listed. */
  begin(): void {
    this.#life.begin();
  }

  /** Applies an approval that the user gave or revoked: without one, a running server stops. */
  recheckApproval(): void {
    this.#life.recheckApproval();
    for (const connection of this.#own.all) connection.recheckApproval();
  }

  /** Applies an edit that needs no restart. */
  adopt(config: ServerConfig): void {
    const { keepAlive } = this.config;
    this.config = config;
    if (config.keepAlive && !keepAlive) this.begin();
    this.#idle.begin();
    for (const connection of this.#own.all) connection.config = config;
  }

  /**
   * Ends the server after the requests that it is running; resolves when the process has ended. Requests that wait for a
   * start go to the successor.
   */
  async retire(successor: () => ServerConnection | undefined): Promise<void> {
    this.#successor = successor;
    // The successor owns the snapshot file from now on.
    this.#life.keeper.stop();
    const { live } = this.#life;
    // A lost server is not started again under an entry that is gone.
    const own = this.#own.retire();
    if (live) await Promise.race([this.#callers.over(), live.lost]);
    await own;
    await this.stop();
  }

  /** Ends the connection that a session has for itself. */
  endSession(session: object): void {
    this.#own.end(session);
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
    // A probe must not call a tool that the user excluded, or has not approved as it is.
    const mayProbe = probe && isExposed(probe.tool, tools) && !this.#refusal('tools/call', { name: probe.tool });
    const left = probe && !mayProbe ? { ...options, probe: undefined } : options;
    return this.request('tools/call', { name: tool, arguments: args }, left);
  }

  /**
   * Sends any request, starting the server if it is down. If the server turns out to need a sign-in, the client of the
   * request is offered it, once.
   */
  async request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const deadline = performance.now() + options.timeoutMs;
    try {
      return await this.#request(method, params, options);
    } catch (error) {
      const { origin, signal } = options;
      const needsSignIn = error instanceof NotDispatchedError && error.fault?.code === 'unauthorized';
      const signedIn = needsSignIn && origin && (await this.#events.signIn?.(this.config.name, origin, signal));
      if (!signedIn) throw error;
      return this.#request(method, params, { ...options, timeoutMs: Math.max(1, deadline - performance.now()) });
    }
  }

  async #request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const { session } = (!this.session && this.isPerSession && (options.origin as CallOrigin)) || {};
    if (session) return this.#ownOf(session).#request(method, params, options);
    const { keeper } = this.#life;
    let refusal = this.#refusal(method, params);
    if (refusal) throw refusal;
    const onSend = (): Promise<void> | undefined => {
      // The server may have listed otherwise, or the user decided, since the request came.
      refusal = keeper.refusal({ method, params });
      return refusal ? Promise.reject(refusal) : options.onSend?.();
    };
    const { uri } = params;
    const own = typeof uri === 'string' && method.startsWith('resources/') ? keeper.ownAddress(uri) : uri;
    const sent = own === uri ? params : { ...params, uri: own };
    const release = this.hold(options.origin ?? NOBODY);
    const deadline = performance.now() + options.timeoutMs;
    // Released first: the successor waits until this connection has no callers.
    return this.#calls
      .send(method, sent, { ...options, onSend })
      .finally(release)
      .catch((error: unknown) => {
        if (refusal) throw refusal;
        const isMovable = error instanceof NotDispatchedError && options.start === undefined;
        if (!this.#successor || !isMovable) throw error;
        const left = { ...options, timeoutMs: Math.max(1, deadline - performance.now()) };
        return this.#move(method, params, left, error);
      });
  }

  #ownOf(session: object): ServerConnection {
    const busy = this.#life.faultOf(new LinkFailure('', 'circuit_open'));
    return this.#own.of(session, () => new NotDispatchedError('too many client sessions use it', busy, 1));
  }

  /** Returns the error for a request that would use what is not offered. A first list is waited for. */
  #refusal(method: string, params: Json): Error | undefined {
    const { keeper } = this.#life;
    const refusal = keeper.refusal({ method, params });
    return refusal && !keeper.lacksBaseline ? refusal : undefined;
  }

  /** Sends a request that never left to the connection that has replaced this one. */
  async #move(method: string, params: Json, options: RequestOptions, { fault }: NotDispatchedError): Promise<Json> {
    const next = this.#successor?.();
    if (!next) {
      throw new NotDispatchedError('its entry was removed from the configuration before it had started', fault);
    }
    // The changed entry may exclude the tool.
    if (method === 'tools/call') return next.call(String(params.name), params.arguments as Json, options);
    return next.request(method, params, options);
  }

  /** Sends a notification to a running server, and does nothing otherwise. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#life.live?.client.notify(method, params);
  }

  /**
   * Subscribes to a notification of the server over all its starts. Returns the unsubscriber. A retired connection passes
   * on only messages that belong to its calls.
   */
  onNotification(method: string, listener: NotificationListener): () => void {
    return this.#messages.onNotification(method, (params, origin) => {
      if (!this.#successor || !ABOUT_LISTS.test(method)) listener(params, origin);
    });
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
  setRequestHandler(method: string, handler: RequestHandler, capability: Capability = {}): void {
    this.#messages.setRequestHandler(method, handler, capability);
  }

  /** Sets the function for the capabilities that a call offers to a server of revision 2026-07-28. */
  setOffer(offer: Parameters<ServerMessages['setOffer']>[0]): void {
    this.#messages.setOffer(offer);
  }

  /** Sets the handler for questions that the server asks together. */
  setQuestionsHandler(handler: QuestionsHandler): void {
    this.#messages.setQuestionsHandler(handler);
  }

  /** Ends the server after a sign-out; the next start finds out that a sign-in is required. */
  async signedOut(): Promise<void> {
    await Promise.all([this.#own.retire(), this.#life.signedOut()]);
  }

  /** Ends the server for now; the next call starts it again. */
  async pause(): Promise<void> {
    // Connections of single sessions end after their calls.
    void this.#own.retire();
    await this.#life.pause();
  }

  async stop(): Promise<void> {
    this.#idle.stop();
    await Promise.all([this.#own.stop(), this.#life.stop()]);
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
