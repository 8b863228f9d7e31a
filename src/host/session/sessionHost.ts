import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Fault } from '../../errors/fault.ts';
import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import { INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { errorResponse, isRequestId, type JsonRpcMessage, type RequestId, resultResponse } from '../../link/frames.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { heartbeat } from '../../link/rendezvous.ts';
import { claimsModern, MODERN_VERSION } from '../../mcp/modern/wire.ts';
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
  /** Returns a socket that has greeted as `session`; rejects with one sentence if no worker is available. */
  attach: (signal: AbortSignal, start: boolean) => Promise<Socket | undefined>;
  /** Ends the worker at the other end of a socket, which does not answer. Resolves to whether its process has ended. */
  endSilent?: (socket: Socket) => Promise<boolean>;
  /** Called for each line of the client and each frame of the worker. */
  onTraffic?: () => void;
  /** Workspace of the worker, and the gateway's folder in the state. */
  workspace: string;
  folder: string;
  /** Name of the server for the client, where several gateways serve it. */
  name?: string | undefined;
  /** Mode of the session; `attach` requests the same one. */
  mode?: Mode;
  log: (line: string) => void;
}

/** Time for calls in flight at the end of input. The host must exit within a second. */
const DRAIN_MS = 700;

/**
 * Serves one client's MCP session over stdio and survives every worker. Answers `initialize` and `ping` itself
 * (passthrough mode waits for the worker's `initialize`, see `INTRODUCTIONS`) and forwards everything else unchanged.
 * When a worker is lost, the replay contract of each call in flight decides. Without a worker, the host answers the
 * requests it can.
 */
