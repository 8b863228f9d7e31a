import type { GatewayErrorCode } from '../ops/gatewayError.ts';

/** A failure of a server or of the way to it, in the words of 000 §3.4. */
export interface Classified {
  code: GatewayErrorCode;
  retryable: boolean;
  /** Seconds that the server asked to wait. */
  retryAfter?: number;
}

type Failing = Extract<
  GatewayErrorCode,
  'UPSTREAM_ERROR' | 'UPSTREAM_TIMEOUT' | 'UPSTREAM_UNAVAILABLE' | 'AUTH_FAILED' | 'PERMISSION_DENIED' | 'RATE_LIMITED'
>;

const RETRYABLE: ReadonlySet<Failing> = new Set(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'RATE_LIMITED']);

/** How a request of ours ended, as `src/protocol` names it. */
const BY_FAILURE: Readonly<Record<string, Failing>> = {
  timeout: 'UPSTREAM_TIMEOUT',
  closed: 'UPSTREAM_UNAVAILABLE',
  aborted: 'UPSTREAM_ERROR',
  protocol: 'UPSTREAM_ERROR',
  unsent: 'UPSTREAM_UNAVAILABLE',
  busy: 'RATE_LIMITED',
  unauthorized: 'AUTH_FAILED',
  unapproved: 'PERMISSION_DENIED',
};

const BY_NAME: Readonly<Record<string, Failing>> = {
  NotDispatchedError: 'UPSTREAM_UNAVAILABLE',
  TimeoutError: 'UPSTREAM_TIMEOUT',
  AbortError: 'UPSTREAM_ERROR',
};

/** Of Node and undici. */
const BY_SYSTEM_CODE: Readonly<Record<string, Failing>> = {
  ECONNREFUSED: 'UPSTREAM_UNAVAILABLE',
  ECONNRESET: 'UPSTREAM_UNAVAILABLE',
  ECONNABORTED: 'UPSTREAM_UNAVAILABLE',
  EPIPE: 'UPSTREAM_UNAVAILABLE',
  ENOTFOUND: 'UPSTREAM_UNAVAILABLE',
  EAI_AGAIN: 'UPSTREAM_UNAVAILABLE',
  EHOSTUNREACH: 'UPSTREAM_UNAVAILABLE',
  ENETUNREACH: 'UPSTREAM_UNAVAILABLE',
  UND_ERR_SOCKET: 'UPSTREAM_UNAVAILABLE',
  ETIMEDOUT: 'UPSTREAM_TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'UPSTREAM_TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'UPSTREAM_TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'UPSTREAM_TIMEOUT',
};

const BY_STATUS: Readonly<Record<number, Failing>> = {
  401: 'AUTH_FAILED',
  403: 'PERMISSION_DENIED',
  407: 'AUTH_FAILED',
  408: 'UPSTREAM_TIMEOUT',
  429: 'RATE_LIMITED',
  502: 'UPSTREAM_UNAVAILABLE',
  503: 'UPSTREAM_UNAVAILABLE',
  504: 'UPSTREAM_TIMEOUT',
};

/** Of JSON-RPC: the server did not take the request, whatever else its words speak of. */
const BY_RPC_CODE: Readonly<Record<string, Failing>> = {
  '-32700': 'UPSTREAM_ERROR',
  '-32600': 'UPSTREAM_ERROR',
  '-32601': 'UPSTREAM_ERROR',
  '-32602': 'UPSTREAM_ERROR',
};

/**
 * Words are looked at last, and a number only where it can be a status: an issue number 4012, or 401, is not an
 * authentication failure.
 */
const STATUS_IN_WORDS =
  /(?:^(?=\d+\s*(?:[:–-]|$))|\b(?:http(?:\/\d(?:\.\d)?)?|status|code|error)(?: code)?[\s:=(]*)([45]\d\d)(?![\d.])/i;
const WORDS: readonly [RegExp, Failing][] = [
  [
    /\bunauthori[sz]ed\b|\bunauthenticated\b|\bauthentication\b|\binvalid (?:api[ -]?key|token|credentials)\b/i,
    'AUTH_FAILED',
  ],
  [/\bforbidden\b|\bpermission denied\b|\baccess denied\b|\bnot permitted\b/i, 'PERMISSION_DENIED'],
  [/\brate[ -]limit|\btoo many requests\b|\bquota exceeded\b/i, 'RATE_LIMITED'],
  [/\btimed[ -]?out\b|\btimeout\b/i, 'UPSTREAM_TIMEOUT'],
  [/\bconnection (?:refused|reset|closed|lost)\b|\bsocket hang up\b/i, 'UPSTREAM_UNAVAILABLE'],
];
/** What is long enough to hold an essay says nothing by a single word. */
const MAX_JUDGED_CHARS = 2_000;
const MAX_RETRY_AFTER_SECONDS = 300;

export function classifyError(error: unknown): Classified {
  const code = codeOf(error);
  const retryAfter = retryAfterOf(error);
  return { code, retryable: RETRYABLE.has(code), ...(retryAfter === undefined ? {} : { retryAfter }) };
}

function codeOf(error: unknown): Failing {
  // A chain of causes is short; one that leads back to itself is not followed for ever.
  for (let link = error, depth = 0; typeof link === 'object' && link !== null && depth < 5; depth++) {
    const code = byType(link as ErrorLike);
    if (code) return code;
    link = (link as ErrorLike).cause;
  }
  return byWords(wordsOf(error)) ?? 'UPSTREAM_ERROR';
}

interface ErrorLike {
  name?: unknown;
  failure?: unknown;
  code?: unknown;
  status?: unknown;
  statusCode?: unknown;
  cause?: unknown;
  retryAfterSeconds?: unknown;
  data?: unknown;
}

function byType({ name, failure, code, status, statusCode }: ErrorLike): Failing | undefined {
  return (
    lookUp(BY_FAILURE, failure) ??
    lookUp(BY_STATUS, status) ??
    lookUp(BY_STATUS, statusCode) ??
    lookUp(typeof code === 'number' ? { ...BY_STATUS, ...BY_RPC_CODE } : BY_SYSTEM_CODE, code) ??
    lookUp(BY_NAME, name)
  );
}

function lookUp(table: Readonly<Record<string, Failing>>, key: unknown): Failing | undefined {
  if (typeof key !== 'string' && typeof key !== 'number') return undefined;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function byWords(words: string): Failing | undefined {
  const status = STATUS_IN_WORDS.exec(words)?.[1];
  return lookUp(BY_STATUS, status) ?? WORDS.find(([pattern]) => pattern.test(words))?.[1];
}

function wordsOf(error: unknown): string {
  return thrownWords(error).slice(0, MAX_JUDGED_CHARS);
}

/** Anything can be thrown, also what cannot be made a text. */
export function thrownWords(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'object' ? 'something that is no error was thrown' : String(thrown);
}

/** What the transport read from a header, what the server's error says, or its words. */
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
