import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from '../../errors/rpcCodes.ts';
import type { ExecutionKnowledge } from '../../replay/replay.ts';

/** Verdict on a failed request: its fault code and the knowledge about its execution. */
export interface Judged {
  code: KnownFaultCode;
  knowledge: ExecutionKnowledge;
  /** Seconds that the server asked to wait. */
  retryAfterSeconds?: number;
}

type Verdict = readonly [code: KnownFaultCode, knowledge: ExecutionKnowledge];

const UNSENT = (code: KnownFaultCode): Verdict => [code, 'not_dispatched'];
const ANSWERED = (code: KnownFaultCode): Verdict => [code, 'completed'];
const LOST = (code: KnownFaultCode): Verdict => [code, 'outcome_unknown'];

/** Verdicts by `failure` of an `UpstreamRequestError`. */
const BY_FAILURE: Readonly<Record<string, Verdict>> = {
  timeout: LOST('call_timeout'),
  closed: LOST('connection_lost'),
  aborted: LOST('upstream_error'),
  // The server answered, but the answer is unreadable.
  protocol: LOST('malformed_response'),
  unsent: UNSENT('connection_refused'),
  gone: UNSENT('connection_lost'),
  busy: UNSENT('queue_overflow'),
  unauthorized: ANSWERED('unauthorized'),
};

const BY_NAME: Readonly<Record<string, Verdict>> = {
  NotDispatchedError: UNSENT('not_running'),
  TimeoutError: LOST('call_timeout'),
  AbortError: LOST('upstream_error'),
};

/** Verdicts by error code of Node and undici. */
const BY_SYSTEM_CODE: Readonly<Record<string, Verdict>> = {
  ECONNREFUSED: UNSENT('connection_refused'),
  ENOTFOUND: UNSENT('connection_refused'),
  EAI_AGAIN: UNSENT('connection_refused'),
  ECONNRESET: LOST('connection_lost'),
  ECONNABORTED: LOST('connection_lost'),
  EPIPE: LOST('connection_lost'),
  EHOSTUNREACH: LOST('connection_lost'),
  ENETUNREACH: LOST('connection_lost'),
  UND_ERR_SOCKET: LOST('connection_lost'),
  UND_ERR_CONNECT_TIMEOUT: UNSENT('handshake_timeout'),
  ETIMEDOUT: LOST('call_timeout'),
  UND_ERR_HEADERS_TIMEOUT: LOST('call_timeout'),
  UND_ERR_BODY_TIMEOUT: LOST('call_timeout'),
};

/** Verdicts by HTTP status. After a gateway's timeout the outcome of the request is unknown. */
const BY_STATUS: Readonly<Record<number, Verdict>> = {
  401: ANSWERED('unauthorized'),
  403: ANSWERED('forbidden'),
  407: ANSWERED('unauthorized'),
  408: LOST('upstream_timeout'),
  429: ANSWERED('rate_limited'),
  502: LOST('upstream_unavailable'),
  503: ANSWERED('upstream_unavailable'),
  504: LOST('upstream_timeout'),
};

/** Statuses of a proxy or a framework that may follow the effect: the server itself has not judged the call. */
const MAY_FOLLOW_EFFECT = (status: number): boolean => status === 404 || status >= 500;

/** Verdicts by JSON-RPC code: the server rejected the request, regardless of its message. */
const BY_RPC_CODE: Readonly<Record<string, Verdict>> = {
  [PARSE_ERROR]: ANSWERED('upstream_error'),
  [INVALID_REQUEST]: ANSWERED('upstream_error'),
  [METHOD_NOT_FOUND]: ANSWERED('upstream_error'),
  [INVALID_PARAMS]: ANSWERED('upstream_error'),
};
const BY_NUMBER: Readonly<Record<string, Verdict>> = { ...BY_STATUS, ...BY_RPC_CODE };

/** Verdicts by malformed frame. An oversized answer proves that the call completed. */
const BY_FRAME: Readonly<Record<string, Verdict>> = {
  malformed_response: LOST('malformed_response'),
  bad_result: LOST('bad_result'),
  frame_too_large: ANSWERED('frame_too_large'),
};

/**
 * Last resort: the text. A number counts only where a status can be, because issue 4012 or 401 is no authentication
 * failure.
 */
