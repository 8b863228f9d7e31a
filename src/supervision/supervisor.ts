import { type Fault, faultFrom, faultOf } from '../errors/fault.ts';
import { UnderWay } from '../lib/underWay.ts';
import { HealthRecord, type HealthSnapshot, type RolloutState } from './health.ts';
import { type RestartDecision, RestartPolicy } from './restartPolicy.ts';
import { type Running, type SupervisorOptions, UnavailableError } from './supervised.ts';

/** Attempt, from a start to the end of the started process. */
interface Attempt<Handle> {
  readonly generation: number;
  readonly abort: AbortController;
  running?: Running<Handle>;
}

/** Keeps one process running: restarts it after an end, at the pace of its policy (O5.1). */
export class Supervisor<Handle> {
  readonly #options: SupervisorOptions<Handle>;
  readonly #policy: RestartPolicy;
  readonly #health: HealthRecord;
  readonly #waiters = new Waiters<Handle>();
  readonly #endings = new UnderWay();
  #attempt: Attempt<Handle> | undefined;
  #generation = 0;
  #cancelTimer: (() => void) | undefined;
  /** Reason why a wanted process is not started. */
  #unavailable: { fault: Fault; attemptAt: number | undefined } | undefined;
  #disposed = false;

  constructor(options: SupervisorOptions<Handle>) {
    this.#options = options;
    const { clock, limits } = options;
    this.#policy = new RestartPolicy(clock.now, clock.random, limits);
    this.#health = new HealthRecord(clock.now);
    this.#health.countFailuresWith(() => this.#policy.consecutiveFailures);
  }

  get health(): HealthSnapshot {
    return this.#health.snapshot();
  }

  /** Handle of the ready process. */
  get handle(): Handle | undefined {
    return this.#attempt?.running?.handle;
  }

