import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_CLOSED, REQUEST_TIMEOUT } from '../errors/rpcCodes.ts';
import { RpcError } from '../errors/rpcError.ts';
import { isRecord } from '../lib/isRecord.ts';
import type { RequestId } from '../link/frames.ts';

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface RequestOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Requests progress from the other side. */
  onProgress?: (progress: Progress) => void;
}

/** Sends a message, as a part of a request of the other side where one is named. */
export type Send = (message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }) => Promise<void>;

export interface OutgoingOptions extends RequestOptions {
  /** Longest time in all, within which each progress begins the time limit anew. */
  longestMs?: number;
  /** Request of the other side that needs the answer. */
  relatedRequestId?: RequestId | undefined;
}

/** Makes the error for an error answer, a time limit, a cancellation or the end of the connection. */
export type Failed = (code: number, message: string, data?: unknown) => Error;

interface Asked {
  answer(result: Record<string, unknown>): void;
  fail(error: Error): void;
  progress(progress: Progress): void;
}

/**
 * Requests of the worker to a client or a server on their way to an answer, a time limit or a cancellation. The SDK
 * would compare each message with several schemas, a tenth of the CPU of a call.
 */
export class OutgoingRequests {
  readonly #send: Send;
  readonly #failed: Failed;
  readonly #open = new Map<number, Asked>();
  #next = 0;
  #isClosed = false;

  constructor(send: Send, failed: Failed = (...facts) => new RpcError(...facts)) {
    this.#send = send;
    this.#failed = failed;
  }

  request(
    method: string,
    params: Record<string, unknown>,
    { timeoutMs, longestMs, signal, onProgress, relatedRequestId }: OutgoingOptions,
  ): Promise<Record<string, unknown>> {
    if (this.#isClosed) return Promise.reject(this.#lost());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#next++;
    const meta = onProgress && { _meta: { ...(params._meta as object | undefined), progressToken: id } };
    return new Promise<Record<string, unknown>>((resolve, reject) => {
      const startedAt = performance.now();
      let limitMs = timeoutMs;
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(id);
      };
      const giveUp = (error: Error, reason: unknown): void => {
        settle();
        const cancelled = { requestId: id, reason: String(reason) };
        const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled } as const;
        this.#send(message, { relatedRequestId }).catch(() => undefined);
        reject(error);
      };
      const onAbort = (): void => giveUp(this.#failed(REQUEST_TIMEOUT, String(signal?.reason)), signal?.reason);
      const expire = (): void => giveUp(this.#failed(REQUEST_TIMEOUT, TIMED_OUT, { timeout: limitMs }), TIMED_OUT);
      let timer = setTimeout(expire, timeoutMs);
      signal?.addEventListener('abort', onAbort);
      const fail = (error: Error): void => {
        settle();
        reject(error);
      };
      const answer = (result: Record<string, unknown>): void => {
        settle();
        resolve(result);
      };
      const progress = (news: Progress): void => {
        if (longestMs !== undefined) {
          const leftMs = longestMs - (performance.now() - startedAt);
          if (leftMs < timeoutMs) limitMs = longestMs;
          clearTimeout(timer);
          timer = setTimeout(expire, Math.max(0, Math.min(timeoutMs, leftMs)));
        }
        onProgress?.(news);
      };
      this.#open.set(id, { answer, fail, progress });
      const request = { method, params: { ...params, ...meta }, jsonrpc: '2.0', id } as const;
      this.#send(request, { relatedRequestId }).catch(fail);
    });
  }

  /** Takes an answer, or the progress of a request. Returns false for all other messages. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if (message.method !== 'notifications/progress') return false;
      const { progressToken, ...progress } = isRecord(message.params) ? message.params : {};
      const { progress: amount } = progress;
      if (typeof amount === 'number')
        this.#open.get(Number(progressToken))?.progress({ ...progress, progress: amount });
      return true;
    }
    const asked = this.#open.get(Number(message.id));
    if ('result' in message) asked?.answer(message.result);
    else asked?.fail(this.#failed(message.error.code, message.error.message, message.error.data));
    return true;
  }

  /** Fails all requests, because nobody can answer them any more. */
  close(): void {
    this.#isClosed = true;
    for (const { fail } of [...this.#open.values()]) fail(this.#lost());
  }

  #lost(): Error {
    return this.#failed(CONNECTION_CLOSED, 'Connection closed');
  }
}

const TIMED_OUT = 'Request timed out';
