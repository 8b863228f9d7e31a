import type { Fault } from '../../errors/fault.ts';
import { type JsonRpcMessage, type RequestId, requestKey } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { GATEWAY_TOOL_NAMES, type GatewayTool, gatewayTool } from '../../modes/shared/gatewayTools.ts';
import { CallJournal } from '../../replay/callJournal.ts';
import type { Admission, JournalCall, JournalEffects } from '../../replay/journalCall.ts';
import { contractOf, type ReplayContract } from '../../replay/replay.ts';
import { meantRenderMode, meantTool } from '../../text/normalise.ts';
import type { ClientCall } from './clientCall.ts';

/** Bounds of the frames kept for replay. Only a broken client sends more without reading an answer. */
const LIMITS = {
  maxCalls: 65_536,
  maxBytes: 64 * 1024 * 1024,
  maxWaiting: 65_536,
  /** After three lost workers, assume that the read kills them. */
  maxReplays: 2,
  /** Only the worker can probe a server. */
  maxProbes: 0,
  retryAfter: 1,
};

type Effects = Pick<JournalEffects<ClientCall, Buffer>, 'dispatch' | 'settle'>;

/** Journal of a client's requests and the worker that has each one. */
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

  /** Resolves when every request is answered, or at the limit. */
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

  mayRepeat(id: RequestId): boolean {
    return this.#journal.mayRepeat(requestKey(id));
  }

  /** Sends the waiting requests to a new worker. */
  open(generation: number): void {
    this.#journal.open(generation);
  }

  reply(generation: number, id: RequestId, frame: Buffer): void {
    this.#journal.reply(generation, requestKey(id), frame);
  }

  /** Drops a request without an answer. Returns the worker that has it, which needs the notification. */
  cancel(id: RequestId): { generation: number | undefined } | undefined {
    return this.#journal.cancel(requestKey(id));
  }

  reclassify(generation: number, id: RequestId, contract: ReplayContract): void {
    this.#journal.reclassify(generation, requestKey(id), { contract, canProbe: false });
  }

  /** Notes that a worker is about to send the call to its server, and the tool that it found for the call. */
  begin(generation: number, id: RequestId, toolId: string | undefined): void {
    const call = this.#journal.payloadWith(generation, requestKey(id));
    if (call) call.runs = toolId;
    this.#journal.begin(generation, requestKey(id));
  }

  /** Notes that a worker has counted the call for the session's quotas. */
  noteCounted(generation: number, id: RequestId): void {
    const call = this.#journal.payloadWith(generation, requestKey(id));
    if (call) call.counted = true;
  }

  /** Sends no further call to this worker. */
  retire(generation: number): void {
    this.#journal.retire(generation);
  }

  lose(generation: number, fault: Fault, facts: { readToEnd: boolean }): void {
    this.#journal.lose(generation, fault, facts);
  }

  failWaiting(fault: Fault): void {
    this.#journal.failWaiting(fault);
  }

  failAll(fault: Fault): void {
    this.#journal.failAll(fault);
  }
}

/** Makes the journal entry of a request. The contract follows from the method and the gateway tool alone. */
export function journalCallOf(
  id: RequestId,
  { method = '', params }: JsonRpcMessage,
  frame: Buffer,
  mode: Mode,
): JournalCall<ClientCall> {
  const tool = method === 'tools/call' ? text(params?.name) : undefined;
  const own = tool === undefined ? undefined : ownTool(tool, mode);
  const contract = own?.contract ?? contractOf(method);
  // In passthrough mode the arguments belong to a server.
  const args = mode === 'passthrough' ? {} : ((params?.arguments ?? {}) as Record<string, unknown>);
  return {
    id: requestKey(id),
    contract,
    // The worker declares such a call before it sends anything to a server.
    declared: method === 'tools/call' && contract !== 'convergent',
    payload: {
      id,
      method,
      uri: text(params?.uri),
      level: text(params?.level),
      // Any other name may be a server's own; the worker finds it.
      tool: mode === 'passthrough' ? tool && method : (own?.definition.name ?? tool),
      toolId: own && text(args.tool_id),
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
  // Every name belongs to a server.
  if (mode === 'passthrough') return undefined;
  // Exact match in transparent mode: a server's tool may have a name that normalises to one of ours.
  const meant = mode === 'gateway' ? meantTool(name, GATEWAY_TOOL_NAMES) : name;
  return meant === undefined ? undefined : gatewayTool(meant);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
