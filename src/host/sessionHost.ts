import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { DEFAULT_FACE, type Face } from '../ops/face.ts';
import { contractOf } from '../ops/replay.ts';
import {
  encodeMessage,
  errorResponse,
  ID_FORM,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isRequestId,
  type JsonRpcMessage,
  PARSE_ERROR,
  peekId,
  peekIsError,
  peekResponseId,
  type RequestId,
  requestKey,
  resultResponse,
  STOPPED_NOTIFICATION,
} from '../protocol/frames.ts';
import { LineSplitter } from '../protocol/lineFraming.ts';
import { negotiateVersion } from '../protocol/mcpVersions.ts';
import { HeldLogLevel } from './heldLogLevel.ts';
import { HeldSubscriptions } from './heldSubscriptions.ts';
import { INTRODUCTIONS } from './introductions.ts';
import { lostCallResponse, unreachableResponse } from './lostCall.ts';
import { WorkerLink } from './workerLink.ts';

export interface SessionHostOptions {
  input: Readable;
  output: Writable;
  /** A greeted socket of kind `session`; rejects with one sentence when there can be no worker. */
  attach: (signal: AbortSignal) => Promise<Socket>;
  /** How the client sees the servers; the same that `attach` asks the worker for. */
  face?: Face;
  log: (line: string) => void;
}

interface PendingRequest {
  id: RequestId;
  frame: Buffer;
  method: string;
  /** In a call of one of our own tools, its name. */
  tool: string | undefined;
  /** The resource, of a request about one. */
  uri: string | undefined;
  /** The worker's generation it was sent to; 0 while it waits. */
  sentTo: number;
  replays: number;
}

/** A read that three workers in a row did not survive is what kills them. */
const MAX_REPLAYS = 2;
/** How long a request waits for a worker before it is answered without one. */
const WORKER_WAIT_MS = 25_000;
/** What is still in flight at the end of input may finish; the host must be gone within a second. */
const DRAIN_MS = 700;
/** What is in flight is kept for its replay: a client that sends more without reading an answer is broken. */
const MAX_WAITING = 65_536;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** No client's own id. */
const INITIALIZE_ID = `waygate:${randomUUID()}`;
const SUBSCRIBE_ID = `${INITIALIZE_ID}:subscribe:`;
const LEVEL_ID = `${INITIALIZE_ID}:level`;

/**
 * One client's MCP session over stdio. It outlives every worker: `initialize` and `ping` are answered here (but for
 * `initialize` in passthrough mode, see `INTRODUCTIONS`), everything else is forwarded as it came, and what was in flight when a worker was lost is treated by its replay contract.
 */
