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
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../../modes/shared/introduction.ts';
import { TRANSPARENT_CAPABILITIES, TRANSPARENT_INSTRUCTIONS } from '../../modes/transparent/introduction.ts';
import { type FaultContext, refusal } from './clientCall.ts';
import type { HeldSession } from './heldSession.ts';

type Held = Pick<HeldSession, 'begun' | 'begin' | 'forgetBeginning'>;

/** How a client's session begins: its `initialize` is answered here, or by the worker (see `INTRODUCTIONS`). */
export class SessionBeginning {
  readonly #introduction: Introduction | undefined;
  readonly #held: Held;
  readonly #write: (frame: string) => void;
  /** Its id, while the worker's answer to it is what the client waits for. */
  #waiting: RequestId | undefined;

  constructor(mode: Mode, held: Held, write: (frame: string) => void) {
    this.#introduction = INTRODUCTIONS[mode];
    this.#held = held;
    this.#write = write;
  }

  /** Whether the client waits for a worker's answer. */
  get waits(): boolean {
    return this.#waiting !== undefined;
  }

  /** Whether it is the client's first `initialize`, so that the worker is to be told of it. */
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

  /** The worker's answer to `initialize` is the client's where that has not had one. */
  answered(frame: Buffer): void {
    if (this.#waiting === undefined) return;
    const answer = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    this.#write(encodeMessage({ ...answer, id: this.#waiting }));
    this.#waiting = undefined;
  }

  /** No worker can answer: a client that waits for one may begin again. */
  fail(fault: Fault, context: FaultContext): void {
    if (this.#waiting === undefined) return;
    this.#write(refusal({ id: this.#waiting, method: 'initialize' }, fault, context));
    this.#waiting = undefined;
    this.#held.forgetBeginning();
  }
}

interface Introduction {
  capabilities: object;
  serverInfo: object;
  instructions: string;
}

/**
 * What `initialize` is answered with before there is a worker. In passthrough mode there is none: what the servers
 * behind it can do is theirs to say, so there a client waits for the worker, which knows it from them or their snapshots.
 */
const INTRODUCTIONS: Readonly<Record<Mode, Introduction | undefined>> = {
  gateway: { capabilities: SERVER_CAPABILITIES, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS },
  transparent: {
    capabilities: TRANSPARENT_CAPABILITIES,
    serverInfo: SERVER_INFO,
    instructions: TRANSPARENT_INSTRUCTIONS,
  },
  passthrough: undefined,
};
