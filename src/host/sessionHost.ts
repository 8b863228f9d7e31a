import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { DEFAULT_FACE, type Face } from '../ops/face.ts';
import { type Fault, faultOf } from '../ops/fault.ts';
import type { KnownFaultCode } from '../ops/faultCodes.ts';
import type { Admission, Terminal } from '../ops/journalCall.ts';
import {
  encodeMessage,
  errorResponse,
  INVALID_REQUEST,
  isRequestId,
  type JsonRpcMessage,
  peekIsError,
  type RequestId,
  resultResponse,
} from '../protocol/frames.ts';
import { LineSplitter } from '../protocol/lineFraming.ts';
import { listKey } from '../protocol/movingSession.ts';
import { type ClientCall, type FaultTerminal, faultAnswer, refusal } from './clientCall.ts';
import { readClientLine, tooLarge } from './clientLine.ts';
import { HeldSession } from './heldSession.ts';
import { INTRODUCTIONS } from './introductions.ts';
import { EXIT_NO_WORKER } from './outage.ts';
import { journalCallOf, SessionCalls } from './sessionCalls.ts';
import { WithoutWorker } from './withoutWorker.ts';
import type { Loss, LossFacts } from './workerConnection.ts';
import { readWorkerFrame } from './workerFrame.ts';
import { WorkerLink } from './workerLink.ts';

export interface SessionHostOptions {
  input: Readable;
  output: Writable;
  /** A greeted socket of kind `session`; rejects with one sentence when there can be no worker. */
  attach: (signal: AbortSignal, start: boolean) => Promise<Socket | undefined>;
  /** Whose worker that is, and its folder in the state. */
  workspace: string;
  folder: string;
  /** How the client sees the servers; the same that `attach` asks the worker for. */
  face?: Face;
  log: (line: string) => void;
}

/** How long a request waits for a worker before it is answered without one. */
const WORKER_WAIT_MS = 25_000;
/** What is still in flight at the end of input may finish; the host must be gone within a second. */
const DRAIN_MS = 700;

/**
 * One client's MCP session over stdio. It outlives every worker: `initialize` and `ping` are answered here (but for
 * `initialize` in passthrough mode, see `INTRODUCTIONS`), everything else is forwarded as it came, and what was in
 * flight when a worker was lost is treated by its replay contract. What can be told while no worker can be had is.
 */
