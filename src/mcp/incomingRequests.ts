import type { JSONRPCMessage, JSONRPCRequest, Result } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../errors/rpcCodes.ts';
import { isRecord } from '../lib/isRecord.ts';
import type { RequestId } from '../link/frames.ts';
import type { Send } from './outgoingRequests.ts';

/** Facts about a running request. */
export interface CallExtra {
  signal: AbortSignal;
  requestId: RequestId;
  _meta: Readonly<Record<string, unknown>> | undefined;
}

/** Answers a request, or throws an error with a `code`. The signal is that of the client's cancellation. */
export type AnswerRequest = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Result | Promise<Result>;

/** Returns the requests of a client that a function answers. */
export function answeredBy(answer: AnswerRequest, send: Send): IncomingRequests {
  return new IncomingRequests(async ({ method, params = {} }, { signal }) => answer(method, params, signal), send);
}

/**
 * Requests of a client or a server on their way to an answer, each with the signal of its cancellation. The SDK would
 * look for the kind of each message by three schemas and for a task by a fourth, which takes longer than all checks of a
 * call.
 */
export class IncomingRequests {
  readonly #answer: (request: JSONRPCRequest, extra: CallExtra) => Promise<Result>;
  readonly #send: Send;
  readonly #open = new Map<RequestId, AbortController>();

  constructor(answer: (request: JSONRPCRequest, extra: CallExtra) => Promise<Result>, send: Send) {
    this.#answer = answer;
    this.#send = send;
  }

  /** Takes a request or a cancellation. Returns false for all other messages. */
  take(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return false;
    if ('id' in message) void this.#run(message);
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    else return false;
    return true;
  }

  /** Aborts all requests: nobody reads an answer any more. */
  close(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }

  /** Aborts a request that has no answer yet. */
  #cancel(params: unknown): void {
    const { requestId, reason } = isRecord(params) ? params : {};
    this.#open.get(requestId as RequestId)?.abort(reason);
  }

  async #run(request: JSONRPCRequest): Promise<void> {
    const { id, params } = request;
    const controller = new AbortController();
    const { signal } = controller;
    this.#open.set(id, controller);
    const answer = await this.#settle(request, { signal, requestId: id, _meta: params?._meta });
    // A later request may have the same id.
    if (this.#open.get(id) === controller) this.#open.delete(id);
    // A cancelled request gets no answer, and a closed connection takes none.
    if (!signal.aborted) await this.#send(answer).catch(() => undefined);
  }

  async #settle(request: JSONRPCRequest, extra: CallExtra): Promise<JSONRPCMessage> {
    const { id } = request;
    try {
      // A cancellation that came together with the request is heard first.
      await undefined;
      return { jsonrpc: '2.0', id, result: await this.#answer(request, extra) };
    } catch (thrown) {
      const { code, message, data } = (thrown ?? {}) as Partial<Record<string, unknown>>;
      const error = {
        code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
        message: typeof message === 'string' ? message : 'Internal error',
        ...(data !== undefined && { data }),
      };
      return { jsonrpc: '2.0', id, error };
    }
  }
}
