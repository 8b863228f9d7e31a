import type { Fault } from '../errors/fault.ts';

/** Base of every health report (O7.1). Names are wire names; reports add members. */
export interface HealthSnapshot {
  state: LifecycleState;
  /** Number of the start; 1 before the first. */
  generation: number;
  /** Time since the process became ready; 0 while it is not. */
  uptime_ms: number;
  consecutive_failures: number;
  /** Number of starts that followed an unrequested end. */
  restart_count: number;
  rollout: RolloutState;
  worker_handshake: HandshakeState;
  last_fault?: Fault;
  supervision: SupervisionState;
  /** Time until the next start, where known. */
  next_attempt_in_ms?: number;
}

/** Lifecycle state. `cold` is not down: nothing has needed the process yet, or it waits for the user. */
export type LifecycleState = 'cold' | 'starting' | 'ready' | 'recovering';
export type RolloutState = 'stable' | 'pending' | 'reloading';
export type HandshakeState = 'absent' | 'starting' | 'initializing' | 'ready' | 'failed';

/** State of the supervisor, finer than the lifecycle. */
export type SupervisionState =
  | 'idle'
  | 'starting'
  | 'running'
  | 'backing_off'
  | 'crash_loop'
  | 'needs_sign_in'
  | 'needs_configuration'
  | 'stopped';

const HANDSHAKE: Readonly<Record<SupervisionState, HandshakeState>> = {
  idle: 'absent',
  starting: 'starting',
  running: 'ready',
  backing_off: 'failed',
  crash_loop: 'failed',
  needs_sign_in: 'failed',
  needs_configuration: 'failed',
  stopped: 'absent',
};

/** Health of one supervised process. The supervisor writes it, everyone reads it. */
export class HealthRecord {
  readonly #now: () => number;
  #supervision: SupervisionState = 'idle';
  #generation = 1;
  #readySince: number | undefined;
  #failures: () => number = () => 0;
  #restarts = 0;
  #nextAttemptAt: number | undefined;
  #initializing = false;
  #lastFault: Fault | undefined;
  #rollout: RolloutState = 'stable';

  constructor(now: () => number) {
    this.#now = now;
  }

  get supervision(): SupervisionState {
    return this.#supervision;
  }

  /** Sets the source of the failure count. The count is read on demand, because a stable time resets it. */
  countFailuresWith(failures: () => number): void {
    this.#failures = failures;
  }

  starting(generation: number, isRestart: boolean): void {
    this.#generation = generation;
    if (isRestart) this.#restarts += 1;
    this.#to('starting');
  }

  /** Records that the process runs and is being initialised. */
  initializing(): void {
    this.#initializing = this.#supervision === 'starting';
  }

  ready(): void {
    this.#to('running');
    this.#readySince = this.#now();
  }

  failed(fault: Fault, next: Exclude<SupervisionState, 'idle' | 'starting' | 'running'>, attemptAt?: number): void {
    this.#lastFault = fault;
    this.#to(next);
    this.#nextAttemptAt = attemptAt;
  }

  /** Records a requested end: `idle` may be started again, `stopped` is final. */
  ended(state: 'idle' | 'stopped'): void {
    this.#to(state);
  }

  rollout(state: RolloutState): void {
    this.#rollout = state;
  }

  snapshot(): HealthSnapshot {
    const now = this.#now();
    return {
      state: this.#lifecycle,
      generation: this.#generation,
      uptime_ms: this.#readySince === undefined ? 0 : Math.round(now - this.#readySince),
      consecutive_failures: this.#failures(),
      restart_count: this.#restarts,
      rollout: this.#rollout,
      worker_handshake: this.#initializing ? 'initializing' : HANDSHAKE[this.#supervision],
      ...(this.#lastFault === undefined ? {} : { last_fault: this.#lastFault }),
      supervision: this.#supervision,
      ...(this.#nextAttemptAt === undefined
        ? {}
        : { next_attempt_in_ms: Math.max(0, Math.round(this.#nextAttemptAt - now)) }),
    };
  }

  get #lifecycle(): LifecycleState {
    switch (this.#supervision) {
      case 'running':
        return 'ready';
      case 'starting':
        // After a failure the process is recovering rather than starting.
        return this.#failures() > 0 ? 'recovering' : 'starting';
      case 'backing_off':
      case 'crash_loop':
        return 'recovering';
      default:
        return 'cold';
    }
  }

  #to(supervision: SupervisionState): void {
    this.#supervision = supervision;
    this.#readySince = undefined;
    this.#nextAttemptAt = undefined;
    this.#initializing = false;
  }
}
