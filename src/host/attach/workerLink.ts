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
 * A session's connection to whatever worker there is. A supervisor keeps one attached; the link counts the workers it
 * has had, and a worker that was replaced keeps its connection until it has finished what it has.
 */
export class WorkerLink {
  readonly #options: WorkerLinkOptions;
  readonly #abort = new AbortController();
  readonly #supervisor: Supervisor<WorkerConnection>;
  /** They have a successor. */
  readonly #draining = new Map<number, WorkerConnection>();
  #generation = 0;
  /** The worker that was looked for last, whether it was found or not. */
  #sought = 1;
  #resting = false;
  #joining = false;
  /** Somebody else has started it: the start that comes now need not look for one. */
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

  /** How it fares with its workers. */
  get health(): HealthSnapshot {
    // An attempt that found none is not counted: there was no such worker.
    return { ...this.#supervisor.health, generation: this.#sought };
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
    if (this.#isLooping) void this.#join();
    else this.#supervisor.startNow();
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
    this.#draining.set(generation, replaced);
    replaced.drain(DRAIN_LIMIT_MS);
    void this.#supervisor.stop();
    this.connect();
  }

  /** The worker has answered somebody: whatever ended those before it does not end this one at once. */
  proved(): void {
    this.#supervisor.proved();
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
    void this.#supervisor.dispose();
    for (const one of this.#draining.values()) one.close();
  }

  /** One that has just closed is as good as gone, before its supervisor has heard of it. */
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
    if (!socket) throw new Error('no worker could be attached to');
    return this.#connectionOver(socket);
  }

  async #join(): Promise<void> {
    if (this.#joining) return;
    this.#joining = true;
    this.#found = await this.#options.attach(this.#abort.signal, false).catch(() => undefined);
    this.#joining = false;
    if (this.#found && this.#isLooping) this.#supervisor.startNow();
    // Its time has come meanwhile, or the session's end.
    else this.#found?.destroy();
    this.#found = undefined;
  }

  #connectionOver(socket: Socket): Running<WorkerConnection> {
    const { isWaiting, onDrain, onFrame, silenceMs = SILENCE_MS, pingMs = PING_MS } = this.#options;
    const generation = ++this.#generation;
    const exited = deferred<Fault>();
    const handle = new WorkerConnection(
      generation,
      socket,
      {
        isWaiting,
        onDrain,
        onFrame: (frame) => onFrame(frame, generation),
        onClosed: (facts) => {
          if (!this.#abort.signal.aborted) exited.resolve(this.#onClosed(generation, facts));
        },
      },
      { silenceMs, pingMs },
    );
    return { handle, exited: exited.promise };
  }

  /** Its loss is told before another is looked for. */
  #onClosed(generation: number, facts: LossFacts): Fault {
    const hasSuccessor = this.#draining.delete(generation);
    // Who was asked to go has not failed.
    if (this.#resting && !hasSuccessor) void this.#supervisor.stop();
    this.#options.onLost(generation, facts);
    this.#options.onDrain();
    const code = facts.loss === 'silent' ? 'unresponsive' : 'exited';
    return faultAt(generation, code, this.#options.lastWords?.() ?? '');
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
