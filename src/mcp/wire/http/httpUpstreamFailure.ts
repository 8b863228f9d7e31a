import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { isRecord, parseRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import { oneLine } from '../../../text/porcelain.ts';
import type { RpcError } from '../modern/eras.ts';
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
    Object.assign(new UpstreamRequestError(failure, words, status, retryAfter), { status, answered: rpcErrorIn(said) });
  // Status 403 counts if the token's scope is too small (RFC 6750 §3.1).
  if (status === 401 || (status === 403 && extractWWWAuthenticateParams(response).error === 'insufficient_scope'))
    return refused('unauthorized');
  // A server that no longer knows the session has not executed the request (MCP, Session Management).
  const forgotten = status === 404 || (status === 400 && /session/i.test(said));
  if (forgotten && hasSession()) return refused('unsent');
  return refused('error', retryAfterSeconds(response));
}

/** Statuses and codes with which a server of revision 2026-07-28 rejects a request (Streamable HTTP). */
const REJECTIONS: ReadonlySet<number> = new Set([400, 404]);
const FIRST_CODE = -32_099;
const LAST_CODE = -32_020;
const MAX_REJECTION_BYTES = 64 * 1024;

/** Returns the answer within an HTTP status; or the response itself if its body has no such error. */
export async function refusedAnswer(response: Response, id: RequestId): Promise<Response> {
  const { status, statusText, headers } = response;
  if (!REJECTIONS.has(status)) return response;
  const text = await boundedText(response, MAX_REJECTION_BYTES);
  const error = rpcErrorIn(text);
  const isNew = error && error.code >= FIRST_CODE && error.code <= LAST_CODE;
  if (!error || !(isNew || error.code === METHOD_NOT_FOUND || error.code === INVALID_PARAMS)) {
    return new Response(text, { status, statusText, headers });
  }
  return Response.json({ jsonrpc: '2.0', id, error });
}

function rpcErrorIn(text: string): RpcError | undefined {
  const { error } = parseRecord(text) ?? {};
  if (!isRecord(error) || typeof error.code !== 'number' || typeof error.message !== 'string') return undefined;
  const { code, message, data } = error;
  return { code, message, ...(data === undefined ? {} : { data }) };
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
  return oneLine(await boundedText(response, 0), MAX_ERROR_CHARS);
}

/** Returns the beginning of a body: its first part, and more up to a number of bytes. */
async function boundedText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  do {
    const { value } = (await reader?.read().catch(() => undefined)) ?? {};
    if (!value) break;
    parts.push(value);
    bytes += value.length;
  } while (bytes < maxBytes);
  void reader?.cancel().catch(() => undefined);
  return Buffer.concat(parts).toString('utf8');
}
