import type { Socket } from 'node:net';
import type { Fault } from '../../errors/fault.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import type { HealthSnapshot } from '../../supervision/health.ts';
import type { Running } from '../../supervision/supervised.ts';
import { Supervisor } from '../../supervision/supervisor.ts';
import { faultAt } from '../session/faultAt.ts';
import { WorkerUnavailableError } from './startWorker.ts';
import { type LossFacts, WorkerConnection } from './workerConnection.ts';

export interface WorkerLinkOptions {
  /** Attaches to a worker. `start`: start a worker if none runs; otherwise resolve to `undefined`. */
  attach: (signal: AbortSignal, start: boolean) => Promise<Socket | undefined>;
  onAttached(generation: number): void;
  /** Reports whether an answer is awaited; silence has a meaning only then. */
  isWaiting(): boolean;
  onFrame(frame: Buffer, generation: number): void;
  /** The worker reads again after `send` returned false. */
  onDrain(): void;
  onLost(generation: number, facts: LossFacts): void;
  /** Returns a function that reports whether the attached worker's event loop has run since the last call. */
  heartbeat?(): () => boolean;
  /** Returns the reason that the last worker wrote when it ended, if any. */
  exitReason?(): string | undefined;
  /**
   * No worker is available: the start failed, or several workers in a row ended without an answer. Another attempt
   * follows. `line` is for the log.
   */
  onUnavailable(fault: Fault, line: string): void;
  /** Ends the worker at the other end of a socket, which does not answer. Resolves to whether its process has ended. */
  endSilent?: ((socket: Socket) => Promise<boolean>) | undefined;
  /** Limits for tests: silence before a ping, and the wait for its answer. */
  silenceMs?: number;
  pingMs?: number;
}

const SILENCE_MS = 5_000;
const PING_MS = 10_000;
/** Longer than the ten seconds within which a replaced worker ends by itself; covers a worker that hangs. */
const DRAIN_LIMIT_MS = 12_000;

/**
 * Keeps a session attached to a worker, with the help of a supervisor. Counts workers as generations. A replaced worker
 * keeps its connection until it has finished its calls.
 */
export class WorkerLink {
  readonly #options: WorkerLinkOptions;
  readonly #abort = new AbortController();
  readonly #supervisor: Supervisor<WorkerConnection>;
  /** Connections to replaced workers, by generation. */
  readonly #draining = new Map<number, WorkerConnection>();
  #generation = 0;
  /** Generation of the latest search, even if that search found no worker. */
  #sought = 1;
  #resting = false;
  #joining = false;
  /** Socket to a worker that another host started; the next start uses it instead of searching. */
  #found: Socket | undefined;

