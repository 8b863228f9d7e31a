import type { ServerResponse } from 'node:http';
import { METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import type { RequestId } from '../../link/frames.ts';
import type { Exchange } from './exchange.ts';
import { MISSING_CLIENT_CAPABILITY } from './wire.ts';

const EVENTS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Statuses of errors that the revision gives one. All other answers have 200. */
const STATUSES: ReadonlyMap<number, number> = new Map([
  [METHOD_NOT_FOUND, 404],
  [MISSING_CLIENT_CAPABILITY, 400],
]);

/** Request over HTTP. Its answer is one JSON object, or a stream of events once there is something to send before. */
export class HttpExchange implements Exchange {
  readonly id: RequestId;
  readonly #response: ServerResponse;
  #answered = false;
  /** Whether the request was open at an earlier keep-alive. */
  #isLong = false;

  /** Calls `onGone` if the client closes the connection before the answer, which cancels the request. */
  constructor(id: RequestId, response: ServerResponse, onGone: (exchange: HttpExchange) => void) {
    this.id = id;
    this.#response = response;
    response.once('close', () => {
      if (!this.#answered) onGone(this);
    });
  }

  notify(frame: string | Buffer): void {
    this.#openStream();
    this.#event(frame);
  }

  answer(frame: string | Buffer, code?: number): void {
    this.#answered = true;
    if (this.#response.headersSent) this.#event(frame);
    else {
      const status = (code === undefined ? undefined : STATUSES.get(code)) ?? 200;
      this.#response.writeHead(status, { 'content-type': 'application/json' });
      this.#response.write(frame);
    }
    this.#response.end();
  }

  /** Sends a comment, so that neither side takes a long call for a lost connection. */
  keepAlive(): void {
    if (this.#answered) return;
    // A stream has the status 200, so a request that will soon be refused must not open it.
    if (this.#isLong) this.#openStream();
    this.#isLong = true;
    if (this.#response.headersSent && !this.#response.writableNeedDrain) this.#response.write(': \n\n');
  }

  /** Settles when the client reads on; a client that reads nothing for `stallMs` is disconnected. */
  drained(stallMs: number): Promise<void> | undefined {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return undefined;
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        response.off('drain', settle).off('close', settle);
        resolve();
      };
      const timer = setTimeout(() => response.destroy(), stallMs);
      response.on('drain', settle).on('close', settle);
    });
  }

  #openStream(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, EVENTS);
  }

  #event(frame: string | Buffer): void {
    // A frame ends with a newline, and an event with an empty line.
    this.#response.write('event: message\ndata: ');
    this.#response.write(frame);
    this.#response.write('\n');
  }
}
