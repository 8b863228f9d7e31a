import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../errors/fault.ts';
import { UnderWay } from '../../lib/underWay.ts';
import type { UpstreamClient, UpstreamClientOptions } from '../../mcp/wire/upstreamClient.ts';
import type { Running, StartContext } from '../../supervision/supervised.ts';
import type { ConnectionServices } from '../connection/connectionServices.ts';
import type { CatalogKeeper } from '../listing/catalogKeeper.ts';
import type { LinkEvents, LinkFailure, UpstreamLink } from '../transports/upstreamLink.ts';
import { type Live, type StartTerms, startServer } from './serverStart.ts';
import { StartPatience } from './startPatience.ts';

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;

export interface StartsPorts extends Pick<StartTerms, 'check' | 'onLost' | 'onFailed' | 'log' | 'scrubSecrets'> {
  services: ConnectionServices;
  openLink(events: LinkEvents): Promise<UpstreamLink>;
  clientOptions(): UpstreamClientOptions;
  keeper(): CatalogKeeper;
  faultOf(failure: LinkFailure, generation: number): Fault;
  /** A start has come so far that the server runs. */
  onOpened(): void;
  /** It takes longer than it should; `slowNote` says so. */
  onSlow(): void;
  /** What ran does so no more. */
  onEnd(): void;
}

/** The starts of one server, one after the other, and what is left of each. */
export class ServerStarts {
  readonly #ports: StartsPorts;
  readonly #patience: StartPatience;
  /** The start that is under way. */
  #opening: UpstreamLink | undefined;
  /** The client of a first start, whose tools are being listed before it is ready. */
  #firstClient: UpstreamClient | undefined;
  #slowNote: string | undefined;
  #stderr: readonly string[] = [];
  /** When it may be asked again, where it has said so. */
  #notBefore = 0;
  #opens: Promise<void> | undefined;
  readonly #endings = new UnderWay();

  constructor(ports: StartsPorts) {
    this.#ports = ports;
    const { services } = ports;
    this.#patience = new StartPatience({
      firstMs: () => services.startTimeoutMs?.() ?? START_TIMEOUT_MS,
      againMs: services.restartTimeoutMs,
    });
  }

  get opening(): UpstreamLink | undefined {
    return this.#opening;
  }

  get firstClient(): UpstreamClient | undefined {
    return this.#firstClient;
  }

  get slowNote(): string | undefined {
    return this.#slowNote;
  }

  /** What the last one said on stderr. */
  get stderr(): readonly string[] {
    return this.#stderr;
  }

  /** Seconds, where it has said when it may be asked again. */
  get retryAfter(): number | undefined {
    const left = (this.#notBefore - performance.now()) / 1_000;
    return left > 0 ? Math.ceil(left) : undefined;
  }

  open(context: StartContext): Promise<Running<Live>> {
    const open = this.#open(context);
    this.#opens = open.then(noop, noop);
    return open;
  }

  /** Resolves when nothing of a start is left. */
  end(link: UpstreamLink): Promise<void> {
    this.#stderr = link.stderr;
    this.#ports.onEnd();
    const ending = link.close();
    this.#endings.add(ending);
    return ending;
  }

  /** Resolves when nothing of any start is left. */
  async over(): Promise<void> {
    await Promise.all([this.#opens, this.#endings.over]);
  }

  async #open(context: StartContext): Promise<Running<Live>> {
    // A successor must not meet what is left of its predecessor.
    await this.#endings.over;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal: context.signal, ref: false }).catch(() => undefined);
    const began = performance.now();
    const { limitMs, slowAfterMs } = this.#patience;
    const slow = setTimeout(() => this.#startsSlowly(slowAfterMs, limitMs), slowAfterMs);
    try {
      const started = await startServer(context, this.#terms(limitMs));
      this.#patience.started(performance.now() - began);
      return started;
    } finally {
      clearTimeout(slow);
      this.#slowNote = undefined;
      this.#opening = undefined;
      this.#firstClient = undefined;
    }
  }

  #terms(timeoutMs: number): StartTerms {
    const { keeper, onOpened, ...ports } = this.#ports;
    const listFirst = async (client: UpstreamClient): Promise<void> => {
      this.#firstClient = client;
      await keeper().listFirst(client);
    };
    return {
      ...ports,
      timeoutMs,
      ...(keeper().isKnown ? {} : { listFirst }),
      onOpened: (link) => {
        this.#opening = link;
        onOpened();
      },
      onFailed: (failure) => this.#onFailed(failure),
      end: (link) => this.end(link),
    };
  }

  #startsSlowly(afterMs: number, limitMs: number): void {
    const after = `${afterMs / 1_000} s`;
    this.#slowNote = this.#firstClient
      ? `It has started, and has not listed all its tools within ${after}.`
      : `It has not answered for ${after}; it is given ${limitMs / 1_000} s to start.`;
    this.#ports.log(this.#slowNote);
    this.#ports.onSlow();
  }

  #onFailed(failure: LinkFailure): void {
    this.#opening = undefined;
    if (failure.code === 'handshake_timeout') this.#patience.ranOut();
    if (failure.retryAfterSeconds) this.#notBefore = performance.now() + failure.retryAfterSeconds * 1_000;
    this.#ports.onFailed(failure);
  }
}

const noop = (): void => undefined;
