import { CONNECTION_CLOSED } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { PRIVATE_PREFIX, type RequestId } from '../../link/frames.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleData } from '../../text/visibleText.ts';
import { REQUEST_CAPABILITIES_META, ROUNDS_CAPABILITY } from '../modern/wire.ts';
import type { ClientLink } from './clientLink.ts';
import type { AskUser, CallContext, ClientPeer, QuestionAnswer } from './sessionMode.ts';

/** Facts about a running request. */
export interface CallExtra {
  signal: AbortSignal;
  requestId: RequestId;
  _meta: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Time limit of a question. A person may be away from the window: an approval waits as long as the client's own dialog
 * would.
 */
const MAX_PROGRESS_CHARS = 500;
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** Returns the client as a mode addresses it; with `extra`, on behalf of that request. */
export function peerOf(link: ClientLink, extra?: CallExtra): ClientPeer {
  return {
    session: link.session,
    get client() {
      return link.client;
    },
    get capabilities() {
      const own = link.takesRounds ? extra?._meta?.[REQUEST_CAPABILITIES_META] : undefined;
      return isRecord(own) ? own : link.capabilities;
    },
    get takesRounds() {
      return link.takesRounds;
    },
    notify: (method, params) => {
      // A host trusts these methods, so nothing from a server may use them.
      if (method.startsWith(PRIVATE_PREFIX) || extra?.signal.aborted) return;
      // Clients show logs and states of servers as Waygate's.
      link.notify(method, params && visibleData(params), extra?.requestId);
    },
    request: async (method, params, options) => {
      if (extra?.signal.aborted) throw new RpcError(CONNECTION_CLOSED, 'Request was cancelled');
      return link.request(method, params, { ...options, relatedRequestId: extra?.requestId });
    },
  };
}

export function progressOf(link: ClientLink, { signal, requestId, _meta }: CallExtra): Pick<CallContext, 'progress'> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return {};
  return {
    progress: (progress) => {
      if (signal.aborted) return;
      const message = progress.message === undefined ? {} : { message: oneLine(progress.message, MAX_PROGRESS_CHARS) };
      link.notify('notifications/progress', { ...progress, ...message, progressToken }, requestId);
    },
  };
}

export function askOf(link: ClientLink, { signal, requestId }: CallExtra): Pick<CallContext, 'ask'> {
  const { elicitation, experimental } = link.capabilities;
  if (!isRecord(elicitation) || !elicitation.form) return {};
  const ask: AskUser = async (question) => {
    const params = { mode: 'form', ...question };
    const options = { timeoutMs: QUESTION_TIMEOUT_MS, signal, relatedRequestId: requestId };
    return readAnswer(await link.request('elicitation/create', params, options));
  };
  ask.inRounds = isRecord(experimental) && ROUNDS_CAPABILITY in experimental;
  return { ask };
}

/** Reads an answer, whose fields whoever asked checks. Without a clear action there is no consent. */
function readAnswer({ action, content }: Record<string, unknown>): QuestionAnswer {
  if (action !== 'accept' && action !== 'decline') return { action: 'cancel' };
  return { action, content: isRecord(content) ? content : undefined };
}
