import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Fault } from '../../errors/fault.ts';
import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import { isRequestId, type JsonRpcMessage, type RequestId, resultResponse } from '../../link/frames.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { EXIT_NO_WORKER } from '../attach/lastWorker.ts';
import type { Loss, LossFacts } from '../attach/workerConnection.ts';
import { WorkerLink } from '../attach/workerLink.ts';
import { WorkerWait } from '../attach/workerWait.ts';
import { type ClientCall, framesOf } from './clientCall.ts';
import { readClientLine } from './clientLine.ts';
import { ClientStream, framed } from './clientStream.ts';
import { faultAt } from './faultAt.ts';
import { HeldSession } from './heldSession.ts';
import { SessionAnswers } from './sessionAnswers.ts';
import { SessionBeginning } from './sessionBeginning.ts';
import { journalCallOf, SessionCalls } from './sessionCalls.ts';
import { WithoutWorker } from './withoutWorker.ts';
import { readWorkerFrame } from './workerFrame.ts';

export interface SessionHostOptions {
  input: Readable;
  output: Writable;
  /** A greeted socket of kind `session`; rejects with one sentence when there can be no worker. */
  attach: (signal: AbortSignal, start: boolean) => Promise<Socket | undefined>;
  /** Whose worker that is, and its folder in the state. */
  workspace: string;
  folder: string;
  /** How the client sees the servers; the same that `attach` asks the worker for. */
  mode?: Mode;
  log: (line: string) => void;
}

/** What is still in flight at the end of input may finish; the host must be gone within a second. */
const DRAIN_MS = 700;

/**
 * One client's MCP session over stdio. It outlives every worker: `initialize` and `ping` are answered here (but for
 * `initialize` in passthrough mode, see `INTRODUCTIONS`), everything else is forwarded as it came, and what was in
 * flight when a worker was lost is treated by its replay contract. What can be told while no worker can be had is.
 */
export class SessionHost {
  readonly #mode: Mode;
  readonly #log: (line: string) => void;
  readonly #client: ClientStream;
  readonly #calls: SessionCalls;
  readonly #answers: SessionAnswers;
  readonly #link: WorkerLink;
  readonly #held = new HeldSession();
  readonly #beginning: SessionBeginning;
  readonly #withoutWorker: WithoutWorker;
  readonly #wait: WorkerWait;

