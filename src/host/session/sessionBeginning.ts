import type { Fault } from '../../errors/fault.ts';
import { INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import {
  encodeMessage,
  errorResponse,
  type JsonRpcMessage,
  type RequestId,
  resultResponse,
} from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { type FaultContext, refusal } from './clientCall.ts';
import type { HeldSession } from './heldSession.ts';
import { type Introduction, introductionOf, named } from './introductions.ts';

type Held = Pick<HeldSession, 'begun' | 'begin' | 'forgetBeginning'>;

/** Answers the client's `initialize`, or waits for the worker's answer in passthrough mode (see `INTRODUCTIONS`). */
export class SessionBeginning {
  readonly #introduction: Introduction | undefined;
  readonly #name: string | undefined;
  readonly #held: Held;
  readonly #write: (frame: string) => void;
  /** Id of the client's `initialize` while it waits for the worker. */
  #waiting: RequestId | undefined;

  constructor(mode: Mode, name: string | undefined, held: Held, write: (frame: string) => void) {
    this.#introduction = introductionOf(mode, name);
    this.#name = name;
    this.#held = held;
    this.#write = write;
  }

  /** Reports whether the client waits for a worker's answer. */
  get waits(): boolean {
    return this.#waiting !== undefined;
  }

  /** Takes an `initialize`. Returns true for the first one, which also goes to the worker. */
  begin(id: RequestId, message: JsonRpcMessage): boolean {
    if (this.#held.begun) {
      this.#write(errorResponse(id, INVALID_REQUEST, 'This session is initialized already.'));
      return false;
    }
    const protocolVersion = this.#held.begin(message);
    if (this.#introduction) this.#write(resultResponse(id, { protocolVersion, ...this.#introduction }));
    else this.#waiting = id;
    return true;
  }

  /** Forwards the worker's answer if the client still waits for one. */
  answered(frame: Buffer): void {
    if (this.#waiting === undefined) return;
    const { result, ...answer } = JSON.parse(frame.toString('utf8')) as JsonRpcMessage & { result?: Introduction };
    this.#write(encodeMessage({ ...answer, id: this.#waiting, ...(result && { result: named(result, this.#name) }) }));
    this.#waiting = undefined;
  }

  /** Answers a waiting client with the fault. The client may send `initialize` again. */
  fail(fault: Fault, context: FaultContext): void {
    if (this.#waiting === undefined) return;
    this.#write(refusal({ id: this.#waiting, method: 'initialize' }, fault, context));
    this.#waiting = undefined;
    this.#held.forgetBeginning();
  }
}
