import type { Fault } from '../errors/fault.ts';
import type { Clock } from '../lib/clock.ts';
import type { HealthSnapshot } from './health.ts';
import type { RestartLimits } from './restartPolicy.ts';

/** Running thing that may end: a process, a socket to one, a session over HTTP. */
export interface Running<Handle> {
  handle: Handle;
  /** Resolves at the end, whatever caused it. */
  exited: Promise<Fault>;
}

export interface StartContext {
  generation: number;
  /** Aborted when the start is no longer wanted. */
  signal: AbortSignal;
  /** Reports that the process runs and is being initialised, for health. */
  initializing(): void;
}

export interface SupervisorOptions<Handle> {
  /** Starts it. Resolves when it is ready for calls. */
  start(context: StartContext): Promise<Running<Handle>>;
  /** Ends it and cleans up. Called once for each start, also after an end by itself. */
  end(handle: Handle): Promise<void>;
  /** Returns the fault of a failed start or a failed `exited`. */
  faultOf(error: unknown, generation: number): Fault;
  onReady?(handle: Handle, generation: number): void;
  /** Reports the loss of a ready process. The next start, if there is one, is under way or scheduled. */
  onLost?(generation: number, fault: Fault): void;
  /** Reports a failed start with its error. The next start, if there is one, is under way or scheduled. */
  onFailed?(fault: Fault, error: unknown): void;
  /** Reports that no start is near, so that waiting callers get an error. */
  onUnavailable?(error: UnavailableError): void;
  onChange?(health: HealthSnapshot): void;
  clock: Clock;
  limits?: RestartLimits;
}

/** Error for a process that is unavailable, for now or until the user acts. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly fault: Fault;
  /** Seconds until the next scheduled start. */
  readonly retryAfter: number | undefined;

  constructor(fault: Fault, retryAfter?: number) {
    super(fault.code);
    this.fault = fault;
    this.retryAfter = retryAfter;
  }
}
