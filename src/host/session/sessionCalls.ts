import type { Fault } from '../../errors/fault.ts';
import { type JsonRpcMessage, type RequestId, requestKey } from '../../link/frames.ts';
import type { Face } from '../../link/mode.ts';
import { CallJournal } from '../../replay/callJournal.ts';
import type { Admission, JournalCall, JournalEffects, Refused } from '../../replay/journalCall.ts';
import { contractOf, OWN_TOOLS, type ReplayContract } from '../../replay/replay.ts';
import { meantRenderMode, meantTool } from '../../text/normalise.ts';
import type { ClientCall } from './clientCall.ts';
import { DrainingCalls } from './drainingCalls.ts';
import { faultAt } from './faultAt.ts';

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

type Effects = Pick<JournalEffects<ClientCall, Buffer>, 'dispatch' | 'settle'>;

/** A client's requests, with the worker that has each: the one that serves, or one before it that finishes them. */
export class SessionCalls {
  readonly #journal: CallJournal<ClientCall, Buffer>;
  readonly #draining: DrainingCalls<ClientCall, Buffer>;
  readonly #generation: () => number;
  #onAllAnswered = (): void => undefined;

  /** `refuse` answers a call that one which drains can no longer answer, where the next one does not take it. */
  constructor(
    { dispatch, settle }: Effects,
    generation: () => number,
    refuse: (call: ClientCall, refused: Refused) => void,
  ) {
    this.#generation = generation;
    const effects: Effects = {
      dispatch,
      settle: (call, terminal) => {
        settle(call, terminal);
        if (this.size === 0) this.#onAllAnswered();
      },
    };
    this.#journal = new CallJournal(effects, LIMITS);
    this.#draining = new DrainingCalls(effects, LIMITS, (call) => {
      const admission = this.admit(call);
      if (!admission.admitted) refuse(call.payload, admission);
    });
  }

  get size(): number {
    return this.#journal.size + this.#draining.size;
  }

  /** Resolves when every request has its answer, or when that takes too long. */
  allAnswered(limitMs: number): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onAllAnswered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** `runner`: the worker that alone can answer it, where that has a successor already. */
  admit(call: JournalCall<ClientCall>, runner?: number): Admission {
    const isTwice = this.#draining.has(call.id) || (runner !== undefined && this.#journal.knowledgeOf(call.id));
    if (isTwice) {
      return { admitted: false, fault: faultAt(this.#generation(), 'duplicate_id', '') };
    }
    return this.#draining.admit(runner, call) ?? this.#journal.admit(call);
  }

  /** There is a worker: what waits for one is sent. */
  open(generation: number): void {
    this.#journal.open(generation);
  }

  reply(generation: number, id: RequestId, frame: Buffer): void {
    const key = requestKey(id);
    // Cancelled, or answered without its worker: one terminal reply an id.
    if (!this.#draining.reply(generation, key, frame)) this.#journal.reply(generation, key, frame);
  }

  /** A cancelled request gets no answer and is never sent again; only who has it is told. */
  cancel(id: RequestId): { generation: number | undefined } | undefined {
    const key = requestKey(id);
    return this.#journal.cancel(key) ?? this.#draining.cancel(key);
  }

  reclassify(generation: number, id: RequestId, contract: ReplayContract): void {
    this.#journal.reclassify(generation, requestKey(id), { contract, canProbe: false });
  }

  /** A worker is about to send it to its server. */
  begin(generation: number, id: RequestId): void {
    this.#journal.begin(generation, requestKey(id));
  }

  /** A worker has counted it among the session's calls. */
  noteCounted(generation: number, id: RequestId): void {
    const call = this.#journal.payloadWith(generation, requestKey(id));
    if (call) call.counted = true;
  }

  /** Nothing new goes to this worker. */
  retire(generation: number): void {
    this.#journal.retire(generation);
  }

  /** It has a successor, and finishes what it has. */
  drain(generation: number): void {
    this.#journal.retire(generation);
    this.#draining.drain(generation);
  }

  lose(generation: number, fault: Fault, told: { heardOut: boolean }): void {
    this.#journal.lose(generation, fault, told);
    this.#draining.lose(generation, fault);
  }

  failWaiting(fault: Fault): void {
    this.#journal.failWaiting(fault);
  }

  failAll(fault: Fault): void {
    this.#draining.failAll(fault);
    this.#journal.failAll(fault);
  }
}

/** A request as it is kept, by what can be known of it without its tool. */
export function journalCallOf(
  id: RequestId,
  { method = '', params }: JsonRpcMessage,
  frame: Buffer,
  face: Face,
): JournalCall<ClientCall> {
  const tool = method === 'tools/call' ? text(params?.name) : undefined;
  const own = tool === undefined ? undefined : ownTool(tool, face);
  const contract = contractOf(method, own);
  // In passthrough mode the arguments are a server's.
  const args = face === 'passthrough' ? {} : ((params?.arguments ?? {}) as Record<string, unknown>);
  return {
    id: requestKey(id),
    contract,
    // A worker tells before anything of it leaves.
    declared: method === 'tools/call' && contract !== 'convergent',
    payload: {
      id,
      method,
      uri: text(params?.uri),
      level: text(params?.level),
      tool,
      toolId: text(args.tool_id),
      wantsData: own !== undefined && meantRenderMode(text(args.render) ?? '') === 'json',
      since: performance.now(),
      wantsTask: face === 'passthrough' && params?.task !== undefined,
      frame,
    },
    bytes: frame.length,
    canProbe: false,
  };
}

/** The tool of ours that a name means. */
function ownTool(name: string, face: Face): string | undefined {
  // A name is a server's, whatever it reads like.
  if (face === 'passthrough') return undefined;
  if (face === 'gateway') return meantTool(name, OWN_TOOLS);
  // A listed tool may be called what would be another spelling of one of ours.
  return OWN_TOOLS.find((own) => own === name);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
