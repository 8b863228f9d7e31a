import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { encodeMessage, peekResponseId } from '../protocol/frames.ts';
import { LineSplitter } from '../protocol/lineFraming.ts';

export interface WorkerLinkOptions {
  attach: (signal: AbortSignal) => Promise<Socket>;
  onAttached(): void;
  /** Whether an answer is awaited: only then does silence mean anything. */
  isWaiting(): boolean;
  onFrame(frame: Buffer): void;
  /** The worker reads again after `send` returned false. */
  onDrain(): void;
  onLost(generation: number): void;
  /** No worker could be had; another attempt follows. */
  onFailed(reason: string): void;
  /** For tests: how long a silent worker is trusted, and how long it may take to answer a ping. */
  silenceMs?: number;
  pingMs?: number;
}

/** Calls may take minutes; a worker that runs answers a ping meanwhile. */
const SILENCE_MS = 5_000;
/** Longer than any work that keeps a worker from its socket on a machine that swaps. */
const PING_MS = 10_000;
const PING_ID = `waygate:${randomUUID()}`;

/** Recovery starts when the loss is seen; only a worker that keeps failing is waited for. */
const RETRY_DELAYS_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 5_000];

/** A session's connection to whatever worker there is: reattaches by itself, and counts the workers it has had. */
export class WorkerLink {
  readonly #options: WorkerLinkOptions;
  readonly #abort = new AbortController();
  #socket: Socket | undefined;
  #generation = 0;
  #failures = 0;
  #connecting = false;
  #resting = false;
  #leaving = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #paused = false;

  constructor(options: WorkerLinkOptions) {
    this.#options = options;
  }

  get attached(): boolean {
    return this.#socket !== undefined;
  }

  /** The worker has gone because it was asked to; the next `wake` looks for another. */
  get resting(): boolean {
    return this.#resting;
  }

  /** It has said that it goes and is still there: nothing more is sent to it. */
  get leaving(): boolean {
    return this.#leaving;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Attaches now, unless it is attached or at it. */
  connect(): void {
    if (this.#socket || this.#connecting || this.#abort.signal.aborted) return;
    clearTimeout(this.#retryTimer);
    this.#connecting = true;
    this.#options.attach(this.#abort.signal).then(
      (socket) => this.#onSocket(socket),
      (error: Error) => this.#onFailure(error),
    );
  }

  /** After the loss of this worker no other is looked for until there is a need. */
  rest(): void {
    this.#resting = true;
    this.#leaving = true;
  }

  wake(): void {
    if (!this.#resting) return;
    this.#resting = false;
    this.connect();
  }

  /** Whether more may be sent at once; `onDrain` tells when it may again. */
  send(frame: Buffer): boolean {
    return this.#socket?.write(frame) ?? true;
  }

  /** Stops reading while the client does not. */
  pause(): void {
    this.#paused = true;
    this.#socket?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket?.resume();
  }

  close(): void {
    this.#abort.abort();
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#socket?.destroy();
  }

  #onSocket(socket: Socket): void {
    this.#connecting = false;
    if (this.#abort.signal.aborted) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#generation += 1;
    // The worker bounds its own frames; what it sends is never too long for us.
    const splitter = new LineSplitter(
      { onLine: (frame) => this.#onFrame(frame), onOversize: () => socket.destroy() },
      Number.POSITIVE_INFINITY,
    );
    socket.on('data', (chunk: Buffer) => splitter.push(chunk));
    socket.on('drain', () => this.#options.onDrain());
    socket.once('close', () => this.#onClosed());
    socket.resume();
    this.#paused = false;
    this.#awaitWord();
    this.#options.onAttached();
  }

  /** A worker that hangs keeps its socket open: it is asked, and given up when it stays silent. */
  #awaitWord(): void {
    clearTimeout(this.#silenceTimer);
    const { silenceMs = SILENCE_MS, pingMs = PING_MS } = this.#options;
    this.#silenceTimer = setTimeout(() => {
      // A client that does not read keeps us from hearing anything.
      if (this.#paused || !this.#options.isWaiting()) return this.#awaitWord();
      this.send(Buffer.from(encodeMessage({ id: PING_ID, method: 'ping' })));
      this.#silenceTimer = setTimeout(() => {
        if (this.#paused) this.#awaitWord();
        else this.#socket?.destroy();
      }, pingMs);
    }, silenceMs);
  }

  #onFrame(frame: Buffer): void {
    this.#failures = 0;
    this.#awaitWord();
    if (peekResponseId(frame) === PING_ID) return;
    this.#options.onFrame(frame);
  }

  #onClosed(): void {
    this.#socket = undefined;
    clearTimeout(this.#silenceTimer);
    this.#leaving = false;
    if (this.#abort.signal.aborted) return;
    const resting = this.#resting;
    this.#options.onLost(this.#generation);
    this.#options.onDrain();
    if (!resting) this.#retry();
  }

  #onFailure(error: Error): void {
    this.#connecting = false;
    if (this.#abort.signal.aborted) return;
    this.#options.onFailed(error.message);
    this.#retry();
  }

  #retry(): void {
    const delay = RETRY_DELAYS_MS[Math.min(this.#failures, RETRY_DELAYS_MS.length - 1)] as number;
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => this.connect(), delay);
  }
}
