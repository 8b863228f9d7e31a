import { setTimeout as sleep } from 'node:timers/promises';
import { faultOf } from '../../errors/fault.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { UnderWay } from '../../lib/underWay.ts';
import type { StandbyHealth, SupervisionState } from '../../supervision/health.ts';
import type { RestartLimits } from '../../supervision/restartPolicy.ts';
import type { Running, StartContext } from '../../supervision/supervised.ts';
import { Supervisor } from '../../supervision/supervisor.ts';
import { showsLife } from '../connection/liveness.ts';
import { type Greeting, type OpenFor, StandbyLink } from '../transports/standbyLink.ts';
import { type LinkEvents, LinkFailure, type UpstreamLink } from '../transports/upstreamLink.ts';
import { asLinkFailure, type Live, startServer } from './serverStart.ts';

export interface StandbyOptions {
  /** The way to a process of the server, a new one each time. */
  openLink: OpenFor;
  log(line: string): void;
  scrubSecrets(text: string): string;
  onChange(): void;
  limits?: RestartLimits | undefined;
  /** How often one that waits is asked for a sign of life. */
  checkMs?: number | undefined;
}

/** Whoever waits for the serving process goes first: a start takes a processor for a while. */
const PREPARE_AFTER_MS = 200;
/** One that hangs must not be found out by the call that it takes over for. */
const CHECK_MS = 30_000;

interface Reserve {
  link: StandbyLink;
  /** It serves from now on: the next one may be prepared. */
  taken(): void;
}

/** Keeps one more process of a server, started and initialised, which takes over when the serving one is lost. */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #supervisor: Supervisor<Reserve>;
  readonly #endings = new UnderWay();
  readonly #keeper = {
    greeted: (greeting: Greeting): void => {
      this.#greeting = greeting;
    },
    closing: (ending: Promise<void>): Promise<void> => this.#closing(ending),
  };
  #greeting: Greeting | undefined;
  readonly #preparing = new UnderWay();

  constructor(options: StandbyOptions) {
    this.#options = options;
    const { limits } = options;
    this.#supervisor = new Supervisor<Reserve>({
      start: (context) => {
        const start = this.#prepare(context);
        this.#preparing.add(start);
        return start;
      },
      end: async ({ link }) => {
        if (!link.serves) await link.close();
      },
      faultOf: (error, generation) => this.#faultOf(asLinkFailure(error), generation),
      onChange: () => this.#options.onChange(),
      clock: SYSTEM_CLOCK,
      ...(limits ? { limits } : {}),
    });
  }

  get isReady(): boolean {
    return this.#supervisor.handle?.link.isReserve === true;
  }

  get health(): StandbyHealth {
    const { worker_handshake: state, last_fault: fault } = this.#supervisor.health;
    const { pid } = this.#supervisor.handle?.link ?? {};
    return {
      state,
      ...(pid === undefined ? {} : { pid }),
      ...(state === 'failed' && fault ? { reason: fault.detail } : {}),
    };
  }

  /** The way to a process that is to serve: the one that waits, or else a new one. */
  async open(events: LinkEvents): Promise<UpstreamLink> {
    const reserve = this.#supervisor.handle;
    if (reserve?.link.isReserve) {
      reserve.link.takeOver(events);
      reserve.taken();
      events.log('its standby takes over');
      return reserve.link;
    }
    await this.#endings.over;
    return StandbyLink.open(this.#options.openLink, this.#keeper, events, { waits: false });
  }

  /** What the serving process is at: there is one in reserve while it serves, or is about to again. */
  follow(supervision: SupervisionState): void {
    if (supervision === 'running') this.#supervisor.start();
    else if (supervision !== 'starting' && supervision !== 'backing_off') void this.#supervisor.stop();
  }

  /** Resolves when no process is left, neither one that waits nor one that has served. */
  async stop(): Promise<void> {
    await this.#supervisor.dispose();
    await this.#preparing.over;
    await this.#endings.over;
  }

  async #prepare(context: StartContext): Promise<Running<Reserve>> {
    const { signal } = context;
    await sleep(PREPARE_AFTER_MS, undefined, { signal, ref: false });
    // Never more of them than two.
    await this.#endings.over;
    signal.throwIfAborted();
    const { openLink, log, scrubSecrets } = this.#options;
    const greeting = this.#greeting as Greeting;
    let link!: StandbyLink;
    const { handle, exited } = await startServer(context, {
      openLink: async (events) => {
        link = await StandbyLink.open(openLink, this.#keeper, events, { waits: true });
        return link;
      },
      // It follows one that may run.
      check: noop,
      onOpened: noop,
      clientOptions: () => greeting.options,
      timeoutMs: greeting.timeoutMs,
      onFailed: (failure) => log(`standby: failed: ${failure.message}`),
      onLost: (failure) => {
        if (!link.serves) log(`standby: lost: ${failure.message}`);
      },
      faultOf: (failure, generation) => this.#faultOf(failure, generation),
      end: (ended) => ended.close(),
      log: (line) => log(`standby: ${line}`),
      scrubSecrets,
    });
    const checks = setInterval(() => void this.#check(handle), this.#options.checkMs ?? CHECK_MS).unref();
    void exited.finally(() => clearInterval(checks));
    const taken = (): void => handle.lose(new LinkFailure('It took over for one that was lost.', 'exited'));
    return { handle: { link, taken }, exited };
  }

  async #check({ client, lose }: Live): Promise<void> {
    if (!(await showsLife(client))) lose(new LinkFailure('It stopped answering, so it was ended.', 'unresponsive'));
  }

  /** Who takes over does not wait for what is left of the one before: they have been running side by side. */
  #closing(ending: Promise<void>): Promise<void> {
    this.#endings.add(ending);
    return this.isReady ? Promise.resolve() : ending;
  }

  #faultOf(failure: LinkFailure, generation: number) {
    return faultOf(failure.code, { generation, detail: failure.message }, this.#options.scrubSecrets);
  }
}

const noop = (): void => undefined;