const STATUS_IN_WORDS =
  /(?:^(?=\d+\s*(?:[:–-]|$))|\b(?:http(?:\/\d(?:\.\d)?)?|status|code|error)(?: code)?[\s:=(]*)([45]\d\d)(?![\d.])/i;
const WORDS: readonly [RegExp, Verdict][] = [
  [
    /\bunauthori[sz]ed\b|\bunauthenticated\b|\bauthentication\b|\binvalid (?:api[ -]?key|token|credentials)\b/i,
    ANSWERED('unauthorized'),
  ],
  [/\bforbidden\b|\bpermission denied\b|\baccess denied\b|\bnot permitted\b/i, ANSWERED('forbidden')],
  [/\brate[ -]limit|\btoo many requests\b|\bquota exceeded\b/i, ANSWERED('rate_limited')],
  [/\btimed[ -]?out\b|\btimeout\b/i, LOST('upstream_timeout')],
  [/\bconnection (?:refused|reset|closed|lost)\b|\bsocket hang up\b/i, LOST('upstream_unavailable')],
];
/** Longer texts prove nothing by a single word. */
const MAX_JUDGED_CHARS = 2_000;
const MAX_RETRY_AFTER_SECONDS = 300;

/** Judges every failure: by type, status and code first, by its text last. */
export function judgeThrown(error: unknown): Judged {
  const [code, knowledge] = verdictOn(error);
  const retryAfterSeconds = retryAfterOf(error);
  return { code, knowledge, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

function verdictOn(error: unknown): Verdict {
  // Bounded, because a chain of causes may be circular.
  for (let link = error, depth = 0; typeof link === 'object' && link !== null && depth < 5; depth++) {
    const verdict = byType(link as ErrorLike);
    if (verdict) return verdict;
    link = (link as ErrorLike).cause;
  }
  return byWords(wordsOf(error)) ?? ANSWERED('upstream_error');
}

interface ErrorLike {
  name?: unknown;
  failure?: unknown;
  frame?: unknown;
  code?: unknown;
  status?: unknown;
  statusCode?: unknown;
  cause?: unknown;
  retryAfterSeconds?: unknown;
  data?: unknown;
}

function byType({ name, failure, frame, code, status, statusCode }: ErrorLike): Verdict | undefined {
  return (
    lookUp(BY_FRAME, frame) ??
    lookUp(BY_FAILURE, failure) ??
    lookUp(BY_STATUS, status) ??
    (typeof status === 'number' && MAY_FOLLOW_EFFECT(status) ? LOST('upstream_error') : undefined) ??
    lookUp(BY_STATUS, statusCode) ??
    lookUp(typeof code === 'number' ? BY_NUMBER : BY_SYSTEM_CODE, code) ??
    lookUp(BY_NAME, name)
  );
}

function lookUp(table: Readonly<Record<string, Verdict>>, key: unknown): Verdict | undefined {
  if (typeof key !== 'string' && typeof key !== 'number') return undefined;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function byWords(words: string): Verdict | undefined {
  const status = STATUS_IN_WORDS.exec(words)?.[1];
  return lookUp(BY_STATUS, status) ?? WORDS.find(([pattern]) => pattern.test(words))?.[1];
}

function wordsOf(error: unknown): string {
  return thrownWords(error).slice(0, MAX_JUDGED_CHARS);
}

/** Returns the text of any thrown value, even of one that cannot become a string. */
export function thrownWords(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'object' ? 'the thrown value is not an error' : String(thrown);
}

/** Returns the wait from a header, from the error's data, or from its text. */
function retryAfterOf(error: unknown): number | undefined {
  const { retryAfterSeconds, data } = (error ?? {}) as ErrorLike;
  const declared = (data ?? {}) as { retry_after?: unknown; retryAfter?: unknown };
  const inWords = /\b(?:retry|try again)[ -](?:after|in):? ?(\d{1,6}(?:\.\d{1,3})?) ?(?:s|sec|seconds?)?\b/i.exec(
    wordsOf(error),
  )?.[1];
  for (const value of [retryAfterSeconds, declared.retry_after, declared.retryAfter, inWords]) {
    const seconds = typeof value === 'string' ? Number(value) : value;
    if (typeof seconds === 'number' && seconds >= 0) return Math.min(seconds, MAX_RETRY_AFTER_SECONDS);
  }
  return undefined;
}
