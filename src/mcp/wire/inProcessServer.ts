import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type AnswerRequest, answeredBy, type IncomingRequests } from '../incomingRequests.ts';
import type { UpstreamTransport } from './upstreamClient.ts';

/** Makes a server from a function: requests get its answers, and no process runs. */
export function inProcessServer(answer: AnswerRequest): UpstreamTransport {
  return new InProcessServer(answer);
}

class InProcessServer implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #requests: IncomingRequests;
  #closed = false;

  constructor(answer: AnswerRequest) {
    this.#requests = answeredBy(answer, async (message) => this.onmessage?.(message));
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    // Answer asynchronously, like any other server.
    queueMicrotask(() => {
      if (!this.#closed) this.#requests.take(message);
    });
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#requests.close();
      this.onclose?.();
    }
    return Promise.resolve();
  }
}
