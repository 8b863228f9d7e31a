import { randomUUID } from 'node:crypto';
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { encodeMessage, peekResponseId } from '../../link/frames.ts';
import { LineSplitter } from '../../link/lineFraming.ts';

/** How a worker was lost: its socket closed, it hung, or it was replaced and took too long to finish. */
export type Loss = 'gone' | 'silent' | 'superseded';

export interface LossFacts {
  loss: Loss;
  /** Everything that it has written was read. */
  heardOut: boolean;
}

export interface WorkerConnectionEvents {
  /** Whether an answer is awaited: only then does silence mean anything. */
  isWaiting(): boolean;
  onFrame(frame: Buffer): void;
  onDrain(): void;
  onClosed(facts: LossFacts): void;
}

export interface SilenceLimits {
  /** Calls may take minutes; a worker that runs answers a ping meanwhile. */
  silenceMs: number;
  /** Longer than any work that keeps a worker from its socket on a machine that swaps. */
  pingMs: number;
}

const PING_ID = `waygate:${randomUUID()}`;

/** A session's socket to one worker, until that closes. */
export class WorkerConnection {
  readonly generation: number;
  readonly #socket: Socket;
  readonly #events: WorkerConnectionEvents;
  readonly #limits: SilenceLimits;
  #silenceTimer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #paused = false;
  #loss: Loss = 'gone';
  #heardOut = false;

  constructor(generation: number, socket: Socket, events: WorkerConnectionEvents, limits: SilenceLimits) {
    this.generation = generation;
    this.#socket = socket;
    this.#events = events;
    this.#limits = limits;
    // The worker bounds its own frames; what it sends is never too long for us.
    const splitter = new LineSplitter(
      { onLine: (frame) => this.#onFrame(frame), onOversize: () => socket.destroy() },
      Number.POSITIVE_INFINITY,
    );
    socket.on('data', (chunk: Buffer) => splitter.push(chunk));
    socket.on('drain', () => events.onDrain());
    socket.once('end', () => {
      this.#heardOut = true;
    });
    // Who ends with something unread resets its connection: what it has written is read before that is seen.
    socket.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      if (syscall === 'read' && !this.#paused) this.#heardOut = true;
    });
    onWriteFailure(socket, () => {
      this.#heardOut = readUnread(socket, (chunk) => splitter.push(chunk));
    });
    socket.once('close', () => {
      this.#stopTimers();
      events.onClosed({ loss: this.#loss, heardOut: this.#heardOut });
    });
    socket.resume();
    this.#awaitWord();
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  /**
   * Whether more may be sent at once. It leaves when all that has come until now is read: a pipe of Windows that could
   * not be written to is closed with the worker's last words in it.
   */
  send(frame: Buffer): boolean {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      setImmediate(() => this.#socket.uncork());
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

  /** It was replaced: it ends by itself when it has finished, and here at the limit. */
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

  /** A worker that hangs keeps its socket open: it is asked, and given up when it stays silent. */
  #awaitWord(): void {
    clearTimeout(this.#silenceTimer);
    const { silenceMs, pingMs } = this.#limits;
    this.#silenceTimer = setTimeout(() => {
      // A client that does not read keeps us from hearing anything.
      if (this.#paused || !this.#events.isWaiting()) return this.#awaitWord();
      this.send(Buffer.from(encodeMessage({ id: PING_ID, method: 'ping' })));
      this.#silenceTimer = setTimeout(() => {
        if (this.#paused) return this.#awaitWord();
        if (this.#loss === 'gone') this.#loss = 'silent';
        this.#socket.destroy();
      }, pingMs);
    }, silenceMs);
  }

  #onFrame(frame: Buffer): void {
    this.#awaitWord();
    if (peekResponseId(frame) !== PING_ID) this.#events.onFrame(frame);
  }
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Node closes a socket as soon as it could not write to it, and throws away what the other end had said before it went.
 * `act` comes before that.
 */
function onWriteFailure(socket: Socket, act: () => void): void {
  const close = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    if ((error as NodeJS.ErrnoException | null)?.syscall === 'write') act();
    close(error, done);
  };
}

/** What the other end has said and nobody has read. Whether that was everything: Windows' pipes have no descriptor. */
function readUnread(socket: Socket, onBytes: (chunk: Buffer) => void): boolean {
  const fd = (socket as { _handle?: { fd?: number } })._handle?.fd ?? -1;
  // What the stream itself holds comes before what the system does.
  if (fd < 0 || socket.readableLength > 0) return false;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const bytes = readSync(fd, chunk);
      if (bytes === 0) return true;
      onBytes(chunk.subarray(0, bytes));
    } catch (error) {
      // Who ends with something unread resets its connection: what it has written comes before that.
      return (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    }
  }
}