  constructor(options: SessionHostOptions) {
    const { workspace, folder, mode = DEFAULT_MODE, log } = options;
    this.#mode = mode;
    this.#log = log;
    this.#client = new ClientStream(options.input, options.output, {
      onLine: (line) => this.#onClientLine(line),
      onFull: () => this.#link.pause(),
      onDrain: () => this.#link.resume(),
    });
    this.#beginning = new SessionBeginning(mode, this.#held, (frame) => this.#client.write(frame));
    this.#link = new WorkerLink({
      attach: options.attach,
      onAttached: (generation) => this.#onAttached(generation),
      isWaiting: () => this.#isAwaited,
      onFrame: (frame, generation) => this.#onWorkerFrame(frame, generation),
      onDrain: () => this.#client.resume(),
      onLost: (generation, facts) => this.#onWorkerLost(generation, facts),
      lastWords: () => this.#withoutWorker.lastWords(),
      onUnavailable: (fault, line) => this.#wait.giveUp(fault, line),
    });
    this.#withoutWorker = new WithoutWorker({ workspace, folder, mode, health: () => this.#link.health });
    this.#wait = new WorkerWait(this.#link, this.#withoutWorker, log, (fault) => this.#failWaiting(fault));
    this.#answers = new SessionAnswers({
      client: this.#client,
      held: this.#held,
      withoutWorker: this.#withoutWorker,
      onProved: () => this.#link.proved(),
      onLoss: () => this.#tellLosses(),
    });
    this.#calls = new SessionCalls({
      dispatch: ({ payload }, generation, replays) => this.#dispatch(payload, generation, replays),
      settle: ({ payload }, terminal) => this.#answers.settle(payload, terminal),
    });
  }

  /** Serves until the input ends; then finishes what is in flight, within a bound. Resolves to an exit code. */
  async run(): Promise<number> {
    const ended = this.#client.listen();
    this.#link.connect();
    this.#wait.begin();
    await ended;
    await this.#calls.allAnswered(DRAIN_MS);
    // The client has stopped asking; what nobody has answered by now is not left open.
    const ending = faultAt(this.#link.generation, 'stopped', 'the session ended');
    this.#beginning.fail(ending, this.#withoutWorker);
    this.#answers.end();
    this.#calls.failAll(ending);
    this.#wait.stop();
    this.#link.close();
    return this.#withoutWorker.fault === undefined ? 0 : EXIT_NO_WORKER;
  }

  #onClientLine(line: Buffer): void {
    const read = readClientLine(line);
    if (read.kind === 'refused') this.#client.write(read.answer);
    else if (read.kind === 'answer') this.#forward(line);
    else if (read.kind === 'notification') this.#onNotification(read.message, line);
    else if (read.kind === 'request') this.#onRequest(read.id, read.message, line);
  }

  #onRequest(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    if (message.method === 'ping') this.#client.write(resultResponse(id, {}));
    else if (message.method === 'initialize') this.#onInitialize(id, message);
    else this.#track(id, message, line);
  }

  #onInitialize(id: RequestId, message: JsonRpcMessage): void {
    if (!this.#beginning.begin(id, message)) return;
    if (this.#link.attached) this.#introduce();
    else if (this.#beginning.waits) this.#wait.join();
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
    const call = journalCallOf(id, message, framed(line), this.#mode);
    const admission = this.#calls.admit(call);
    if (admission.admitted) this.#wait.join();
    else this.#answers.refuse(call.payload, admission);
  }

  /** Notifications and answers to the server's requests: they mean nothing to a worker that did not ask. */
  #forward(line: Buffer): void {
    this.#pace(this.#link.sendToAll(framed(line)));
  }

  /** The client waits while a worker does not read. */
  #pace(mayGoOn: boolean | undefined): void {
    if (mayGoOn === false) this.#client.pause();
  }

  /** What the socket holds back has been sent too: only a worker that is gone takes nothing. */
  #dispatch(call: ClientCall, generation: number, replays: number): boolean {
    const mayGoOn = this.#link.sendTo(generation, framesOf(call, replays));
    this.#pace(mayGoOn);
    return mayGoOn !== undefined;
  }

  #onAttached(generation: number): void {
    this.#wait.end();
    this.#introduce();
    this.#calls.open(generation);
  }

  /** Tells a worker what this session has negotiated; its answer is for nobody. */
  #introduce(): void {
    this.#tell(this.#held.frames());
  }

  #onWorkerFrame(frame: Buffer, generation: number): void {
    const read = readWorkerFrame(frame);
    if (read.kind === 'message') this.#client.relay(frame);
    else if (read.kind === 'answer') this.#onAnswer(read.id, frame, generation);
    else if (read.kind === 'contract') {
      this.#calls.reclassify(generation, read.id, read.contract);
      if (read.begins) this.#calls.begin(generation, read.id);
    } else if (read.kind === 'keep') {
      this.#held.memory.keep(read.key, read.value, read.bytes);
      if (read.counted !== undefined) this.#calls.noteCounted(generation, read.counted);
    } else if (read.kind === 'stopped') {
      this.#calls.retire(generation);
      this.#link.rest();
    } else if (read.kind === 'superseded') {
      this.#calls.retire(generation);
      this.#wait.begin();
      this.#link.supersede(generation);
    }
  }

  #onAnswer(id: RequestId, frame: Buffer, generation: number): void {
    const own = this.#held.answered(id);
    if (own === 'introduction') this.#beginning.answered(frame);
    else if (own === undefined) this.#calls.reply(generation, id, frame);
  }

  #onWorkerLost(generation: number, { loss, heardOut }: LossFacts): void {
    if (loss !== 'superseded') {
      const unread = heardOut ? '' : ', its last words unread';
      this.#log(`worker lost (generation ${generation}), ${this.#calls.size} in flight${unread}`);
    }
    const fault = faultAt(generation, LOSS_CODES[loss], '');
    this.#calls.lose(generation, fault, { heardOut });
    if (!this.#link.attached && (!this.#link.resting || this.#isAwaited)) this.#wait.wake();
  }

  /** Whether the client waits for an answer. */
  get #isAwaited(): boolean {
    return this.#calls.size > 0 || this.#beginning.waits;
  }

  #failWaiting(fault: Fault): void {
    this.#beginning.fail(fault, this.#withoutWorker);
    this.#calls.failWaiting(fault);
  }

  /** For the telemetry of the worker that is there; without one they are told to the next. */
  #tellLosses(): void {
    if (this.#link.attached) this.#tell(this.#held.losses.frames());
  }

  #tell(frames: readonly string[]): void {
    for (const frame of frames) this.#link.send(Buffer.from(frame));
  }
}

const LOSS_CODES = {
  gone: 'connection_lost',
  silent: 'unresponsive',
  superseded: 'drain_limit',
} as const satisfies Record<Loss, KnownFaultCode>;
