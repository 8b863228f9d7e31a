import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { oneLine } from '../../../text/porcelain.ts';
import { type UpstreamFailure, UpstreamRequestError } from '../upstreamClient.ts';
import { redirectTarget } from './httpRedirect.ts';

/**
 * Maximum length of an error. A caller that shows less masks secrets first, because half a secret is still a secret.
 */
const MAX_ERROR_CHARS = 8_000;
/** Codes of undici and the system for a request that was not sent. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Converts an error of `fetch` or of the SDK's transport. */
export function thrownFailure(error: unknown): UpstreamRequestError {
  if (error instanceof UpstreamRequestError) return error;
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const code = cause?.code ?? (error as { code?: unknown }).code;
  const words = oneLine(`${message ?? String(error)}${cause?.message ? `: ${cause.message}` : ''}`, MAX_ERROR_CHARS);
  if (typeof code === 'number' && code > 0) return new UpstreamRequestError('error', words, code);
  if (typeof code === 'string' && UNSENT_CODES.has(code)) return new UpstreamRequestError('unsent', words);
  return new UpstreamRequestError('closed', words);
}

/** Converts an answer with which a server rejects a request. */
export async function refusalFailure(
  response: Response,
  url: string | URL,
  hasSession: () => boolean,
): Promise<UpstreamRequestError> {
  const { status } = response;
  const target = redirectTarget(response, url);
  const said = target === undefined ? await shortText(response) : '';
  const words = `HTTP ${status}${target === undefined ? '' : `, a redirect to ${target}, which is not followed`}${said && `: ${said}`}`;
  const refused = (failure: UpstreamFailure, retryAfter?: number): UpstreamRequestError =>
    Object.assign(new UpstreamRequestError(failure, words, status, retryAfter), { status });
  // Status 403 counts if the token's scope is too small (RFC 6750 §3.1).
  if (status === 401 || (status === 403 && extractWWWAuthenticateParams(response).error === 'insufficient_scope'))
    return refused('unauthorized');
  // A server that no longer knows the session has not executed the request (MCP, Session Management).
  const forgotten = status === 404 || (status === 400 && /session/i.test(said));
  if (forgotten && hasSession()) return refused('unsent');
  return refused('error', retryAfterSeconds(response));
}

const MESSAGES = /^(?:application\/json|text\/event-stream)\b/i;
const ACCEPTED = 202;
const MAX_TYPE_CHARS = 60;

/** Returns the failure of a request that a server accepts without a message of MCP; `undefined` for a message. */
export async function noMessageFailure(response: Response): Promise<UpstreamRequestError | undefined> {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (response.body && status !== ACCEPTED && MESSAGES.test(type)) return undefined;
  const said = await shortText(response);
  const what = type === '' ? 'without an answer' : `with ${oneLine(type, MAX_TYPE_CHARS)} in place of an answer`;
  return new UpstreamRequestError('protocol', `HTTP ${status} ${what}${said && `: ${said}`}`);
}

/** Reads seconds or a date (RFC 9110 §10.2.3). */
function retryAfterSeconds({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

async function shortText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read().catch(() => undefined);
  void reader?.cancel().catch(() => undefined);
  return oneLine(Buffer.from(first?.value ?? []).toString('utf8'), MAX_ERROR_CHARS);
}