export class SessionHost {
  readonly #options: SessionHostOptions;
  readonly #calls: SessionCalls;
  readonly #link: WorkerLink;
  readonly #held = new HeldSession();
  readonly #withoutWorker: WithoutWorker;
  /** Its id, while the worker's answer to it is what the client waits for. */
  #initializing: RequestId | undefined;
  #waitTimer: NodeJS.Timeout | undefined;
  #ended: (() => void) | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.#link = new WorkerLink({
      attach: options.attach,
      onAttached: (generation) => this.#onAttached(generation),
      isWaiting: () => this.#calls.size > 0 || this.#initializing !== undefined,
      onFrame: (frame, generation) => this.#onWorkerFrame(frame, generation),
      onDrain: () => void options.input.resume(),
      onLost: (generation, facts) => this.#onWorkerLost(generation, facts),
      lastWords: () => this.#withoutWorker.lastWords(),
      onUnavailable: (fault, line) => this.#onUnreachable(fault, line),
    });
    const { workspace, folder } = options;
    this.#withoutWorker = new WithoutWorker({ workspace, folder, face: this.#face, health: () => this.#link.health });
    this.#calls = new SessionCalls(
      {
        dispatch: ({ payload }, generation) => this.#dispatch(payload, generation),
        settle: ({ payload }, terminal) => this.#settle(payload, terminal),
      },
      () => this.#link.generation,
      (call, admission) => this.#refuse(call, admission),
    );
  }

  /** Serves until the input ends; then finishes what is in flight, within a bound. Resolves to an exit code. */
  async run(): Promise<number> {
    const splitter = new LineSplitter({
      onLine: (line) => this.#onClientLine(line),
      onOversize: (prefix, bytes) => this.#write(tooLarge(prefix, bytes)),
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
    this.#calls.failAll(ending);
    clearTimeout(this.#waitTimer);
    this.#link.close();
    return this.#withoutWorker.fault === undefined ? 0 : EXIT_NO_WORKER;
  }

  #drained(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS);
      this.#ended = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #onClientLine(line: Buffer): void {
    const read = readClientLine(line);
    if (read.kind === 'refused') this.#write(read.answer);
    else if (read.kind === 'answer') this.#forward(line);
    else if (read.kind === 'notification') this.#onNotification(read.message, line);
    else if (read.kind === 'request') this.#onRequest(read.id, read.message, line);
  }

  #onRequest(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'ping') this.#write(resultResponse(id, {}));
    else if (message.method === 'initialize') this.#onInitialize(id, message);
    else this.#track(id, message, line);
  }

  #onInitialize(id: RequestId, message: JsonRpcMessage): void {
    if (this.#held.begun) {
      this.#write(errorResponse(id, INVALID_REQUEST, 'This session is initialized already.'));
      return;
    }
    const protocolVersion = this.#held.begin(message);
    const introduction = INTRODUCTIONS[this.#face];
    if (introduction) this.#write(resultResponse(id, { protocolVersion, ...introduction }));
    else this.#initializing = id;
    if (this.#link.attached) this.#introduce();
    else if (introduction) return;
    else if (this.#link.resting) this.#wake();
    else if (this.#withoutWorker.fault !== undefined) {
      this.#failInitialize(this.#withoutWorker.fault);
      this.#link.connect();
    }
  }

  get #face(): Face {
    return this.#options.face ?? DEFAULT_FACE;
  }

  #failInitialize(fault: Fault): void {
    if (this.#initializing === undefined) return;
    this.#write(refusal({ id: this.#initializing, method: 'initialize' }, fault, this.#withoutWorker));
    this.#initializing = undefined;
    this.#held.forgetBeginning();
  }

  #onNotification(message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'notifications/initialized') this.#held.noteInitialized();
    if (message.method === 'notifications/cancelled') this.#cancel(message.params?.requestId, line);
    else this.#forward(line);
  }

  /** A cancelled request gets no answer and is never sent again; only who has it is told. */
  #cancel(id: unknown, line: Buffer): void {
    const cancelled = isRequestId(id) ? this.#calls.cancel(id) : undefined;
    if (cancelled?.generation === undefined) return;
    this.#pace(this.#link.sendTo(cancelled.generation, framed(line)));
  }

  #track(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    const call = journalCallOf(id, message, framed(line), this.#face);
    const admission = this.#calls.admit(call, this.#held.tasks.runnerFor(message));
    if (!this.#refuse(call.payload, admission)) return;
    if (this.#link.resting) this.#wake();
    else if (this.#withoutWorker.fault !== undefined) {
      this.#calls.failWaiting(this.#withoutWorker.fault);
      this.#link.connect();
    }
  }

  /** Whether it was taken; one that was not is answered. */
  #refuse(call: ClientCall, admission: Admission): boolean {
    if (!admission.admitted) this.#write(refusal(call, admission.fault, admission));
    return admission.admitted;
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
    this.#withoutWorker.end();
    this.#introduce();
    this.#calls.open(generation);
  }

  /** Tells a worker what this session has negotiated; its answer is for nobody. */
  #introduce(): void {
    for (const frame of this.#held.frames()) this.#link.send(Buffer.from(frame));
  }

  #onWorkerFrame(frame: Buffer, generation: number): void {
    const read = readWorkerFrame(frame);
    if (read.kind === 'message') this.#toClient(frame);
    else if (read.kind === 'answer') this.#onAnswer(read.id, frame, generation);
    else if (read.kind === 'contract') {
      this.#calls.reclassify(generation, read.id, read.contract);
    } else if (read.kind === 'task') this.#held.tasks.note(generation, read.told);
    else if (read.kind === 'keep') this.#held.memory.keep(read.key, read.value, read.bytes);
    else if (read.kind === 'stopped') {
      this.#calls.retire(generation);
      this.#link.rest();
    } else if (read.kind === 'superseded') {
      this.#calls.drain(generation);
      this.#waitForWorker();
      this.#link.supersede(generation);
    }
  }

  #onAnswer(id: RequestId, frame: Buffer, generation: number): void {
    const own = this.#held.answered(id);
    if (own === 'introduction') this.#onIntroduced(frame);
    else if (own === undefined) this.#calls.reply(generation, id, frame);
  }

  /** The worker's answer to `initialize` is the client's where that has not had one. */
  #onIntroduced(frame: Buffer): void {
    if (this.#initializing === undefined) return;
    const answer = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    this.#write(encodeMessage({ ...answer, id: this.#initializing }));
    this.#initializing = undefined;
  }

  #onWorkerLost(generation: number, { loss, heardOut }: LossFacts): void {
    if (loss !== 'superseded') {
      const unread = heardOut ? '' : ', its last words unread';
      this.#options.log(`worker lost (generation ${generation}), ${this.#calls.size} in flight${unread}`);
    }
    const fault = this.#fault(LOSS_CODES[loss], '', generation);
    this.#calls.lose(generation, fault, { heardOut });
    if (!this.#link.attached && (!this.#link.resting || this.#calls.size > 0 || this.#initializing !== undefined))
      this.#wake();
  }

  #wake(): void {
    this.#waitForWorker();
    this.#link.wake();
  }

  #waitForWorker(): void {
    clearTimeout(this.#waitTimer);
    const late = `no worker was there within ${WORKER_WAIT_MS / 1000} s`;
    this.#waitTimer = setTimeout(() => this.#onUnreachable(this.#fault('handshake_timeout', ''), late), WORKER_WAIT_MS);
  }

  /** `line` tells the person who reads stderr. */
  #onUnreachable(fault: Fault, line: string): void {
    const { code, detail } = this.#withoutWorker.fault ?? {};
    if (code !== fault.code || detail !== fault.detail) this.#options.log(line);
    this.#withoutWorker.begin(fault);
    this.#failInitialize(fault);
    this.#calls.failWaiting(fault);
  }

  #fault(code: KnownFaultCode, detail: string, generation = this.#link.generation): Fault {
    return faultOf(code, { generation: Math.max(1, generation), detail }, (text) => text);
  }

  #settle(call: ClientCall, terminal: Terminal<Buffer>): void {
    if (terminal.kind === 'reply') {
      const { reply } = terminal;
      this.#link.proved();
      if (!peekIsError(reply)) {
        this.#withoutWorker.noteAnswer(call, reply);
        this.#held.noteSuccess(call);
      }
      this.#toClient(reply);
    } else if (terminal.kind === 'fault') {
      const own = this.#withoutWorker.answer(call, (list, mark) =>
        this.#held.memory.keep(listKey(list), mark, mark.length),
      );
      this.#write(own ?? faultAnswer(call, terminal, this.#withoutWorker));
      if (own === undefined) this.#noteLoss(call, terminal);
    }
    if (this.#calls.size === 0) this.#ended?.();
  }

  /** For the telemetry of the worker that comes next, or of the one that is there. */
  #noteLoss(
    { method, tool, toolId, since }: ClientCall,
    { fault, knowledge, contract, dispatches }: FaultTerminal,
  ): void {
    // At the end of a session whoever has the call counts it.
    if (fault.code === 'stopped') return;
    const took = performance.now() - since;
    this.#held.losses.note({ method, tool, toolId, took, fault, knowledge, contract, dispatches });
    if (this.#link.attached) for (const frame of this.#held.losses.frames()) this.#link.send(Buffer.from(frame));
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

const NEWLINE = Buffer.from('\n');
const MAX_COPIED_BYTES = 64 * 1024;

const LOSS_CODES = {
  gone: 'connection_lost',
  silent: 'unresponsive',
  superseded: 'drain_limit',
} as const satisfies Record<Loss, KnownFaultCode>;

function framed(line: Buffer): Buffer {
  return Buffer.concat([line, NEWLINE]);
}
