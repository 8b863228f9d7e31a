import { Oddities } from '../../mcp/wire/oddities.ts';
import type { UpstreamClient, UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';
import { OWN_BUSINESS } from '../connection/callOrigin.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from './upstreamLink.ts';

/** How the serving process was greeted: one that waits is greeted alike, so that nobody can tell them apart. */
export interface Greeting {
  options: UpstreamClientOptions;
  timeoutMs: number;
}

/** Whoever keeps the processes of a server that has a standby. */
export interface LinkKeeper {
  /** A process that serves from its start on is being greeted. */
  greeted(greeting: Greeting): void;
  /** Its end has begun; returns what whoever ended it waits for. */
  closing(ending: Promise<void>): Promise<void>;
}

export type OpenFor = (events: LinkEvents) => Promise<UpstreamLink>;

/**
 * The way to one process of a server that has a standby: it serves from its start on, or waits until it takes over.
 * What a waiting process says by itself reaches nobody, but for news of its last tenth of a second, which are held back
 * that long (notificationPace.ts) and are of the one that serves by then.
 */
export class StandbyLink implements UpstreamLink {
  readonly #inner: UpstreamLink;
  readonly #waits: boolean;
  readonly #keeper: LinkKeeper;
  readonly #audience: { events: LinkEvents };
  /** What is odd in it counts as the server's once it serves. */
  readonly #oddities = new Oddities((oddity) => {
    if (oddity !== 'unknown_response' || this.#serves) return;
    this.#audience.events.onLost('It answered too much that nobody asked.', 'unknown_id_flood');
  });
  #client: UpstreamClient | undefined;
  #serves: UpstreamClientOptions | undefined;
  #knowsRoots = false;

  private constructor(inner: UpstreamLink, waits: boolean, keeper: LinkKeeper, audience: { events: LinkEvents }) {
    this.#inner = inner;
    this.#waits = waits;
    this.#keeper = keeper;
    this.#audience = audience;
  }

  static async open(
    openLink: OpenFor,
    keeper: LinkKeeper,
    events: LinkEvents,
    { waits }: { waits: boolean },
  ): Promise<StandbyLink> {
    const audience = { events };
    const inner = await openLink({
      onLost: (reason, code) => audience.events.onLost(reason, code),
      log: (line) => audience.events.log(line),
      scrubSecrets: (text) => audience.events.scrubSecrets(text),
    });
    return new StandbyLink(inner, waits, keeper, audience);
  }

  get pid(): number | undefined {
    return this.#inner.pid;
  }

  get stderr(): readonly string[] {
    return this.#inner.stderr;
  }

  /** It has taken over. */
  get serves(): boolean {
    return this.#serves !== undefined;
  }

  /** Whether it waits and could serve. */
  get isReserve(): boolean {
    return this.#client?.closed === false && !this.#serves;
  }

  /** It takes over: who serves hears of its end, and the next `connect` has nothing left to wait for. */
  takeOver(events: LinkEvents): void {
    this.#audience.events = events;
    this.#serves = {};
  }

  async connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient> {
    if (this.#serves) return this.#goOn(options);
    if (!this.#waits) {
      this.#keeper.greeted({ options, timeoutMs });
      return this.#inner.connect(options, timeoutMs);
    }
    this.#client = await this.#inner.connect(this.#heldBack(options), timeoutMs);
    return this.#client;
  }

  async #goOn(options: UpstreamClientOptions): Promise<UpstreamClient> {
    const client = this.#client;
    if (!client || client.closed) throw new LinkFailure('It ended as it took over.', 'connection_lost');
    this.#serves = options;
    if (options.oddities) this.#oddities.joins(options.oddities);
    // The folders it was told are the workspace's; the client that calls may have others.
    if (this.#knowsRoots) void client.notify('notifications/roots/list_changed').catch(() => undefined);
    return client;
  }

  /** The same for the process, and for nobody else until it serves. */
  #heldBack(options: UpstreamClientOptions): UpstreamClientOptions {
    return {
      ...options,
      oddities: this.#oddities,
      onNotification: (message) => this.#serves?.onNotification?.(message),
      onRequest: (message, signal) => {
        if (this.#serves) return this.#serves.onRequest?.(message, signal);
        // No client has anything to do with it, whatever calls the serving process has.
        this.#knowsRoots ||= message.method === 'roots/list';
        return options.onRequest?.({ ...message, origin: OWN_BUSINESS }, signal);
      },
    };
  }

  explain(error: unknown): Promise<LinkFailure> {
    return this.#inner.explain(error);
  }

  close(): Promise<void> {
    return this.#keeper.closing(this.#inner.close());
  }
}
