import { randomUUID } from 'node:crypto';
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { encodeMessage, peekResponseId } from '../../link/frames.ts';
import { LineSplitter } from '../../link/lineFraming.ts';

/** How a worker was lost: its socket closed, it hung, or it was replaced and took too long to finish. */
export type Loss = 'gone' | 'silent' | 'superseded';

export interface LossFacts {
  loss: Loss;
  /** The host has read everything that the worker wrote. */
  readToEnd: boolean;
}

export interface WorkerConnectionEvents {
  /** Reports whether an answer is awaited; silence has a meaning only then. */
  isWaiting(): boolean;
  onFrame(frame: Buffer): void;
  onDrain(): void;
  /** Reports whether the worker's event loop has run since the last call, even if it had no time to answer. */
  hasBeaten(): boolean;
  onClosed(facts: LossFacts): void;
  /** Ends the process of a worker that does not answer. Resolves to whether the process has ended. */
  endSilent?(): Promise<boolean>;
}

export interface SilenceLimits {
  /**
   * Silence after which the host sends a ping. Calls may take minutes, but a healthy worker answers a ping meanwhile.
   */
  silenceMs: number;
  /**
   * Limit for the answer to the ping. Longer than any work that keeps a worker from its socket on a machine that swaps.
   */
  pingMs: number;
}

const PING_ID = `waygate:${randomUUID()}`;

/** Socket of one session to one worker. */
export class WorkerConnection {
  readonly generation: number;
  readonly #socket: Socket;
  readonly #events: WorkerConnectionEvents;
  readonly #limits: SilenceLimits;
  #silenceTimer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  /** Pings without an answer. */
  #pings = 0;
  #paused = false;
  #loss: Loss = 'gone';
  #readToEnd = false;

  constructor(generation: number, socket: Socket, events: WorkerConnectionEvents, limits: SilenceLimits) {
    this.generation = generation;
    this.#socket = socket;
    this.#events = events;
    this.#limits = limits;
    // No limit here: the worker bounds its own frames.
    const splitter = new LineSplitter(
      { onLine: (frame) => this.#onFrame(frame), onOversize: () => socket.destroy() },
      Number.POSITIVE_INFINITY,
    );
    socket.on('data', (chunk: Buffer) => splitter.push(chunk));
    socket.on('drain', () => events.onDrain());
    socket.once('end', () => {
      this.#readToEnd = true;
    });
    // A process that exits with unread input resets its connection. The error arrives after everything the worker
    // wrote.
    socket.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'read' && !this.#paused) this.#readToEnd = true;
    });
    onWriteFailure(socket, () => {
      this.#readToEnd = readUnread(socket, (chunk) => splitter.push(chunk));
    });
    socket.once('close', () => {
      this.#stopTimers();
      events.onClosed({ loss: this.#loss, readToEnd: this.#readToEnd });
    });
    socket.resume();
    this.#watchSilence();
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  /** Sends a frame, together with the others of this step. Returns false while the worker does not read. */
  send(frame: Buffer): boolean {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      afterPendingInput(() => this.#socket.uncork());
    }
    return this.#socket.write(frame);
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  /** Lets a replaced worker finish, and closes its socket at the limit. */
  drain(limitMs: number): void {
    this.#loss = 'superseded';
    this.#drainTimer = setTimeout(() => this.#socket.destroy(), limitMs);
  }

  close(): void {
    this.#stopTimers();
    this.#socket.uncork();
    this.#socket.destroy();
  }

  #stopTimers(): void {
    clearTimeout(this.#silenceTimer);
    clearTimeout(this.#drainTimer);
  }

  /**
   * Detects a hung worker, which keeps its socket open: pings it after a silence and gives it up if it neither answers
   * nor beats.
   */
  #watchSilence(): void {
    clearTimeout(this.#silenceTimer);
    const { silenceMs, pingMs } = this.#limits;
    this.#silenceTimer = setTimeout(() => {
      // While the client does not read, neither does the host, so silence says nothing.
      if (this.#paused || !this.#events.isWaiting()) return this.#watchSilence();
      this.send(Buffer.from(encodeMessage({ id: PING_ID, method: 'ping' })));
      this.#pings += 1;
      this.#events.hasBeaten();
      const timer = setTimeout(() => {
        // If this process was held up itself, the answer may have arrived meanwhile: read first.
        setImmediate(() => this.#silenceTimer === timer && void this.#giveUp());
      }, pingMs);
      this.#silenceTimer = timer;
    }, silenceMs);
  }

  /** Gives up a silent worker. The process ends first, so that its output has an end and nothing begins any more. */
  async #giveUp(): Promise<void> {
    if (this.#paused || this.#events.hasBeaten()) return this.#watchSilence();
    if (this.#loss === 'gone') this.#loss = 'silent';
    const hasEnded = await this.#events.endSilent?.().catch(() => false);
    if (this.#socket.destroyed) return;
    if (hasEnded) this.#drainTimer = setTimeout(() => this.#socket.destroy(), READ_REST_MS);
    else this.#socket.destroy();
  }

  #onFrame(frame: Buffer): void {
    if (this.#pings === 0) this.#silenceTimer?.refresh();
    else this.#watchSilence();
    if (this.#pings > 0 && peekResponseId(frame) === PING_ID) this.#pings -= 1;
    else this.#events.onFrame(frame);
  }
}

/**
 * Runs the function when no output of the worker can be lost by a failed write. A Windows pipe closes then and drops
 * what was not read, so pending input comes first. Elsewhere `readUnread` reads it afterwards, and nothing has to wait
 * for another turn of the event loop.
 */
const afterPendingInput: (run: () => void) => void = process.platform === 'win32' ? setImmediate : process.nextTick;

/** Limit of reading what an ended worker wrote; the system closes its socket at once. */
const READ_REST_MS = 1_000;
const CHUNK_BYTES = 64 * 1024;

/**
 * Calls `act` before a failed write destroys the socket. Node would otherwise drop everything the worker wrote before
 * it ended.
 */
function onWriteFailure(socket: Socket, act: () => void): void {
  const close = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    if ((error as NodeJS.ErrnoException | null)?.syscall === 'write') act();
    close(error, done);
  };
}

/**
 * Reads the remaining bytes from the system. Returns whether that is all the worker wrote; always false for Windows
 * pipes, which have no descriptor.
 */
function readUnread(socket: Socket, onBytes: (chunk: Buffer) => void): boolean {
  const fd = (socket as { _handle?: { fd?: number } })._handle?.fd ?? -1;
  // Bytes buffered in the stream would have to come first.
  if (fd < 0 || socket.readableLength > 0) return false;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const bytes = readSync(fd, chunk);
      if (bytes === 0) return true;
      onBytes(chunk.subarray(0, bytes));
    } catch (error) {
      // A process that exits with unread input resets its connection; the reset follows all its output.
      return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    }
  }
}