export class SessionHost {
  readonly #options: SessionHostOptions;
  readonly #pending = new Map<string, PendingRequest>();
  #pendingBytes = 0;
  readonly #link: WorkerLink;
  readonly #logLevel = new HeldLogLevel();
  /** The client's `initialize`, as each worker is told of it. */
  #seed: JsonRpcMessage | undefined;
  readonly #subscriptions = new HeldSubscriptions();
  /** Its id, while the worker's answer to it is what the client waits for. */
  #initializing: RequestId | undefined;
  #initialized = false;
  #waitTimer: NodeJS.Timeout | undefined;
  #unreachable: string | undefined;
  #ended: (() => void) | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.#link = new WorkerLink({
      attach: options.attach,
      onAttached: () => this.#onAttached(),
      isWaiting: () => this.#pending.size > 0 || this.#initializing !== undefined,
      onFrame: (frame) => this.#onWorkerFrame(frame),
      onDrain: () => void options.input.resume(),
      onLost: (generation) => this.#onWorkerLost(generation),
      onFailed: (reason) => this.#onAttachFailed(reason),
    });
  }

  /** Serves until the input ends; then finishes what is in flight, within a bound. Resolves to an exit code. */
  async run(): Promise<number> {
    const splitter = new LineSplitter({
      onLine: (line) => this.#onClientLine(line),
      onOversize: (prefix, bytes) =>
        this.#write(
          errorResponse(
            peekId(prefix) ?? null,
            INVALID_REQUEST,
            `A message of ${bytes} bytes is too large; the limit is 16 MiB.`,
          ),
        ),
    });
    const { input, output } = this.#options;
    const ended = new Promise<void>((resolve) => {
      input.on('data', (chunk: Buffer) => splitter.push(chunk));
      // Broken streams tell so more than once.
      input.once('end', resolve).on('error', () => resolve());
      output.on('error', () => resolve());
      output.on('drain', () => this.#link.resume());
    });
    this.#link.connect();
    this.#waitTimer = setTimeout(() => this.#onWorkerMissing(), WORKER_WAIT_MS);
    await ended;
    await this.#drained();
    this.#answerTheRest();
    clearTimeout(this.#waitTimer);
    this.#link.close();
    return this.#unreachable === undefined ? 0 : EXIT_NO_WORKER;
  }

  #drained(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS);
      this.#ended = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #onClientLine(line: Buffer): void {
    let message: JsonRpcMessage;
    try {
      message = JSON.parse(line.toString('utf8')) as JsonRpcMessage;
    } catch {
      this.#write(errorResponse(null, PARSE_ERROR, 'The line is not JSON.'));
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      this.#write(
        errorResponse(null, INVALID_REQUEST, 'Each line must be one JSON-RPC message; batches are not part of MCP.'),
      );
    } else if (typeof message.method !== 'string') this.#forward(line);
    else if (message.id === undefined) this.#onNotification(message, line);
    else if (isRequestId(message.id)) this.#onRequest(message.id, message, line);
    else {
      const { id } = message as { id: unknown };
      const known = typeof id === 'string' || typeof id === 'number' ? id : null;
      this.#write(errorResponse(known, INVALID_REQUEST, `A request id must be ${ID_FORM}.`));
    }
  }

  #onRequest(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'ping') this.#write(resultResponse(id, {}));
    else if (message.method === 'initialize') this.#onInitialize(id, message);
    else this.#track(id, message, line);
  }

  #onInitialize(id: RequestId, message: JsonRpcMessage): void {
    if (this.#seed) {
      this.#write(errorResponse(id, INVALID_REQUEST, 'This session is initialized already.'));
      return;
    }
    const protocolVersion = negotiateVersion(message.params?.protocolVersion);
    this.#seed = { ...message, params: { ...message.params, protocolVersion } };
    const introduction = INTRODUCTIONS[this.#face];
    if (introduction) this.#write(resultResponse(id, { protocolVersion, ...introduction }));
    else this.#initializing = id;
    if (this.#link.attached) this.#introduce();
    else if (introduction) return;
    else if (this.#link.resting) this.#wake();
    else if (this.#unreachable !== undefined) {
      this.#failInitialize(this.#unreachable);
      this.#link.connect();
    }
  }

  get #face(): Face {
    return this.#options.face ?? DEFAULT_FACE;
  }

  #failInitialize(reason: string): void {
    if (this.#initializing === undefined) return;
    this.#write(errorResponse(this.#initializing, INTERNAL_ERROR, reason));
    this.#initializing = undefined;
    // The client may ask again.
    this.#seed = undefined;
  }

  #onNotification(message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'notifications/initialized') this.#initialized = true;
    if (message.method === 'notifications/cancelled') {
      // A cancelled request gets no answer and is never sent again.
      const id = message.params?.requestId;
      const pending = isRequestId(id) ? this.#pending.get(requestKey(id)) : undefined;
      if (pending) this.#forget(pending);
    }
    this.#forward(line);
  }

  #track(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    const key = requestKey(id);
    if (this.#pending.has(key)) {
      this.#write(errorResponse(id, INVALID_REQUEST, `Request id ${JSON.stringify(id)} is in flight already.`));
      return;
    }
    // In passthrough mode a name is a server's, whatever it reads like.
    const tool = message.method === 'tools/call' && this.#face !== 'passthrough' ? message.params?.name : undefined;
    const uri = message.params?.uri;
    const pending: PendingRequest = {
      id,
      frame: Buffer.concat([line, NEWLINE]),
      method: message.method as string,
      tool: typeof tool === 'string' ? tool : undefined,
      uri: typeof uri === 'string' ? uri : undefined,
      sentTo: 0,
      replays: 0,
    };
    if (this.#pending.size >= MAX_WAITING || this.#pendingBytes + line.length > MAX_WAITING_BYTES) {
      this.#write(unreachableResponse(pending, 'Too many requests are in flight; wait for their answers.'));
      return;
    }
    this.#logLevel.note(message);
    this.#pending.set(key, pending);
    this.#pendingBytes += pending.frame.length;
    // A worker that has said it goes would take the request with it.
    if (this.#link.resting) this.#wake();
    else if (this.#link.attached && !this.#link.leaving) this.#send(pending);
    else if (this.#unreachable !== undefined) {
      this.#answer(pending, unreachableResponse(pending, this.#unreachable));
      this.#link.connect();
    }
  }

  /** Notifications and answers to the server's requests: they mean nothing to a worker that did not ask. */
  #forward(line: Buffer): void {
    if (this.#link.attached) this.#toWorker(Buffer.concat([line, NEWLINE]));
  }

  #send(pending: PendingRequest): void {
    pending.sentTo = this.#link.generation;
    this.#toWorker(pending.frame);
  }

  #toWorker(frame: Buffer): void {
    if (!this.#link.send(frame)) this.#options.input.pause();
  }

  #onAttached(): void {
    clearTimeout(this.#waitTimer);
    this.#unreachable = undefined;
    if (this.#seed) this.#introduce();
    for (const pending of this.#pending.values()) if (pending.sentTo === 0) this.#send(pending);
  }

  /** Tells a worker what this session has negotiated; its answer is for nobody. */
  #introduce(): void {
    this.#link.send(Buffer.from(encodeMessage({ ...this.#seed, id: INITIALIZE_ID })));
    if (!this.#initialized) return;
    this.#link.send(Buffer.from(encodeMessage({ method: 'notifications/initialized' })));
    for (const frame of this.#logLevel.frames(LEVEL_ID)) this.#link.send(Buffer.from(frame));
    for (const frame of this.#subscriptions.frames(SUBSCRIBE_ID)) this.#link.send(Buffer.from(frame));
  }

  #onWorkerFrame(frame: Buffer): void {
    if (frame.equals(STOPPED_FRAME)) {
      this.#link.rest();
      return;
    }
    const id = peekResponseId(frame);
    if (id !== undefined) {
      if (id === INITIALIZE_ID) {
        this.#onIntroduced(frame);
        return;
      }
      if (id === LEVEL_ID || (typeof id === 'string' && id.startsWith(SUBSCRIBE_ID))) return;
      const pending = this.#pending.get(requestKey(id));
      // Cancelled, or answered without its worker: one terminal reply an id.
      if (!pending) return;
      this.#forget(pending);
      if (pending.uri !== undefined && !peekIsError(frame)) this.#subscriptions.succeeded(pending.method, pending.uri);
    }
    const { output } = this.#options;
    output.write(frame);
    if (!output.write(NEWLINE)) this.#link.pause();
    this.#settle();
  }

  /** The worker's answer to `initialize` is the client's where that has not had one. */
  #onIntroduced(frame: Buffer): void {
    if (this.#initializing === undefined) return;
    const answer = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    this.#write(encodeMessage({ ...answer, id: this.#initializing }));
    this.#initializing = undefined;
  }

  #onWorkerLost(generation: number): void {
    this.#options.log(`worker lost (generation ${generation}), ${this.#pending.size} in flight`);
    for (const pending of [...this.#pending.values()]) {
      if (pending.sentTo !== generation) continue;
      if (contractOf(pending.method, pending.tool) !== 'convergent') this.#answer(pending, lostCallResponse(pending));
      else if (pending.replays >= MAX_REPLAYS) {
        this.#answer(
          pending,
          unreachableResponse(pending, "Waygate's worker ended three times while it answered this."),
        );
      } else {
        pending.replays += 1;
        pending.sentTo = 0;
      }
    }
    if (!this.#link.resting || this.#pending.size > 0 || this.#initializing !== undefined) this.#wake();
  }

  #wake(): void {
    clearTimeout(this.#waitTimer);
    this.#waitTimer = setTimeout(() => this.#onWorkerMissing(), WORKER_WAIT_MS);
    this.#link.wake();
  }

  #onWorkerMissing(): void {
    this.#onAttachFailed(`Waygate's worker was not there within ${WORKER_WAIT_MS / 1000} s.`);
  }

  #onAttachFailed(reason: string): void {
    if (this.#unreachable !== reason) this.#options.log(reason);
    this.#unreachable = reason;
    this.#failInitialize(reason);
    for (const pending of [...this.#pending.values()]) {
      if (pending.sentTo === 0) this.#answer(pending, unreachableResponse(pending, reason));
    }
  }

  /** The client has stopped asking; what nobody has answered by now is not left open. */
  #answerTheRest(): void {
    this.#failInitialize('The session ended before the gateway was there.');
    for (const pending of [...this.#pending.values()]) {
      const reason = 'The session ended before the gateway was there.';
      this.#answer(pending, pending.sentTo === 0 ? unreachableResponse(pending, reason) : lostCallResponse(pending));
    }
  }

  #answer(pending: PendingRequest, response: string): void {
    this.#forget(pending);
    this.#write(response);
    this.#settle();
  }

  #forget(pending: PendingRequest): void {
    if (this.#pending.delete(requestKey(pending.id))) this.#pendingBytes -= pending.frame.length;
  }

  #settle(): void {
    if (this.#pending.size === 0) this.#ended?.();
  }

  #write(frame: string): void {
    this.#options.output.write(frame);
  }
}

/** EX_UNAVAILABLE: the session ended without a worker. */
const EXIT_NO_WORKER = 69;
const NEWLINE = Buffer.from('\n');
const STOPPED_FRAME = Buffer.from(encodeMessage({ method: STOPPED_NOTIFICATION }).trimEnd());
