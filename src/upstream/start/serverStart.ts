import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { deferred } from '../../lib/deferred.ts';
import type { UpstreamClient, UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';
import type { StartContext } from '../../supervision/supervised.ts';
import type { ConnectionServices } from '../connection/connectionServices.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from '../transports/upstreamLink.ts';

/** Phases of one start, in order; `ended` may follow any of them. */
export type StartPhase = 'waiting' | 'opening' | 'greeting' | 'listing' | 'ready' | 'ended';

/** A running server: its link and the client on it. */
export interface Live {
  readonly generation: number;
  readonly link: UpstreamLink;
  readonly client: UpstreamClient;
  /** True if the lists were known before the start; those beside the tools are refreshed once the server is ready. */
  readonly wasKnown: boolean;
  /** Reports the server as gone and ends it. */
  lose(failure: LinkFailure): void;
  /** Resolves when the server is lost, for any reason. */
  readonly lost: Promise<LinkFailure>;
}

export interface StartPorts {
  /** Resolves when the start may begin: earlier processes have ended, and so has a pause. */
  clear(): Promise<void>;
  openLink(onLost: LinkEvents['onLost']): Promise<UpstreamLink>;
  /** Throws if the server may not run. Called once the link is open, because an approval may be revoked meanwhile. */
  check(): void;
  clientOptions(): Promise<UpstreamClientOptions>;
  /** Whether the lists are known from an earlier start. */
  wasKnown: boolean;
  /** Lists the server: no call may reach a tool that has changed since the last start. */
  list(client: UpstreamClient): Promise<void>;
  /** The process runs, or the connection is open. */
  onOpened(): void;
  /** The start takes longer than usual; `slowNote` says so. */
  onSlow(): void;
  /** Closes the link and resolves when nothing of the start is left. */
  end(link: UpstreamLink): Promise<void>;
  log(line: string): void;
}

/** Starts a server, up to ready for calls. Cleans up after itself if it fails. */
export class ServerStart {
  readonly #ports: StartPorts;
  readonly #limits: StartLimits;
  readonly #exit = deferred<LinkFailure>();
  #phase: StartPhase = 'waiting';
  #link: UpstreamLink | undefined;
  #client: UpstreamClient | undefined;
  #slowNote: string | undefined;

  constructor(ports: StartPorts, limits: StartLimits) {
    this.#ports = ports;
    this.#limits = limits;
  }

  /** Link of a running start. */
  get link(): UpstreamLink | undefined {
    return this.#phase === 'ended' ? undefined : this.#link;
  }

  /** Client of a start while it lists the server. */
  get listingClient(): UpstreamClient | undefined {
    return this.#phase === 'listing' ? this.#client : undefined;
  }

  get slowNote(): string | undefined {
    return this.#slowNote;
  }

  async run(context: StartContext): Promise<Live> {
    const { signal } = context;
    let slow: NodeJS.Timeout | undefined;
    try {
      await this.#ports.clear();
      signal.throwIfAborted();
      const { limitMs, slowAfterMs } = this.#limits;
      slow = setTimeout(() => this.#startsSlowly(slowAfterMs, limitMs), slowAfterMs);
      const began = performance.now();
      const running = await this.#open(context, limitMs);
      this.#limits.started(performance.now() - began);
      return running;
    } catch (error) {
      const failure = this.#link ? await this.#link.explain(error) : asLinkFailure(error);
      this.#phase = 'ended';
      if (failure.code === 'handshake_timeout') this.#limits.timedOut();
      if (this.#link) await this.#ports.end(this.#link);
      throw failure;
    } finally {
      clearTimeout(slow);
    }
  }

  async #open({ generation, signal, initializing }: StartContext, limitMs: number): Promise<Live> {
    const { openLink, check, clientOptions, wasKnown, list, end } = this.#ports;
    this.#phase = 'opening';
    const link = await openLink((reason, code) => this.#exit.resolve(new LinkFailure(reason, code)));
    signal.addEventListener('abort', () => void end(link), { once: true });
    this.#link = link;
    // The user may have revoked the approval during the lookup of secrets.
    signal.throwIfAborted();
    check();
    this.#phase = 'greeting';
    this.#ports.onOpened();
    initializing();
    const client = await link.connect(await clientOptions(), limitMs);
    this.#client = client;
    this.#phase = 'listing';
    await list(client);
    const gone = await Promise.race([this.#exit.promise, undefined]);
    if (gone) throw gone;
    signal.throwIfAborted();
    this.#phase = 'ready';
    const { resolve: lose, promise: lost } = this.#exit;
    return { generation, link, client, wasKnown, lose, lost };
  }

  #startsSlowly(afterMs: number, limitMs: number): void {
    const after = `${afterMs / 1_000} s`;
    this.#slowNote =
      this.#phase === 'listing'
        ? `It has started but has not listed all its tools within ${after}.`
        : `It has not answered for ${after}; the limit for a start is ${limitMs / 1_000} s.`;
    this.#ports.log(this.#slowNote);
    this.#ports.onSlow();
  }
}

/** Converts whatever a start throws into a `LinkFailure`. */
export function asLinkFailure(error: unknown): LinkFailure {
  if (error instanceof LinkFailure) return error;
  return new LinkFailure(error instanceof Error ? error.message : String(error), 'spawn_failed');
}

/**
 * Limit of a start after a successful one, when nothing has to be downloaded. Of 269 measured servers the slowest
 * needed 6.6 s; a slower server gets `TIMES_ITS_SLOWEST` times its own maximum.
 */
const AGAIN_MS = 15_000;
const TIMES_ITS_SLOWEST = 4;

/** Limit of a first start. `npx` may have to download the server first, and only calls of this server wait. */
const START_TIMEOUT_MS = 60_000;

/** Limits of a start: until it is given up, and until it is reported as slow. */
export class StartLimits {
  readonly #config: () => ServerConfig;
  readonly #services: Pick<ConnectionServices, 'startTimeoutMs' | 'restartTimeoutMs'>;
  #slowestMs: number | undefined;

  constructor(config: () => ServerConfig, services: Pick<ConnectionServices, 'startTimeoutMs' | 'restartTimeoutMs'>) {
    this.#config = config;
    this.#services = services;
  }

  get limitMs(): number {
    const firstMs = this.#firstMs;
    if (this.#slowestMs === undefined) return firstMs;
    const wholeSeconds = Math.ceil((TIMES_ITS_SLOWEST * this.#slowestMs) / 1_000) * 1_000;
    return Math.min(firstMs, Math.max(this.#againMs, wholeSeconds));
  }

  get slowAfterMs(): number {
    return Math.min(this.#againMs, this.#firstMs / 2);
  }

  get #firstMs(): number {
    const { startTimeoutSeconds: own } = this.#config();
    return own === undefined ? (this.#services.startTimeoutMs?.() ?? START_TIMEOUT_MS) : own * 1_000;
  }

  get #againMs(): number {
    return this.#services.restartTimeoutMs ?? AGAIN_MS;
  }

  started(tookMs: number): void {
    this.#slowestMs = Math.max(this.#slowestMs ?? 0, tookMs);
  }

  /** Gives the next start the full time again after a timeout, because a download may be the reason. */
  timedOut(): void {
    this.#slowestMs = undefined;
  }
}
