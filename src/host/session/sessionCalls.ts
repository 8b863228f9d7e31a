import type { Fault } from '../../errors/fault.ts';
import { type JsonRpcMessage, type RequestId, requestKey } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { GATEWAY_TOOL_NAMES, type GatewayTool, gatewayTool } from '../../modes/shared/gatewayTools.ts';
import { CallJournal } from '../../replay/callJournal.ts';
import type { Admission, JournalCall, JournalEffects } from '../../replay/journalCall.ts';
import { contractOf, type ReplayContract } from '../../replay/replay.ts';
import { meantRenderMode, meantTool } from '../../text/normalise.ts';
import type { ClientCall } from './clientCall.ts';

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

/** A client's requests, with the worker that has each. */
export class SessionCalls {
  readonly #journal: CallJournal<ClientCall, Buffer>;
  #onAllAnswered = (): void => undefined;

  constructor({ dispatch, settle }: Effects) {
    const effects: Effects = {
      dispatch,
      settle: (call, terminal) => {
        settle(call, terminal);
        if (this.size === 0) this.#onAllAnswered();
      },
    };
    this.#journal = new CallJournal(effects, LIMITS);
  }

  get size(): number {
    return this.#journal.size;
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

  admit(call: JournalCall<ClientCall>): Admission {
    return this.#journal.admit(call);
  }

  /** There is a worker: what waits for one is sent. */
  open(generation: number): void {
    this.#journal.open(generation);
  }

  reply(generation: number, id: RequestId, frame: Buffer): void {
    this.#journal.reply(generation, requestKey(id), frame);
  }

  /** Cancels a request: it gets no answer and is never sent again. Returns the worker that has it, for a notice. */
  cancel(id: RequestId): { generation: number | undefined } | undefined {
    return this.#journal.cancel(requestKey(id));
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

  lose(generation: number, fault: Fault, loss: { heardOut: boolean }): void {
    this.#journal.lose(generation, fault, loss);
  }

  failWaiting(fault: Fault): void {
    this.#journal.failWaiting(fault);
  }

  failAll(fault: Fault): void {
    this.#journal.failAll(fault);
  }
}

/** A request as it is kept, by what can be known of it without its tool. */
export function journalCallOf(
  id: RequestId,
  { method = '', params }: JsonRpcMessage,
  frame: Buffer,
  mode: Mode,
): JournalCall<ClientCall> {
  const tool = method === 'tools/call' ? text(params?.name) : undefined;
  const own = tool === undefined ? undefined : ownTool(tool, mode);
  const contract = own?.contract ?? contractOf(method);
  // In passthrough mode the arguments are a server's.
  const args = mode === 'passthrough' ? {} : ((params?.arguments ?? {}) as Record<string, unknown>);
  return {
    id: requestKey(id),
    contract,
    // The worker announces the begin of such a call before anything of it leaves.
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
      frame,
    },
    bytes: frame.length,
    canProbe: false,
  };
}

/** Returns the gateway tool that a name means. */
function ownTool(name: string, mode: Mode): GatewayTool | undefined {
  // In passthrough mode every name is a server's.
  if (mode === 'passthrough') return undefined;
  // In transparent mode a listed tool may have what would be another spelling of a gateway tool.
  return gatewayTool((mode === 'gateway' ? meantTool(name, GATEWAY_TOOL_NAMES) : name) ?? name);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
