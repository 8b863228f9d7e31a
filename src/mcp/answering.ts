import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../errors/rpcCodes.ts';
import { isRecord } from '../lib/isRecord.ts';

type Answer = Record<string, unknown>;

/** Answers a request, or throws an error with a `code`. The signal is that of the client's cancellation. */
export type AnswerRequest = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Answer | Promise<Answer>;

/** Turns the messages of one client into calls of a function, and their results into messages. */
export class Answering {
  readonly #answer: AnswerRequest;
  readonly #send: (message: JSONRPCMessage) => void;
  readonly #open = new Map<RequestId, AbortController>();

  constructor(answer: AnswerRequest, send: (message: JSONRPCMessage) => void) {
    this.#answer = answer;
    this.#send = send;
  }

  receive(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) void this.#respond(message.id, message.method, message.params ?? {});
    else if (message.method === 'notifications/cancelled' && isRecord(message.params)) {
      this.#open.get(message.params.requestId as RequestId)?.abort();
    }
  }

  /** Aborts every open request. Nothing is sent afterwards. */
  close(): void {
    for (const [id, controller] of this.#open) {
      this.#open.delete(id);
      controller.abort();
    }
  }

  async #respond(id: RequestId, method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    const message = await this.#messageFor(id, method, params, controller.signal);
    const isWanted = this.#open.get(id) === controller && !controller.signal.aborted;
    this.#open.delete(id);
    if (isWanted) this.#send(message);
  }

  async #messageFor(
    id: RequestId,
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<JSONRPCMessage> {
    try {
      return { jsonrpc: '2.0', id, result: await this.#answer(method, params, signal) };
    } catch (error) {
      const { code = INTERNAL_ERROR, message } = error as { code?: unknown; message: string };
      return { jsonrpc: '2.0', id, error: { code: typeof code === 'number' ? code : INTERNAL_ERROR, message } };
    }
  }
}
