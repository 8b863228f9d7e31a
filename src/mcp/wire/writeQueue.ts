import type { Writable } from 'node:stream';
import { UpstreamRequestError } from './upstreamClient.ts';

export interface WriteQueueLimits {
  /** Bytes that may wait for a server that does not read. */
  bytes: number;
  /** Frames that may wait after `stallMs` without any reading. */
  stalledFrames: number;
  stallMs: number;
  /** Frames that may wait at all. */
  frames: number;
}

/**
 * Limits of a write queue. A burst of calls fills the pipe for a moment, which is no fault; a server that does not read
 * for seconds is one.
 */
export const WRITE_QUEUE_LIMITS: WriteQueueLimits = {
  bytes: 8 * 1024 * 1024,
  stalledFrames: 64,
  stallMs: 2_000,
  frames: 4_096,
};

interface Waiting {
  frame: string;
  bytes: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Queue of frames on their way to a server, in order and within bounds. All of them settle when the server is gone. */
export class WriteQueue {
  readonly #output: Writable;
  readonly #limits: WriteQueueLimits;
  readonly #onRefused: (() => void) | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Time since which the stream accepts nothing. */
  #blockedAt: number | undefined;
  #closed = false;

  constructor(output: Writable, onRefused?: () => void, limits: WriteQueueLimits = WRITE_QUEUE_LIMITS) {
    this.#output = output;
    this.#limits = limits;
    this.#onRefused = onRefused;
    output.on('drain', () => this.#drained());
  }

  /** Resolves when the frame is on its way. Rejects without having sent anything when it cannot be. */
  write(frame: string): Promise<void> {
    if (this.#closed || this.#output.destroyed || this.#output.writableEnded) return Promise.reject(gone());
    if (this.#blockedAt === undefined) {
      this.#hand(frame);
      return Promise.resolve();
    }
    const bytes = Buffer.byteLength(frame);
    const why = this.#fullness(bytes);
    if (why !== undefined) {
      this.#onRefused?.();
      return Promise.reject(new UpstreamRequestError('busy', `it does not read its input: ${why}`));
    }
    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => this.#waiting.push({ frame, bytes, resolve, reject }));
  }

  close(): void {
    this.#closed = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const { reject } of waiting) reject(gone());
  }

  #hand(frame: string): void {
    if (!this.#output.write(frame)) this.#blockedAt = performance.now();
  }

  #drained(): void {
    this.#blockedAt = undefined;
    while (this.#blockedAt === undefined) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      this.#hand(next.frame);
      next.resolve();
    }
  }

  #fullness(bytes: number): string | undefined {
    const { length } = this.#waiting;
    const isStalled = performance.now() - (this.#blockedAt ?? 0) >= this.#limits.stallMs;
    if (length >= (isStalled ? this.#limits.stalledFrames : this.#limits.frames)) return `${length} messages wait`;
    const total = this.#waitingBytes + this.#output.writableLength + bytes;
    return total > this.#limits.bytes ? `${total} bytes wait` : undefined;
  }
}

function gone(): Error {
  return new UpstreamRequestError('gone', 'the connection is closed');
}