export class SessionHost {
  readonly #mode: Mode;
  readonly #log: (line: string) => void;
  readonly #onTraffic: () => void;
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
    this.#onTraffic = options.onTraffic ?? (() => undefined);
    this.#client = new ClientStream(options.input, options.output, {
      onLine: (line) => this.#onClientLine(line),
      onFull: () => this.#link.pause(),
      onDrain: () => this.#link.resume(),
    });
    this.#beginning = new SessionBeginning(mode, options.name, this.#held, (frame) => this.#client.write(frame));
    this.#link = new WorkerLink({
      attach: (signal, start) => {
        this.#withoutWorker.beforeAttach();
        return options.attach(signal, start);
      },
      endSilent: options.endSilent,
      onAttached: (generation) => this.#onAttached(generation),
      isWaiting: () => this.#isAwaited,
      onFrame: (frame, generation) => this.#onWorkerFrame(frame, generation),
      onDrain: () => this.#client.resume(),
      onLost: (generation, facts) => this.#onWorkerLost(generation, facts),
      exitReason: () => this.#withoutWorker.exitReason(),
      heartbeat: () => heartbeat(folder),
      onUnavailable: (fault, line) => this.#wait.giveUp(fault, line),
    });
    this.#withoutWorker = new WithoutWorker({ workspace, folder, mode, health: () => this.#link.health });
    this.#wait = new WorkerWait(this.#link, this.#withoutWorker, log, (fault) => this.#failWaiting(fault));
    this.#answers = new SessionAnswers({
      client: this.#client,
      held: this.#held,
      withoutWorker: this.#withoutWorker,
      onProved: () => this.#link.proved(),
      onLoss: () => this.#reportLosses(),
    });
    this.#calls = new SessionCalls({
      dispatch: ({ payload }, generation, replays) => this.#dispatch(payload, generation, replays),
      settle: ({ payload }, terminal) => this.#answers.settle(payload, terminal),
    });
  }

  /** Serves until the input ends, then waits a bounded time for calls in flight. Resolves to an exit code. */
  async run(): Promise<number> {
    const ended = this.#client.listen();
    this.#link.connect();
    this.#wait.begin();
    await ended;
    await this.#calls.allAnswered(DRAIN_MS);
    // Answer every request that is still open.
    const ending = faultAt(this.#link.generation, 'stopped', 'the session ended');
    this.#beginning.fail(ending, this.#withoutWorker);
    this.#answers.end();
    this.#calls.failAll(ending);
    this.#wait.stop();
    this.#link.close();
    return this.#withoutWorker.fault === undefined ? 0 : EXIT_NO_WORKER;
  }

  /** Returns whether a request in flight may run elsewhere: it has not begun, or its contract allows it. */
  mayRepeat(id: RequestId): boolean {
    return this.#calls.mayRepeat(id);
  }

  #onClientLine(line: Buffer): void {
    this.#onTraffic();
    const read = readClientLine(line);
    if (read.kind === 'refused') this.#client.write(read.answer);
    else if (read.kind === 'answer') this.#forward(line);
    else if (read.kind === 'notification') this.#onNotification(read.message, line);
    else if (read.kind === 'request') this.#onRequest(read.id, read.message, line);
  }

  #onRequest(id: RequestId, message: JsonRpcMessage, line: Buffer): void {
    if (claimsModern(message)) this.#client.write(errorResponse(id, INVALID_REQUEST, CHANGES_ERA));
    else if (message.method === 'ping') this.#client.write(resultResponse(id, {}));
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

  /** Cancels a request: sends no answer and no replay, and notifies only the worker that has the request. */
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

  /** Forwards notifications and answers to every worker; a worker ignores answers it did not ask for. */
  #forward(line: Buffer): void {
    this.#pace(this.#link.sendToAll(framed(line)));
  }

  /** Stops reading from the client while a worker does not read. */
  #pace(mayGoOn: boolean | undefined): void {
    if (mayGoOn === false) this.#client.pause();
  }

  /**
   * Returns whether the worker took the frames. Frames in the socket's buffer count as sent; only a lost worker takes
   * none.
   */
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

  /** Introduces the session to a worker. The host drops the answer. */
  #introduce(): void {
    this.#sendAll(this.#held.frames());
  }

  #onWorkerFrame(frame: Buffer, generation: number): void {
    this.#onTraffic();
    const read = readWorkerFrame(frame);
    if (read.kind === 'message') this.#client.relay(frame);
    else if (read.kind === 'answer') this.#onAnswer(read.id, frame, generation);
    else if (read.kind === 'contract') {
      this.#calls.reclassify(generation, read.id, read.contract);
      if (read.begins) this.#calls.begin(generation, read.id, read.toolId);
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

  #onWorkerLost(generation: number, { loss, readToEnd }: LossFacts): void {
    if (loss !== 'superseded') {
      const unread = readToEnd ? '' : ', its final output unread';
      this.#log(`worker lost (generation ${generation}), ${this.#calls.size} in flight${unread}`);
    }
    const fault = faultAt(generation, LOSS_CODES[loss], '');
    this.#calls.lose(generation, fault, { readToEnd });
    if (!this.#link.attached && (!this.#link.resting || this.#isAwaited)) this.#wait.wake();
  }

  /** Reports whether the client waits for an answer. */
  get #isAwaited(): boolean {
    return this.#calls.size > 0 || this.#beginning.waits;
  }

  #failWaiting(fault: Fault): void {
    this.#beginning.fail(fault, this.#withoutWorker);
    this.#calls.failWaiting(fault);
  }

  /**
   * Sends the lost calls to the attached worker for its telemetry. Without a worker, the next introduction contains
   * them.
   */
  #reportLosses(): void {
    if (this.#link.attached) this.#sendAll(this.#held.losses.frames());
  }

  #sendAll(frames: readonly string[]): void {
    for (const frame of frames) this.#link.send(Buffer.from(frame));
  }
}

const CHANGES_ERA = `This session began with initialize and speaks an earlier revision; begin another connection for ${MODERN_VERSION}.`;

const LOSS_CODES = {
  gone: 'connection_lost',
  silent: 'unresponsive',
  superseded: 'drain_limit',
} as const satisfies Record<Loss, KnownFaultCode>;
