import type { ServerConfig } from '../config/gatewayConfig.ts';
import {
  type CallOptions,
  type UpstreamClient,
  type UpstreamMessage,
  UpstreamRequestError,
} from '../protocol/upstreamClient.ts';
import { describeRequestError, type LinkEvents, LinkFailure, type UpstreamLink } from './upstreamLink.ts';

export type ConnectionState = 'starting' | 'ready' | 'failed' | 'needs_sign_in' | 'stopped';

export interface ConnectionEvents {
  /** State, catalog or reason have changed. */
  onChange(): void;
  log(line: string): void;
}

/** Makes the way to a server, one for each start; rejects with one sentence where something is missing for it. */
export type OpenLink = (config: ServerConfig, events: LinkEvents) => Promise<UpstreamLink>;

/** What a server has last told of itself. Replaced as a whole, and only when it differs. */
export interface ServerCatalog {
  tools: readonly unknown[];
  instructions?: string;
  capabilities: Readonly<Record<string, unknown>>;
}

export type NotificationListener = (params: Record<string, unknown>) => void;
export type RequestHandler = (params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>;

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 30_000;
/** Servers announce several changes in a row, many of them right at their start. */
const LIST_CHANGED_DEBOUNCE_MS = 200;
const NOTHING: ServerCatalog = { tools: [], capabilities: {} };

/** One upstream server: its state, its connection whatever way it takes, and what it last told of itself. */
export class ServerConnection {
  config: ServerConfig;
  readonly #openLink: OpenLink;
  readonly #events: ConnectionEvents;
  readonly #listeners = new Map<string, Set<NotificationListener>>();
  readonly #handlers = new Map<string, RequestHandler>();
  #clientCapabilities: Record<string, object> = {};
  #state: ConnectionState = 'starting';
  #since = Date.now();
  #reason: string | undefined;
  #catalog: ServerCatalog = NOTHING;
  #link: UpstreamLink | undefined;
  #client: UpstreamClient | undefined;
  #stderr: readonly string[] = [];
  #starting: Promise<void> | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(config: ServerConfig, openLink: OpenLink, events: ConnectionEvents) {
    this.config = config;
    this.#openLink = openLink;
    this.#events = events;
    this.onNotification('notifications/tools/list_changed', () => this.#onToolsChanged());
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
    return this.#catalog;
  }
  get tools(): readonly unknown[] {
    return this.#catalog.tools;
  }
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#catalog.capabilities;
  }
  get pid(): number | undefined {
    return this.#state === 'starting' || this.#state === 'ready' ? this.#link?.pid : undefined;
  }
  get stderr(): readonly string[] {
    return this.#link?.stderr ?? this.#stderr;
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
    if (this.#state !== 'ready' || this.#starting) return this.start();
    try {
      await this.#list();
    } catch (error) {
      this.#log(`its tools could not be listed again: ${describeRequestError(error, LIST_TIMEOUT_MS)}`);
    }
  }

  /** Calls a tool by its raw name. A server that is down is started first: the call has not been dispatched yet. */
  async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    return this.#send((client) => client.callTool(tool, args, options));
  }

  /** Sends any request, starting the server if it is down. */
  async request(
    method: string,
    params: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    return this.#send((client) => client.request(method, params, options));
  }

  /** Sends a notification to a server that runs; one that does not has nothing to be told. */
  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    if (this.#state === 'ready') await this.#client?.notify(method, params);
  }

  /** Hears a notification of the server, over all its starts. Returns what ends that. */
  onNotification(method: string, listener: NotificationListener): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /**
   * Answers a request of the server. `capability` is what is declared for it (`{ roots: {} }`), from the next start on:
   * set it before the first.
   */
  setRequestHandler(method: string, handler: RequestHandler, capability: Record<string, object> = {}): void {
    this.#handlers.set(method, handler);
    this.#clientCapabilities = { ...this.#clientCapabilities, ...capability };
  }

  async stop(): Promise<void> {
    clearTimeout(this.#listTimer);
    this.#stopped = true;
    this.#set('stopped');
    await this.#end();
  }

  async #send<T>(send: (client: UpstreamClient) => Promise<T>): Promise<T> {
    try {
      return await send(this.#usable ?? (await this.#running()));
    } catch (error) {
      if (!(error instanceof UpstreamRequestError)) throw error;
      if (error.failure === 'unauthorized') await this.#fail(error);
      if (error.failure !== 'unsent') throw error;
    }
    // A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more.
    if (this.#state === 'ready') this.#set('failed', 'It had to be connected anew.');
    try {
      return await send(await this.#running());
    } catch (error) {
      if (!(error instanceof UpstreamRequestError) || error.failure !== 'unsent') throw error;
      throw new NotDispatchedError(await this.#fail(error));
    }
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

  async #running(): Promise<UpstreamClient> {
    if (this.#state === 'ready') this.#set('failed', 'It closed its output.');
    await this.start();
    if (!this.#usable) throw new NotDispatchedError(this.#reason ?? 'it is not running');
    return this.#usable;
  }

  async #start(): Promise<void> {
    this.#set('starting');
    await this.#end();
    if (this.#stopped) return;
    let lost: string | undefined;
    let link: UpstreamLink | undefined;
    try {
      link = await this.#openLink(this.config, {
        onLost: (reason) => {
          lost = reason;
          this.#onLost(link, reason);
        },
        log: (line) => this.#log(line),
      });
      if (this.#stopped) return;
      this.#link = link;
      this.#client = await link.connect(this.#clientOptions(), START_TIMEOUT_MS);
      await this.#list();
      if (lost !== undefined) throw new LinkFailure(lost);
      if (this.#link === link && !this.#stopped) this.#set('ready');
    } catch (error) {
      if (this.#stopped) return;
      const { state, message } = link ? await link.explain(error) : new LinkFailure((error as Error).message);
      await this.#end();
      // A reason that comes from a start which was stopped in the meantime is nobody's.
      if (!this.#stopped) this.#set(state, message);
    }
  }

  #clientOptions() {
    return {
      capabilities: this.#clientCapabilities,
      onNotification: ({ method, params }: UpstreamMessage) => {
        for (const listener of this.#listeners.get(method) ?? []) listener(params);
      },
      onRequest: ({ method, params }: UpstreamMessage, signal: AbortSignal) =>
        this.#handlers.get(method)?.(params, signal),
    };
  }

  async #list(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const tools = await client.listTools({ timeoutMs: LIST_TIMEOUT_MS });
    if (client !== this.#client) return;
    const { instructions, capabilities } = client;
    this.#catalog = { tools, capabilities, ...(instructions === undefined ? {} : { instructions }) };
    this.#events.onChange();
  }

  /** A change that is announced while the tools are being listed may not be in that list: it is listed again. */
  #onToolsChanged(): void {
    this.#listTimer ??= setTimeout(() => void this.#listAgain(), LIST_CHANGED_DEBOUNCE_MS);
  }

  async #listAgain(): Promise<void> {
    await this.#starting;
    if (this.#state === 'ready') await this.refresh();
    // Only now: however many changes are announced, one list is under way.
    this.#listTimer = undefined;
  }

  #onLost(link: UpstreamLink | undefined, reason: string): void {
    if (this.#link !== link || this.#state !== 'ready') return;
    this.#set('failed', reason);
    void this.#end();
  }

  async #end(): Promise<void> {
    const link = this.#link;
    this.#client = undefined;
    this.#link = undefined;
    if (link) this.#stderr = link.stderr;
    await link?.close();
  }

  #log(line: string): void {
    this.#events.log(`${this.config.name}: ${line}`);
  }

  #set(state: ConnectionState, reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#since = Date.now();
    if (state !== 'starting') this.#log(`${state}${reason ? `: ${reason}` : ''}`);
    this.#events.onChange();
  }
}

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
}
