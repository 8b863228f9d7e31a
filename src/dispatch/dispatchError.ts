import type { CatalogTool } from '../catalog/types.ts';
import { GatewayError } from '../ops/gatewayError.ts';
import { oneLine } from '../ops/porcelain.ts';
import { type Dispatched, mayRepeat, type ReplayContract } from '../ops/replay.ts';
import { type UpstreamFailure, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { NotDispatchedError } from '../upstream/notDispatched.ts';
import { type Classified, classifyError, thrownWords } from './classifyError.ts';
import { CancelledError, DeadlineError } from './deadline.ts';
import { AttemptsFailed } from './retry.ts';

/** What a server says of its failure, before the sentence on what to do; the whole is 256 characters (000 §3.4). */
const MAX_WORDS = 120;

export type Failure = Classified & { dispatched: Dispatched };

/** Types first: what a failure is and whether its server may have seen the call. */
export function judgeFailure(error: unknown): Failure {
  if (error instanceof DeadlineError) return { code: 'UPSTREAM_TIMEOUT', retryable: true, dispatched: 'unknown' };
  if (error instanceof CancelledError) return { code: 'UPSTREAM_ERROR', retryable: false, dispatched: 'unknown' };
  return { ...classifyError(error), dispatched: dispatchedOf(error) };
}

function dispatchedOf(error: unknown): Dispatched {
  if (error instanceof NotDispatchedError) return 'no';
  if (error instanceof UpstreamRequestError) return AS_DISPATCHED[error.failure] ?? 'unknown';
  const { code } = (error ?? {}) as { code?: unknown };
  return NEVER_CONNECTED.has(code) ? 'no' : 'unknown';
}

const AS_DISPATCHED: Partial<Record<UpstreamFailure, Dispatched>> = {
  // An error of JSON-RPC is the server's answer.
  error: 'yes',
  unsent: 'no',
  busy: 'no',
  // Who is not let in has done nothing.
  unauthorized: 'no',
};

const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface ErrorContext {
  tool: Pick<CatalogTool, 'id' | 'server'>;
  contract: ReplayContract;
  deadlineMs: number;
  scrubSecrets(text: string): string;
}

/** The one place where a failed dispatch becomes the error object of 000 §3.4. */
export function dispatchError(thrown: unknown, context: ErrorContext): GatewayError {
  const tries = thrown instanceof AttemptsFailed ? thrown.attempts : 1;
  const error = thrown instanceof AttemptsFailed ? thrown.cause : thrown;
  if (error instanceof GatewayError) return error;
  const { tool, contract } = context;
  const { code, retryable, retryAfter, dispatched } = judgeFailure(error);
  const lost =
    dispatched === 'unknown' && (code === 'UPSTREAM_TIMEOUT' || code === 'UPSTREAM_UNAVAILABLE' || isGarbled(error));
  const cancelled = error instanceof CancelledError;
  // What was sent and lost may have taken effect: it is never presented as something to repeat (design.md §3).
  const repeatable = retryable && !cancelled && (!lost || mayRepeat(contract, dispatched));
  const outcome = dispatched === 'no' ? 'not_dispatched' : lost || cancelled ? 'unknown' : undefined;
  return new GatewayError(code, sentence(error, code, { ...context, lost, repeatable, retryAfter }), {
    path: tool.id,
    // For whoever forwards a server's error as it came.
    cause: error,
    retryable: repeatable,
    details: {
      ...(outcome === undefined ? {} : { outcome }),
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
      ...(tries > 1 ? { attempts: tries } : {}),
    },
  });
}

/** It was answered, but how cannot be told. */
function isGarbled(error: unknown): boolean {
  return error instanceof UpstreamRequestError && error.failure === 'protocol';
}

interface Telling extends ErrorContext {
  lost: boolean;
  repeatable: boolean;
  retryAfter: number | undefined;
}

function sentence(error: unknown, code: Classified['code'], telling: Telling): string {
  const { server } = telling.tool;
  const words = wordsOf(error, telling);
  if (error instanceof CancelledError)
    return 'The call was cancelled; it may have taken effect. Check before you repeat it.';
  const caution = telling.repeatable
    ? 'It is safe to repeat.'
    : 'It may have taken effect: check before you repeat it.';
  switch (code) {
    case 'UPSTREAM_TIMEOUT': {
      const limit = error instanceof DeadlineError ? ` within ${telling.deadlineMs / 1000} s` : ' in time';
      return `${server} did not answer${limit}. ${caution}`;
    }
    case 'UPSTREAM_UNAVAILABLE':
      if (telling.lost) return `${server} ended or lost its connection during the call. ${caution}`;
      return `${server} is not running, and nothing was sent: ${words} Call again later, or ask the user to look at this server.`;
    case 'AUTH_FAILED':
      if (error instanceof NotDispatchedError)
        return `${server} cannot be used yet, and nothing was sent: ${words} Ask the user to see to it.`;
      return `${server} refused its credentials: ${words} Ask the user to sign in to this server, or to renew them in its configuration.`;
    case 'PERMISSION_DENIED':
      if (error instanceof NotDispatchedError)
        return `${server} waits for the user's approval, and nothing was sent. Ask the user to see what it runs and to approve it.`;
      return `${server} does not permit this: ${words} Ask the user for access, or go on without it.`;
    case 'RATE_LIMITED': {
      const wait = telling.retryAfter === undefined ? 'a while' : `${Math.ceil(telling.retryAfter)} s`;
      return `${server} limits its calls: ${words} Call again after ${wait}.`;
    }
    default:
      if (isGarbled(error)) return `${server} gave an answer that cannot be used: ${words} ${caution}`;
      return `${server} answered with an error: ${words} Change the call accordingly, or use another tool.`;
  }
}

/** Scrubbed before it is cut: half a secret is still one. Ends as a sentence. */
function wordsOf(error: unknown, { scrubSecrets }: ErrorContext): string {
  const words = oneLine(scrubSecrets(thrownWords(error).slice(0, 8_000)), MAX_WORDS);
  if (words === '') return 'it gave no reason.';
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}
