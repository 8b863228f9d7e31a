import type { CatalogTool } from '../../catalog/types.ts';
import type { Probe } from '../../replay/probe.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { failedCall } from '../../upstream/connection/callFailed.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import type { RequestOptions } from '../../upstream/connection/serverRequest.ts';
import type { JsonObject } from '../json.ts';
import type { TracedAttempt } from './callTrace.ts';
import { Deadline, LONGEST_CALL_MS } from './deadline.ts';
import { dispatchError } from './dispatchError.ts';
import { type Attempts, callWithRetry, type RetryPolicy } from './retry.ts';

/** Server as dispatch sees it; `ServerConnection` implements it. */
export interface Upstream {
  readonly state: string;
  /** Why the server is not ready. */
  readonly reason?: string | undefined;
  /** Whether the server keeps state for each session, so that no answer serves another. */
  readonly isPerSession?: boolean;
  /** Settles when the signal aborts, whether or not the server reacts to it. */
  call(tool: string, args: JsonObject, options: UpstreamCall): Promise<JsonObject>;
}

export interface UpstreamCall extends RequestOptions {
  signal: AbortSignal;
  origin?: CallOrigin | undefined;
}

export interface CallProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The client's side of a call. */
export interface ClientEnd {
  signal: AbortSignal;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Routes requests that the server sends during the call. */
  origin?: CallOrigin | undefined;
  /** The request's `_meta` for the server, trace context included. */
  meta?: Readonly<JsonObject> | undefined;
  /** Runs just before the request is sent: see `RequestOptions`. */
  onSend?: (() => Promise<void> | undefined) | undefined;
}

export interface DispatchTerms {
  retry: RetryPolicy;
  contract: ReplayContract;
  /** Probe that finds out whether a lost call took effect. */
  probe?: Probe;
  deadlineMs: number;
  random(): number;
  scrubSecrets(text: string): string;
  /** Logs the full detail of a failure, with secrets masked. */
  log(line: string): void;
  onAttempt?(attempt: TracedAttempt): void;
}

/** The connection's own timeout comes after the deadline, so that the deadline reports the error. */
const SLACK_MS = 1_000;

/**
 * Sends a call to its server, and repeats it if that is allowed. The connection replays lost calls by contract; this
 * function retries failures that G7.2 names. Throws error objects.
 */
export async function dispatchCall(
  tool: CatalogTool,
  upstream: () => Upstream,
  args: JsonObject,
  { signal, onProgress, origin, meta, onSend }: ClientEnd,
  terms: DispatchTerms,
): Promise<Attempts<JsonObject>> {
  const { contract, probe, deadlineMs, scrubSecrets } = terms;
  const deadline = new Deadline(deadlineMs, signal);
  if (origin) origin.stillWorking = () => deadline.extend();
  // A convergent call gets one replay whatever `retry` says, because the user declared it repeatable (O3.9).
  const repeated = { ...terms.retry, maxAttempts: Math.max(2, terms.retry.maxAttempts) };
  const policy = contract === 'convergent' ? repeated : terms.retry;
  const maxReplays = terms.retry.retryableCodes.includes('UPSTREAM_UNAVAILABLE') ? repeated.maxAttempts - 1 : 1;
  let tries = 0;
  let replays = 0;
  const call = async () => {
    tries += 1;
    const [at, began] = [Date.now(), performance.now()];
    const ended = (outcome: string): void => terms.onAttempt?.({ at, durationMs: performance.now() - began, outcome });
    const sent = upstream().call(tool.upstreamName, args, {
      // A question to the user moves the deadline, and the connection does not know that.
      timeoutMs: (origin ? Math.max(deadline.leftMs, LONGEST_CALL_MS) : deadline.leftMs) + SLACK_MS,
      signal: deadline.signal,
      origin,
      meta,
      contract,
      probe,
      maxReplays: Math.max(0, maxReplays + 1 - tries - replays),
      onSend,
      onEnd: (dispatches) => {
        replays += Math.max(0, dispatches - 1);
      },
      onProgress: (progress) => {
        deadline.extend();
        onProgress?.(progress);
      },
    });
    sent.then(
      () => ended('ok'),
      (error: unknown) => ended(failedCall(error, scrubSecrets).fault.code),
    );
    return sent;
  };
  try {
    return await callWithRetry(call, {
      policy,
      contract,
      random: terms.random,
      sleep: (seconds) => deadline.sleep(seconds * 1_000),
      left: () => deadline.leftMs / 1_000,
      judge: (error) => failedCall(error, scrubSecrets),
      replays: () => replays,
    });
  } catch (error) {
    const failure = dispatchError(error, { tool, contract, deadlineMs, signal: deadline.signal, scrubSecrets });
    terms.log(scrubSecrets(`${tool.id}: ${failure.code}: ${fullDetail(error)}`));
    throw failure;
  } finally {
    deadline.dispose();
  }
}

function fullDetail(error: unknown): string {
  const parts: string[] = [];
  for (let link = error, depth = 0; link !== undefined && depth < 5; depth++) {
    parts.push(link instanceof Error ? `${link.name}: ${link.message}` : thrownWords(link));
    link = link instanceof Error ? link.cause : undefined;
  }
  return parts.join(' <- ').slice(0, 8_000);
}
