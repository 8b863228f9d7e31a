import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { Answering, type AnswerRequest } from '../answering.ts';
import type { UpstreamTransport } from './upstreamClient.ts';

/** Makes a server from a function: requests get its answers, and no process runs. */
export function inProcessServer(answer: AnswerRequest): UpstreamTransport {
  return new InProcessServer(answer);
}

class InProcessServer implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #answering: Answering;
  #closed = false;

  constructor(answer: AnswerRequest) {
    this.#answering = new Answering(answer, (message) => this.onmessage?.(message));
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    // Answer asynchronously, like any other server.
    queueMicrotask(() => {
      if (!this.#closed) this.#answering.receive(message);
    });
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#answering.close();
      this.onclose?.();
    }
    return Promise.resolve();
  }
}
