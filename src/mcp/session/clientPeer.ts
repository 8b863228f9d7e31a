import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { ProgressCallback, RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ElicitRequestFormParams,
  ErrorCode,
  McpError,
  ResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { PRIVATE_PREFIX } from '../../link/frames.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleData } from '../../text/visibleText.ts';
import { ROUNDS_CAPABILITY } from '../modern/wire.ts';
import type { AskUser, CallContext, ClientPeer, SessionClient } from './sessionMode.ts';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Facts about a running request. */
export interface CallExtra extends Pick<Extra, 'signal' | 'requestId'> {
  _meta: Extra['_meta'] | undefined;
}

/**
 * Time limit of a question. A person may be away from the window: an approval waits as long as the client's own dialog
 * would.
 */
const MAX_PROGRESS_CHARS = 500;
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** Returns the client as a mode addresses it; with `extra`, on behalf of that request. */
export function peerOf(server: Server, session: object, client: () => SessionClient, extra?: CallExtra): ClientPeer {
  // Not `extra` itself: the SDK treats a request that names a task as part of it, and its questions wait in a queue.
  const related = extra ? { relatedRequestId: extra.requestId } : {};
  return {
    session,
    get client() {
      return client();
    },
    get capabilities() {
      return (server.getClientCapabilities() ?? {}) as Readonly<Record<string, unknown>>;
    },
    notify: (method, params) => {
      // A host trusts these methods, so nothing from a server may use them.
      if (method.startsWith(PRIVATE_PREFIX)) return;
      // Clients show logs and states of servers as Waygate's.
      const notification = { method, ...(params && { params: visibleData(params) }) } as ServerNotification;
      // The client may have gone: its session ends then.
      if (!extra?.signal.aborted) void server.notification(notification, related).catch(() => undefined);
    },
    request: async (method, params, { timeoutMs, signal, onProgress }) => {
      if (extra?.signal.aborted) throw new McpError(ErrorCode.ConnectionClosed, 'Request was cancelled');
      // The SDK would cancel an answered request, because its listener stays at the signal.
      const ended = new AbortController();
      const end = (): void => ended.abort(signal?.reason);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end, { once: true });
      const options = {
        timeout: timeoutMs,
        signal: ended.signal,
        ...related,
        ...(onProgress ? { onprogress: onProgress as ProgressCallback } : {}),
      };
      const request = { method, params } as ServerRequest;
      try {
        return await server.request(request, ResultSchema, options);
      } finally {
        signal?.removeEventListener('abort', end);
      }
    },
  };
}

export function progressOf(server: Server, extra: CallExtra): Pick<CallContext, 'progress'> {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return {};
  return {
    progress: (progress) => {
      const message = progress.message === undefined ? {} : { message: oneLine(progress.message, MAX_PROGRESS_CHARS) };
      const params = { ...progress, ...message, progressToken };
      // The client may have gone: the call itself will notice.
      if (extra.signal.aborted) return;
      const related = { relatedRequestId: extra.requestId };
      void server.notification({ method: 'notifications/progress', params }, related).catch(() => undefined);
    },
  };
}

export function askOf(server: Server, extra: CallExtra): Pick<CallContext, 'ask'> {
  const { elicitation, experimental = {} } = server.getClientCapabilities() ?? {};
  if (!elicitation?.form) return {};
  const ask: AskUser = async (question) => {
    const params = { mode: 'form', ...question } as ElicitRequestFormParams;
    const options = { timeout: QUESTION_TIMEOUT_MS, signal: extra.signal, relatedRequestId: extra.requestId };
    return server.elicitInput(params, options);
  };
  ask.inRounds = ROUNDS_CAPABILITY in experimental;
  return { ask };
}