  /** Starts the process unless it is running, starting or backing off. */
  start(): void {
    if (this.#health.supervision === 'idle') this.#begin(false);
  }

  /** Starts the process before its time, also in a crash loop. The next failure still counts. */
  startNow(): void {
    if (this.#cancelTimer) this.#begin(true);
    else this.start();
  }

  /**
   * Returns the ready process, and starts it if necessary. Rejects at once with an `UnavailableError` where no start is
   * near.
   */
  ready(signal?: AbortSignal): Promise<Handle> {
    this.start();
    const { handle } = this;
    if (handle !== undefined) return Promise.resolve(handle);
    const unavailable = this.#unavailability();
    if (unavailable) return Promise.reject(unavailable);
    return this.#waiters.wait(signal);
  }

  /** Retries after a change that may help: a sign-in, another configuration, a request of the user. */
  retryNow(): void {
    this.#policy.reset();
    if (this.#disposed || this.#attempt) return;
    if (this.#health.supervision !== 'idle') this.#begin(false);
  }

  /** Call after the process has served something: resets the crash-loop count. */
  proved(): void {
    this.#policy.reset();
  }

  /** Stops the process. The next `start` or `ready` starts it again. */
  async stop(): Promise<void> {
    if (!this.#disposed) this.#quit('idle');
    await this.#endings.over;
  }

  /** Stops the process for good. */
  async dispose(): Promise<void> {
    if (!this.#disposed) {
      this.#disposed = true;
      this.#quit('stopped');
    }
    await this.#endings.over;
  }

  rollout(state: RolloutState): void {
    this.#health.rollout(state);
    this.#changed();
  }

  #begin(isRestart: boolean): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#unavailable = undefined;
    this.#generation += 1;
    const attempt: Attempt<Handle> = { generation: this.#generation, abort: new AbortController() };
    this.#attempt = attempt;
    this.#health.starting(attempt.generation, isRestart);
    this.#changed();
    void this.#run(attempt);
  }

  async #run(attempt: Attempt<Handle>): Promise<void> {
    const { generation, abort } = attempt;
    const { start, faultOf: toFault } = this.#options;
    let fault: Fault;
    let thrown: unknown;
    try {
      const initializing = (): void => {
        if (this.#attempt !== attempt) return;
        this.#health.initializing();
        this.#changed();
      };
      const running = await start({ generation, signal: abort.signal, initializing });
      if (this.#attempt !== attempt) {
        this.#end(running.handle);
        return;
      }
      attempt.running = running;
      this.#onReady(running.handle, generation);
      fault = await running.exited;
    } catch (error) {
      thrown = error;
      fault = toFault(error, generation);
    }
    if (this.#attempt === attempt) this.#onFailed(attempt, fault, thrown);
  }

  #onReady(handle: Handle, generation: number): void {
    this.#policy.ready();
    this.#health.ready();
    this.#options.onReady?.(handle, generation);
    this.#waiters.resolve(handle);
    this.#changed();
  }

  #onFailed({ generation, running }: Attempt<Handle>, fault: Fault, thrown: unknown): void {
    this.#attempt = undefined;
    if (running) this.#end(running.handle);
    const decision = this.#policy.failed(fault);
    this.#plan(decision, fault);
    if (running) this.#options.onLost?.(generation, fault);
    else this.#options.onFailed?.(fault, thrown);
    const unavailable = this.#unavailability();
    if (!unavailable) return;
    this.#waiters.reject(unavailable);
    this.#options.onUnavailable?.(unavailable);
  }

  #plan(decision: RestartDecision, fault: Fault): void {
    if (decision.action === 'park') {
      this.#unavailable = { fault, attemptAt: undefined };
      this.#health.failed(fault, decision.until === 'sign_in' ? 'needs_sign_in' : 'needs_configuration');
    } else {
      const { crashLoop, delayMs } = decision;
      const attemptAt = this.#options.clock.now() + delayMs;
      if (crashLoop) this.#unavailable = { fault: faultFrom('crash_loop', fault), attemptAt };
      this.#health.failed(fault, crashLoop ? 'crash_loop' : 'backing_off', attemptAt);
      // Without a delay, start in the same turn of the event loop.
      if (delayMs === 0) this.#begin(true);
      else this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#begin(true));
    }
    this.#changed();
  }

  #unavailability(): UnavailableError | undefined {
    if (this.#disposed) return new UnavailableError(this.#stoppedFault());
    if (!this.#unavailable) return undefined;
    const { fault, attemptAt } = this.#unavailable;
    if (attemptAt === undefined) return new UnavailableError(fault);
    return new UnavailableError(fault, Math.max(1, Math.ceil((attemptAt - this.#options.clock.now()) / 1_000)));
  }

  #quit(state: 'idle' | 'stopped'): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#unavailable = undefined;
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.abort.abort();
    if (attempt?.running) this.#end(attempt.running.handle);
    this.#policy.stopped();
    this.#health.ended(state);
    const stopped = this.#stoppedFault();
    if (attempt?.running) this.#options.onLost?.(attempt.generation, stopped);
    this.#waiters.reject(new UnavailableError(stopped));
    this.#changed();
  }

  #stoppedFault(): Fault {
    return faultOf('stopped', { generation: Math.max(1, this.#generation) }, (text) => text);
  }

  #end(handle: Handle): void {
    this.#endings.add(this.#options.end(handle));
  }

  #changed(): void {
    this.#options.onChange?.(this.health);
  }
}

interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Callers that wait for the same thing, each with its own signal. */
class Waiters<T> {
  readonly #waiters = new Set<Waiter<T>>();

  wait(signal: AbortSignal | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', onAbort);
        this.#waiters.delete(waiter);
      };
      const onAbort = (): void => waiter.reject(signal?.reason);
      const waiter: Waiter<T> = {
        resolve: (value) => {
          leave();
          resolve(value);
        },
        reject: (reason) => {
          leave();
          reject(reason);
        },
      };
      this.#waiters.add(waiter);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
  }

  resolve(value: T): void {
    for (const waiter of [...this.#waiters]) waiter.resolve(value);
  }

  reject(reason: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.reject(reason);
  }
}
