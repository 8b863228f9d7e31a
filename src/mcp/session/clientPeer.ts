import { CONNECTION_CLOSED } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { PRIVATE_PREFIX } from '../../link/frames.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleData } from '../../text/visibleText.ts';
import type { CallExtra } from '../incomingRequests.ts';
import { REQUEST_CAPABILITIES_META, ROUNDS_CAPABILITY } from '../modern/wire.ts';
import type { ClientLink } from './clientLink.ts';
import type { AskUser, CallContext, ClientPeer, QuestionAnswer } from './sessionMode.ts';

/**
 * Time limit of a question. A person may be away from the window: an approval waits as long as the client's own dialog
 * would.
 */
const MAX_PROGRESS_CHARS = 500;
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** The client as a mode addresses it; with a request, on behalf of that request. */
export class LinkPeer implements ClientPeer {
  readonly session: object;
  readonly #link: ClientLink;
  readonly #request: CallExtra | undefined;

  constructor(link: ClientLink, request?: CallExtra) {
    this.session = link.session;
    this.#link = link;
    this.#request = request;
  }

  get client(): ClientPeer['client'] {
    return this.#link.client;
  }

  get capabilities(): ClientPeer['capabilities'] {
    const own = this.takesRounds ? this.#request?._meta?.[REQUEST_CAPABILITIES_META] : undefined;
    return isRecord(own) ? own : this.#link.capabilities;
  }

  get takesRounds(): boolean {
    return this.#link.takesRounds;
  }

  notify(method: string, params?: Record<string, unknown>): void {
    // A host trusts these methods, so nothing from a server may use them.
    if (method.startsWith(PRIVATE_PREFIX) || this.#request?.signal.aborted) return;
    // Clients show logs and states of servers as Waygate's.
    this.#link.notify(method, params && visibleData(params), this.#request?.requestId);
  }

  async request(...[method, params, options]: Parameters<ClientPeer['request']>): Promise<Record<string, unknown>> {
    if (this.#request?.signal.aborted) throw new RpcError(CONNECTION_CLOSED, 'Request was cancelled');
    return this.#link.request(method, params, { ...options, relatedRequestId: this.#request?.requestId });
  }
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
