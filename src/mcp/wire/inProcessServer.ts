import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import type { UpstreamTransport } from './upstreamClient.ts';

/** Answers a request, or throws an error with a `code`. */
export type AnswerRequest = (method: string, params: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Makes a server from a function: requests get its answers, and no process runs. */
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
    // Answer asynchronously, like any other server.
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
