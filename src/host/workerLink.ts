import type { Socket } from 'node:net';
import type { Fault } from '../ops/fault.ts';
import { HealthRecord, type HealthSnapshot } from '../ops/health.ts';
import { RestartPolicy } from '../ops/restartPolicy.ts';
import { faultAt } from './faultAt.ts';
import { WorkerUnavailableError } from './startWorker.ts';
import { type Loss, type LossFacts, WorkerConnection } from './workerConnection.ts';

export interface WorkerLinkOptions {
  /** `start`: one is started where none runs; without it there may be none to attach to. */
  attach: (signal: AbortSignal, start: boolean) => Promise<Socket | undefined>;
  onAttached(generation: number): void;
  /** Whether an answer is awaited: only then does silence mean anything. */
  isWaiting(): boolean;
  onFrame(frame: Buffer, generation: number): void;
  /** A worker reads again after `send` returned false. */
  onDrain(): void;
  onLost(generation: number, facts: LossFacts): void;
  /** What the last one said of its end, if anything. */
  lastWords?(): string | undefined;
  /**
   * No worker can be had: one could not be started, or one after the other has ended without having answered anything.
   * Another attempt follows. `line`: for a log.
   */
  onUnavailable(fault: Fault, line: string): void;
  /** For tests: how long a silent worker is trusted, and how long it may take to answer a ping. */
  silenceMs?: number;
  pingMs?: number;
}

const SILENCE_MS = 5_000;
const PING_MS = 10_000;
/** A worker that was replaced ends within ten seconds by itself; this is for one that hangs over it. */
const DRAIN_LIMIT_MS = 12_000;

/**
 * A session's connection to whatever worker there is: reattaches by itself, and counts the workers it has had. A
 * worker that was replaced keeps its connection until it has finished what it has.
 */