  constructor(options: WorkerLinkOptions) {
    this.#options = options;
    this.#supervisor = new Supervisor({
      start: ({ signal }) => this.#attach(signal),
      end: async (connection) => {
        if (!this.#draining.has(connection.generation)) connection.close();
      },
      faultOf: (error) => this.#faultOf(error as Error),
      onReady: ({ generation }) => options.onAttached(generation),
      onLost: (_, fault) => this.#onEnded(fault),
      onFailed: (fault, error) => options.onUnavailable(fault, (error as Error).message),
      clock: SYSTEM_CLOCK,
    });
  }

  /** Health of the link. */
  get health(): HealthSnapshot {
    // A search that found no worker does not count as a generation.
    return { ...this.#supervisor.health, generation: this.#sought };
  }

  get attached(): boolean {
    return this.#current !== undefined;
  }

  /** True after a requested stop of the worker; `wake` looks for the next one. */
  get resting(): boolean {
    return this.#resting;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Attaches now, unless attached or attaching. In a crash loop, joins only a worker that another host has started. */
  connect(): void {
    if (this.#isLooping) void this.#join();
    else this.#supervisor.startNow();
  }

  /** Stops the search for a successor after the loss of this worker, until `wake`. */
  rest(): void {
    this.#resting = true;
  }

  wake(): void {
    if (!this.#resting) return;
    this.#resting = false;
    this.connect();
  }

  /** Attaches to the successor of a replaced worker, which finishes its calls meanwhile. */
  supersede(generation: number): void {
    const replaced = this.#current;
    if (replaced?.generation !== generation) return;
    this.#draining.set(generation, replaced);
    replaced.drain(DRAIN_LIMIT_MS);
    void this.#supervisor.stop();
    this.connect();
  }

  /** Notes that the worker has answered, which resets the crash-loop count. */
  proved(): void {
    this.#supervisor.proved();
  }

  /** Sends a frame. Returns false while the worker does not read; `onDrain` follows. */
  send(frame: Buffer): boolean {
    return this.#current?.send(frame) ?? true;
  }

  /** Sends a frame to one generation only. Returns `undefined` if that worker is gone. */
  sendTo(generation: number, frame: Buffer): boolean | undefined {
    const one = this.#current?.generation === generation ? this.#current : this.#draining.get(generation);
    return one?.send(frame);
  }

  /** Sends a frame to every worker, including replaced ones: only the worker that asked knows the request. */
  sendToAll(frame: Buffer): boolean {
    return this.#connections.map((one) => one.send(frame)).every(Boolean);
  }

  /** Stops reading until the client reads again. */
  pause(): void {
    for (const one of this.#connections) one.pause();
  }

  resume(): void {
    for (const one of this.#connections) one.resume();
  }

  close(): void {
    this.#abort.abort();
    void this.#supervisor.dispose();
    for (const one of this.#draining.values()) one.close();
  }

  /** Current connection. Excludes a closed one that the supervisor has not yet noticed. */
  get #current(): WorkerConnection | undefined {
    const { handle } = this.#supervisor;
    return handle?.closed ? undefined : handle;
  }

  get #connections(): WorkerConnection[] {
    return [...this.#draining.values(), ...(this.#current ? [this.#current] : [])];
  }

  get #isLooping(): boolean {
    return this.#supervisor.health.supervision === 'crash_loop';
  }

  async #attach(signal: AbortSignal): Promise<Running<WorkerConnection>> {
    this.#sought = this.#generation + 1;
    const socket = this.#found ?? (await this.#options.attach(signal, true));
    if (!socket) throw new Error('no worker is running');
    return this.#connectionOver(socket);
  }

  async #join(): Promise<void> {
    if (this.#joining) return;
    this.#joining = true;
    this.#found = await this.#options.attach(this.#abort.signal, false).catch(() => undefined);
    this.#joining = false;
    if (this.#found && this.#isLooping) this.#supervisor.startNow();
    // The supervisor restarted meanwhile, or the session ended.
    else this.#found?.destroy();
    this.#found = undefined;
  }

  #connectionOver(socket: Socket): Running<WorkerConnection> {
    const { isWaiting, onDrain, onFrame, endSilent, silenceMs = SILENCE_MS, pingMs = PING_MS } = this.#options;
    const generation = ++this.#generation;
    const exited = deferred<Fault>();
    const handle = new WorkerConnection(
      generation,
      socket,
      {
        isWaiting,
        onDrain,
        hasBeaten: this.#options.heartbeat?.() ?? (() => false),
        ...(endSilent ? { endSilent: () => endSilent(socket) } : {}),
        onFrame: (frame) => onFrame(frame, generation),
        onClosed: (facts) => {
          if (!this.#abort.signal.aborted) exited.resolve(this.#onClosed(generation, facts));
        },
      },
      { silenceMs, pingMs },
    );
    return { handle, exited: exited.promise };
  }

  /** Reports the loss before the supervisor looks for another worker. */
  #onClosed(generation: number, facts: LossFacts): Fault {
    const hasSuccessor = this.#draining.delete(generation);
    // A requested stop is not a failure.
    if (this.#resting && !hasSuccessor) void this.#supervisor.stop();
    this.#options.onLost(generation, facts);
    this.#options.onDrain();
    const code = facts.loss === 'silent' ? 'unresponsive' : 'exited';
    return faultAt(generation, code, this.#options.exitReason?.() ?? '');
  }

  #onEnded({ generation, detail }: Fault): void {
    if (this.#isLooping) this.#options.onUnavailable(faultAt(generation, 'crash_loop', detail), LOOPING);
  }

  #faultOf(error: Error): Fault {
    const why = error instanceof WorkerUnavailableError ? error.why : error.message;
    return faultAt(this.#generation, 'spawn_failed', why);
  }
}

const LOOPING = 'it ended several times in a row';
