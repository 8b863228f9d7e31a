import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { CallJournal } from '../ops/callJournal.ts';
import { DEFAULT_FACE, type Face } from '../ops/face.ts';
import { type Fault, faultOf } from '../ops/fault.ts';
import type { KnownFaultCode } from '../ops/faultCodes.ts';
import type { Terminal } from '../ops/journalCall.ts';
import { contractOf, type ReplayContract } from '../ops/replay.ts';
import {
  CONTRACT_NOTIFICATION,
  encodeMessage,
  errorResponse,
  ID_FORM,
  INVALID_REQUEST,
  isRequestId,
  type JsonRpcMessage,
  PARSE_ERROR,
  PRIVATE_PREFIX,
  peekId,
  peekIsError,
  peekResponseId,
  type RequestId,
  requestKey,
  resultResponse,
  STOPPED_NOTIFICATION,
  SUPERSEDED_NOTIFICATION,
} from '../protocol/frames.ts';
import { LineSplitter } from '../protocol/lineFraming.ts';
import { negotiateVersion } from '../protocol/mcpVersions.ts';
import { type ClientCall, faultAnswer, refusal } from './clientCall.ts';
import { HeldLogLevel } from './heldLogLevel.ts';
import { HeldSubscriptions } from './heldSubscriptions.ts';
import { INTRODUCTIONS } from './introductions.ts';
import type { Loss } from './workerConnection.ts';
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

/** How long a request waits for a worker before it is answered without one. */
const WORKER_WAIT_MS = 25_000;
/** What is still in flight at the end of input may finish; the host must be gone within a second. */
const DRAIN_MS = 700;
/** What is in flight is kept for its replay: a client that sends more without reading an answer is broken. */
const LIMITS = {
  maxCalls: 65_536,
  maxBytes: 64 * 1024 * 1024,
  maxWaiting: 65_536,
  /** A read that three workers in a row did not survive is what kills them. */
  maxReplays: 2,
  /** A host has nothing that it could ask about a call: the worker has. */
  maxProbes: 0,
  retryAfter: 1,
};
/** No client's own id. */
const INITIALIZE_ID = `waygate:${randomUUID()}`;
const SUBSCRIBE_ID = `${INITIALIZE_ID}:subscribe:`;
const LEVEL_ID = `${INITIALIZE_ID}:level`;

/**
 * One client's MCP session over stdio. It outlives every worker: `initialize` and `ping` are answered here (but for
 * `initialize` in passthrough mode, see `INTRODUCTIONS`), everything else is forwarded as it came, and what was in
 * flight when a worker was lost is treated by its replay contract.
 */
