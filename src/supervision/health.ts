import type { Fault } from '../errors/fault.ts';

/** Base of every health report (O7.1). Names are wire names; reports add members. */
export interface HealthSnapshot {
  state: LifecycleState;
  /** Which start this is; 1 before the first. */
  generation: number;
  /** Since it was last ready; 0 when it is not. */
  uptime_ms: number;
  consecutive_failures: number;
  /** Starts that followed an end which nobody had asked for. */
  restart_count: number;
  rollout: RolloutState;
  worker_handshake: HandshakeState;
  last_fault?: Fault;
  supervision: SupervisionState;
  /** When it is started next, where that is known. */
  next_attempt_in_ms?: number;
}

/** `cold` is not down: nobody has needed it yet, or it waits for the person. */
export type LifecycleState = 'cold' | 'starting' | 'ready' | 'recovering';
export type RolloutState = 'stable' | 'pending' | 'reloading';
export type HandshakeState = 'absent' | 'starting' | 'initializing' | 'ready' | 'failed';

/** What the supervisor is at: finer than the lifecycle. */
export type SupervisionState =
  | 'idle'
  | 'starting'
  | 'running'
  | 'backing_off'
  | 'crash_loop'
  | 'needs_sign_in'
  | 'needs_configuration'
  | 'stopped';

/** What can be told while there is no worker: by the host that looks for one, or by what was left on the disk. */
export interface HealthWithoutWorker extends HealthSnapshot {
  workspace: string;
  /** `cold`: nobody has asked for one since the last left. `down`: it cannot be had. */
  condition: 'cold' | 'down';
  /** Why, in one sentence each. */
  problems: readonly string[];
  /** Only a worker knows of them. */
  servers: readonly never[];
  worker_log?: string;
  /** Who looks for one. */
  host_pid?: number;
}

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

/** What is remembered of one supervised process; the supervisor writes, everybody reads. */
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

  /** `failures`: how many in a row at the time of asking, for a stable time makes them none. */
  countFailuresWith(failures: () => number): void {
    this.#failures = failures;
  }

  starting(generation: number, isRestart: boolean): void {
    this.#generation = generation;
    if (isRestart) this.#restarts += 1;
    this.#to('starting');
  }

  /** It runs and is being greeted. */
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

  /** It ended because it was asked to: `idle` may be started again, `stopped` is over. */
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
        // Once it has failed it is on its way back, not on its way.
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
