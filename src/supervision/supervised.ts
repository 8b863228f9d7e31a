import type { Fault } from '../errors/fault.ts';
import type { Clock } from '../lib/clock.ts';
import type { HealthSnapshot } from './health.ts';
import type { RestartLimits } from './restartPolicy.ts';

/** Whatever runs and may end: a process, a socket to one, a session over HTTP. */
export interface Running<Handle> {
  handle: Handle;
  /** Resolves when it has ended, whoever ended it. */
  exited: Promise<Fault>;
}

export interface StartContext {
  generation: number;
  /** Aborted when it is not wanted any more. */
  signal: AbortSignal;
  /** It runs; what follows is its greeting. For the health report. */
  initializing(): void;
}

export interface SupervisorOptions<Handle> {
  /** Resolves when it is ready for calls. */
  start(context: StartContext): Promise<Running<Handle>>;
  /** Ends it and clears away what is left of it. Called once for each that was started, also after it ended by itself. */
  end(handle: Handle): Promise<void>;
  /** What a failed start, or a failed `exited`, was. */
  faultOf(error: unknown, generation: number): Fault;
  onReady?(handle: Handle, generation: number): void;
  /** What was ready is gone; the next start, if there is one, is under way or has its time. */
  onLost?(generation: number, fault: Fault): void;
  /** A start has failed, by this error; the next, if there is one, is under way or has its time. */
  onFailed?(fault: Fault, error: unknown): void;
  /** No start is near: whoever waits should be told. */
  onUnavailable?(error: UnavailableError): void;
  onChange?(health: HealthSnapshot): void;
  clock: Clock;
  limits?: RestartLimits;
}

/** It cannot be had, now or until somebody does something about it. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly fault: Fault;
  /** Seconds until the next start, where one is planned. */
  readonly retryAfter: number | undefined;

  constructor(fault: Fault, retryAfter?: number) {
    super(fault.code);
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}