export class SessionHost {
  readonly #options: SessionHostOptions;
  readonly #journal: CallJournal<ClientCall, Buffer>;
  readonly #link: WorkerLink;
  readonly #logLevel = new HeldLogLevel();
  /** The client's `initialize`, as each worker is told of it. */
  #seed: JsonRpcMessage | undefined;
  readonly #subscriptions = new HeldSubscriptions();
  /** Its id, while the worker's answer to it is what the client waits for. */
  #initializing: RequestId | undefined;
  #initialized = false;
  #waitTimer: NodeJS.Timeout | undefined;
  /** Why there is no worker; what is asked meanwhile is not kept waiting. */
  #unreachable: Fault | undefined;
  #ended: (() => void) | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.#link = new WorkerLink({
      attach: options.attach,
      onAttached: (generation) => this.#onAttached(generation),
      isWaiting: () => this.#journal.size > 0 || this.#initializing !== undefined,
      onFrame: (frame, generation) => this.#onWorkerFrame(frame, generation),
      onDrain: () => void options.input.resume(),
      onLost: (generation, loss) => this.#onWorkerLost(generation, loss),
      onFailed: (reason) => this.#onUnreachable('spawn_failed', reason),
      onCrashLoop: () => this.#onUnreachable('crash_loop', 'it ended several times in a row'),
    });
    this.#journal = new CallJournal(
      {
        dispatch: ({ payload }, generation) => this.#dispatch(payload, generation),
        settle: ({ payload }, terminal) => this.#settle(payload, terminal),
      },
      LIMITS,
    );
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
    this.#waitForWorker();
    await ended;
    await this.#drained();
    // The client has stopped asking; what nobody has answered by now is not left open.
    const ending = this.#fault('stopped', 'the session ended');
    this.#failInitialize(ending);
    this.#journal.failAll(ending);
    clearTimeout(this.#waitTimer);
    this.#link.close();
    return this.#unreachable === undefined ? 0 : EXIT_NO_WORKER;
  }

  #drained(): Promise<void> {
    if (this.#journal.size === 0) return Promise.resolve();
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

  #failInitialize(fault: Fault): void {
    if (this.#initializing === undefined) return;
    this.#write(refusal({ id: this.#initializing, method: 'initialize' }, fault));
    this.#initializing = undefined;
    // The client may ask again.
    this.#seed = undefined;
  }

  #onNotification(message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'notifications/initialized') this.#initialized = true;
    if (message.method === 'notifications/cancelled') this.#cancel(message.params?.requestId, line);
    else this.#forward(line);
  }

  /** A cancelled request gets no answer and is never sent again; only who has it is told. */
  #cancel(id: unknown, line: Buffer): void {
    const cancelled = isRequestId(id) ? this.#journal.cancel(requestKey(id)) : undefined;
    if (cancelled?.generation === undefined) return;
    this.#pace(this.#link.sendTo(cancelled.generation, framed(line)));
  }

  #track(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    const method = message.method as string;
    // In passthrough mode a name is a server's, whatever it reads like.
    const tool = method === 'tools/call' && this.#face !== 'passthrough' ? message.params?.name : undefined;
    const uri = message.params?.uri;
    const payload: ClientCall = { id, method, uri: typeof uri === 'string' ? uri : undefined, frame: framed(line) };
    const admission = this.#journal.admit({
      id: requestKey(id),
      contract: contractOf(method, typeof tool === 'string' ? tool : undefined),
      payload,
      bytes: payload.frame.length,
      canProbe: false,
    });
    if (!admission.admitted) {
      this.#write(refusal(payload, admission.fault, admission.retryAfter));
      return;
    }
    this.#logLevel.note(message);
    if (this.#link.resting) this.#wake();
    else if (this.#unreachable !== undefined) {
      this.#journal.failWaiting(this.#unreachable);
      this.#link.connect();
    }
  }

  /** Notifications and answers to the server's requests: they mean nothing to a worker that did not ask. */
  #forward(line: Buffer): void {
    this.#pace(this.#link.sendToAll(framed(line)));
  }

  /** The client waits while a worker does not read. */
  #pace(mayGoOn: boolean | undefined): void {
    if (mayGoOn === false) this.#options.input.pause();
  }

  /** What the socket holds back has been sent too: only a worker that is gone takes nothing. */
  #dispatch({ frame }: ClientCall, generation: number): boolean {
    const mayGoOn = this.#link.sendTo(generation, frame);
    this.#pace(mayGoOn);
    return mayGoOn !== undefined;
  }

  #onAttached(generation: number): void {
    clearTimeout(this.#waitTimer);
    this.#unreachable = undefined;
    if (this.#seed) this.#introduce();
    this.#journal.open(generation);
  }

  /** Tells a worker what this session has negotiated; its answer is for nobody. */
  #introduce(): void {
    this.#link.send(Buffer.from(encodeMessage({ ...this.#seed, id: INITIALIZE_ID })));
    if (!this.#initialized) return;
    this.#link.send(Buffer.from(encodeMessage({ method: 'notifications/initialized' })));
    for (const frame of this.#logLevel.frames(LEVEL_ID)) this.#link.send(Buffer.from(frame));
    for (const frame of this.#subscriptions.frames(SUBSCRIBE_ID)) this.#link.send(Buffer.from(frame));
  }

  #onWorkerFrame(frame: Buffer, generation: number): void {
    if (isPrivate(frame)) {
      this.#onPrivateFrame(frame, generation);
      return;
    }
    const id = peekResponseId(frame);
    if (id === undefined) this.#toClient(frame);
    else if (id === INITIALIZE_ID) this.#onIntroduced(frame);
    else if (id !== LEVEL_ID && !(typeof id === 'string' && id.startsWith(SUBSCRIBE_ID))) {
      // Cancelled, or answered without its worker: one terminal reply an id.
      this.#journal.reply(generation, requestKey(id), frame);
    }
  }

  /** The worker's answer to `initialize` is the client's where that has not had one. */
  #onIntroduced(frame: Buffer): void {
    if (this.#initializing === undefined) return;
    const answer = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    this.#write(encodeMessage({ ...answer, id: this.#initializing }));
    this.#initializing = undefined;
  }

  /** What a worker tells its host alone. */
  #onPrivateFrame(frame: Buffer, generation: number): void {
    const { method, params } = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    if (method === STOPPED_NOTIFICATION) {
      this.#journal.retire(generation);
      this.#link.rest();
    } else if (method === SUPERSEDED_NOTIFICATION) {
      this.#journal.retire(generation);
      this.#waitForWorker();
      this.#link.supersede(generation);
    } else if (method === CONTRACT_NOTIFICATION) {
      const { id, contract } = params as { id: RequestId; contract: ReplayContract };
      this.#journal.reclassify(generation, requestKey(id), { contract, canProbe: false });
    }
  }

  #onWorkerLost(generation: number, loss: Loss): void {
    if (loss !== 'superseded') {
      this.#options.log(`worker lost (generation ${generation}), ${this.#journal.size} in flight`);
    }
    this.#journal.lose(generation, this.#fault(LOSS_CODES[loss], '', generation));
    if (!this.#link.attached && (!this.#link.resting || this.#journal.size > 0 || this.#initializing !== undefined))
      this.#wake();
  }

  #wake(): void {
    this.#waitForWorker();
    this.#link.wake();
  }

  #waitForWorker(): void {
    clearTimeout(this.#waitTimer);
    this.#waitTimer = setTimeout(() => this.#onUnreachable('handshake_timeout', ''), WORKER_WAIT_MS);
  }

  #onUnreachable(code: KnownFaultCode, reason: string): void {
    const fault = this.#fault(code, reason);
    if (this.#unreachable?.code !== code || this.#unreachable.detail !== fault.detail) {
      this.#options.log(reason === '' ? `no worker was there within ${WORKER_WAIT_MS / 1000} s` : reason);
    }
    this.#unreachable = fault;
    this.#failInitialize(fault);
    this.#journal.failWaiting(fault);
  }

  #fault(code: KnownFaultCode, detail: string, generation = this.#link.generation): Fault {
    return faultOf(code, { generation: Math.max(1, generation), detail }, (text) => text);
  }

  #settle(call: ClientCall, terminal: Terminal<Buffer>): void {
    if (terminal.kind === 'reply') {
      const { reply } = terminal;
      this.#link.proved();
      if (call.uri !== undefined && !peekIsError(reply)) this.#subscriptions.succeeded(call.method, call.uri);
      this.#toClient(reply);
    } else if (terminal.kind === 'fault') this.#write(faultAnswer(call, terminal));
    if (this.#journal.size === 0) this.#ended?.();
  }

  #toClient(frame: Buffer): void {
    const { output } = this.#options;
    // One system call where that is cheaper than the copy; the client has nothing before the newline.
    const isCopied = frame.length <= MAX_COPIED_BYTES;
    if (!isCopied) output.write(frame);
    if (!output.write(isCopied ? framed(frame) : NEWLINE)) this.#link.pause();
  }

  #write(frame: string): void {
    this.#options.output.write(frame);
  }
}

/** EX_UNAVAILABLE: the session ended without a worker. */
const EXIT_NO_WORKER = 69;
const NEWLINE = Buffer.from('\n');
const MAX_COPIED_BYTES = 64 * 1024;
const PRIVATE_HEAD = Buffer.from(`{"jsonrpc":"2.0","method":"${PRIVATE_PREFIX}`);

const LOSS_CODES = {
  gone: 'connection_lost',
  silent: 'unresponsive',
  superseded: 'drain_limit',
} as const satisfies Record<Loss, KnownFaultCode>;

function isPrivate(frame: Buffer): boolean {
  return frame.length > PRIVATE_HEAD.length && frame.subarray(0, PRIVATE_HEAD.length).equals(PRIVATE_HEAD);
}

function framed(line: Buffer): Buffer {
  return Buffer.concat([line, NEWLINE]);
}
