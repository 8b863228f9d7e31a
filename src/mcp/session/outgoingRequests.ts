import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_CLOSED, REQUEST_TIMEOUT } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { RequestId } from '../../link/frames.ts';
import type { PeerRequestOptions, Progress } from './sessionMode.ts';

/** Sends a message, as a part of a request of the client where one is named. */
export type Send = (message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }) => Promise<void>;

export interface OutgoingOptions extends PeerRequestOptions {
  /** Request of the client that needs the answer. */
  relatedRequestId?: RequestId | undefined;
}

interface Asked {
  answer(result: Record<string, unknown>): void;
  fail(error: Error): void;
  onProgress: ((progress: Progress) => void) | undefined;
}

/** Requests of the worker to the client on their way to an answer, a time limit or a cancellation. */
export class OutgoingRequests {
  readonly #send: Send;
  readonly #open = new Map<number, Asked>();
  #next = 0;
  #isClosed = false;

  constructor(send: Send) {
    this.#send = send;
  }

  async request(
    method: string,
    params: Record<string, unknown>,
    { timeoutMs, signal, onProgress, relatedRequestId }: OutgoingOptions,
  ): Promise<Record<string, unknown>> {
    if (this.#isClosed) throw closed();
    signal?.throwIfAborted();
    const id = this.#next++;
    const meta = onProgress && { _meta: { ...(params._meta as object | undefined), progressToken: id } };
    return new Promise<Record<string, unknown>>((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(id);
      };
      const giveUp = (error: RpcError, reason: unknown): void => {
        settle();
        const cancelled = { requestId: id, reason: String(reason) };
        const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled } as const;
        this.#send(message, { relatedRequestId }).catch(() => undefined);
        reject(error);
      };
      const onAbort = (): void => giveUp(new RpcError(REQUEST_TIMEOUT, String(signal?.reason)), signal?.reason);
      const timer = setTimeout(() => {
        const error = new RpcError(REQUEST_TIMEOUT, 'Request timed out', { timeout: timeoutMs });
        giveUp(error, error);
      }, timeoutMs);
      signal?.addEventListener('abort', onAbort);
      const fail = (error: Error): void => {
        settle();
        reject(error);
      };
      const answer = (result: Record<string, unknown>): void => {
        settle();
        resolve(result);
      };
      this.#open.set(id, { answer, fail, onProgress });
      const request = { method, params: { ...params, ...meta }, jsonrpc: '2.0', id } as const;
      this.#send(request, { relatedRequestId }).catch(fail);
    });
  }

  /** Takes an answer, or the progress of a request. Returns false for all other messages. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if (message.method !== 'notifications/progress') return false;
      const { progressToken, ...progress } = (message.params ?? {}) as Record<string, unknown>;
      this.#open.get(Number(progressToken))?.onProgress?.(progress as unknown as Progress);
      return true;
    }
    const asked = this.#open.get(Number(message.id));
    if ('result' in message) asked?.answer(message.result);
    else asked?.fail(new RpcError(message.error.code, message.error.message, message.error.data));
    return true;
  }

  /** Fails all requests, because nobody can answer them any more. */
  close(): void {
    this.#isClosed = true;
    for (const { fail } of [...this.#open.values()]) fail(closed());
  }
}

function closed(): RpcError {
  return new RpcError(CONNECTION_CLOSED, 'Connection closed');
}
