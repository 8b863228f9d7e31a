import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import type { UpstreamTransport } from './upstreamClient.ts';

/** Answers a request, or throws an error with a `code`. */
export type AnswerRequest = (method: string, params: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** A server that is a function: what is sent to it comes back answered, and nothing runs for it. */
export function inProcessServer(answer: AnswerRequest): UpstreamTransport {
  return new InProcessServer(answer);
}

class InProcessServer implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #answer: AnswerRequest;
  #closed = false;

  constructor(answer: AnswerRequest) {
    this.#answer = answer;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    // Later, as from any other server.
    if ('method' in message && 'id' in message) queueMicrotask(() => this.#respond(message));
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.onclose?.();
    }
    return Promise.resolve();
  }

  #respond({ id, method, params = {} }: Extract<JSONRPCMessage, { method: string; id: unknown }>): void {
    if (this.#closed) return;
    try {
      this.onmessage?.({ jsonrpc: '2.0', id, result: this.#answer(method, params) });
    } catch (error) {
      const { code = INTERNAL_ERROR, message } = error as { code?: number; message: string };
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code, message } });
    }
  }
}