export class WorkerLink {
  readonly #options: WorkerLinkOptions;
  readonly #abort = new AbortController();
  readonly #restarts = new RestartPolicy(() => performance.now(), Math.random);
  readonly #health = new HealthRecord(() => performance.now());
  #current: WorkerConnection | undefined;
  readonly #draining = new Map<number, WorkerConnection>();
  #generation = 0;
  #connecting = false;
  #resting = false;
  #looping = false;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: WorkerLinkOptions) {
    this.#options = options;
    this.#health.countFailuresWith(() => this.#restarts.consecutiveFailures);
  }

  /** How it fares with its workers. */
  get health(): HealthSnapshot {
    return this.#health.snapshot();
  }

  get attached(): boolean {
    return this.#current !== undefined;
  }

  /** The worker has gone because it was asked to; the next `wake` looks for another. */
  get resting(): boolean {
    return this.#resting;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Attaches now, unless it is attached or at it; where workers keep ending, to one that somebody else has started. */
  connect(): void {
    if (this.#looping) this.#join();
    else this.#connect();
  }

  /** After the loss of this worker no other is looked for until there is a need. */
  rest(): void {
    this.#resting = true;
  }

  wake(): void {
    if (!this.#resting) return;
    this.#resting = false;
    this.connect();
  }

  /** The worker has a successor: that one is attached to, while this one finishes. */
  supersede(generation: number): void {
    const replaced = this.#current;
    if (replaced?.generation !== generation) return;
    this.#current = undefined;
    this.#draining.set(generation, replaced);
    replaced.drain(DRAIN_LIMIT_MS);
    this.connect();
  }

  /** The worker has answered somebody: whatever ended those before it does not end this one at once. */
  proved(): void {
    this.#restarts.reset();
  }

  /** Whether more may be sent at once; `onDrain` tells when it may again. */
  send(frame: Buffer): boolean {
    return this.#current?.send(frame) ?? true;
  }

  /** To one worker and no other; undefined when that is gone. */
  sendTo(generation: number, frame: Buffer): boolean | undefined {
    const one = this.#current?.generation === generation ? this.#current : this.#draining.get(generation);
    return one?.send(frame);
  }

  /** To every worker that is there: what one of them has asked for, the others do not know. */
  sendToAll(frame: Buffer): boolean {
    return this.#connections.map((one) => one.send(frame)).every(Boolean);
  }

  /** Stops reading while the client does not. */
  pause(): void {
    for (const one of this.#connections) one.pause();
  }

  resume(): void {
    for (const one of this.#connections) one.resume();
  }

  close(): void {
    this.#abort.abort();
    clearTimeout(this.#retryTimer);
    for (const one of this.#connections) one.close();
  }

  get #connections(): WorkerConnection[] {
    return [...this.#draining.values(), ...(this.#current ? [this.#current] : [])];
  }

  #connect(): void {
    if (this.#current || this.#connecting || this.#abort.signal.aborted) return;
    clearTimeout(this.#retryTimer);
    this.#connecting = true;
    const { consecutive_failures: failures } = this.health;
    this.#health.starting(this.#generation + 1, failures > 0);
    this.#options.attach(this.#abort.signal, true).then(
      (socket) => (socket ? this.#onSocket(socket) : this.#onFailure(new Error('no worker could be attached to'))),
      (error: Error) => this.#onFailure(error),
    );
  }

  #join(): void {
    if (this.#current || this.#connecting || this.#abort.signal.aborted) return;
    this.#connecting = true;
    const none = (): void => {
      this.#connecting = false;
    };
    this.#options.attach(this.#abort.signal, false).then((socket) => (socket ? this.#onSocket(socket) : none()), none);
  }

  #onSocket(socket: Socket): void {
    this.#connecting = false;
    if (this.#abort.signal.aborted) {
      socket.destroy();
      return;
    }
    const { isWaiting, onDrain, onFrame, silenceMs = SILENCE_MS, pingMs = PING_MS } = this.#options;
    const generation = ++this.#generation;
    clearTimeout(this.#retryTimer);
    this.#looping = false;
    this.#restarts.ready();
    this.#health.ready();
    this.#current = new WorkerConnection(
      generation,
      socket,
      {
        isWaiting,
        onDrain,
        onFrame: (frame) => onFrame(frame, generation),
        onClosed: (facts) => this.#onClosed(generation, facts),
      },
      { silenceMs, pingMs },
    );
    this.#options.onAttached(generation);
  }

  #onClosed(generation: number, facts: LossFacts): void {
    const wasCurrent = !this.#draining.delete(generation);
    if (wasCurrent) this.#current = undefined;
    if (this.#abort.signal.aborted) return;
    const resting = this.#resting;
    this.#options.onLost(generation, facts);
    this.#options.onDrain();
    if (!wasCurrent) return;
    if (resting) this.#health.ended('idle');
    else this.#retryAfterLoss(generation, facts.loss);
  }

  #retryAfterLoss(generation: number, loss: Loss): void {
    const words = this.#options.lastWords?.() ?? '';
    this.#failed(faultAt(generation, loss === 'silent' ? 'unresponsive' : 'exited', words));
    if (this.#looping) this.#options.onUnavailable(faultAt(generation, 'crash_loop', words), LOOPING);
  }

  #onFailure(error: Error): void {
    this.#connecting = false;
    if (this.#abort.signal.aborted) return;
    const why = error instanceof WorkerUnavailableError ? error.why : error.message;
    const fault = faultAt(this.#generation, 'spawn_failed', why);
    this.#failed(fault);
    this.#options.onUnavailable(fault, error.message);
  }

  /** It was lost, or could not be had: the next attempt comes at the pace of every process that is supervised. */
  #failed(fault: Fault): void {
    const decision = this.#restarts.failed(fault);
    // What a worker is lost by is never the person's to mend, so nothing is parked.
    const { delayMs, crashLoop } = decision.action === 'start' ? decision : { delayMs: 0, crashLoop: false };
    this.#looping = crashLoop;
    this.#health.failed(fault, crashLoop ? 'crash_loop' : 'backing_off', performance.now() + delayMs);
    this.#retryTimer = setTimeout(() => {
      this.#looping = false;
      this.#connect();
    }, delayMs);
  }
}

const LOOPING = 'it ended several times in a row';
