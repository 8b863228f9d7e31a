import type { CatalogTool } from '../../catalog/types.ts';
import type { Probe } from '../../replay/probe.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { failedCall } from '../../upstream/connection/callFailed.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import type { RequestOptions } from '../../upstream/connection/serverRequest.ts';
import type { JsonObject } from '../json.ts';
import { Deadline, LONGEST_CALL_MS } from './deadline.ts';
import { dispatchError } from './dispatchError.ts';
import { type Attempts, callWithRetry, type RetryPolicy } from './retry.ts';

/** A server as dispatch sees it; `ServerConnection` is one. */
export interface Upstream {
  readonly state: string;
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  /** Settles when the signal aborts, whether or not the server reacts to that. */
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

/** What the client has to do with its call. */
export interface ClientEnd {
  signal: AbortSignal;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Where what the server asks during the call goes. */
  origin?: CallOrigin | undefined;
  /** The request's `_meta`, trace context and all, for the server. */
  meta?: Readonly<JsonObject> | undefined;
  /** Told just before anything of it is sent: see `RequestOptions`. */
  onSend?: (() => Promise<void> | undefined) | undefined;
}

export interface DispatchTerms {
  retry: RetryPolicy;
  contract: ReplayContract;
  /** How to find out what became of a call that was lost. */
  probe?: Probe;
  deadlineMs: number;
  random(): number;
  scrubSecrets(text: string): string;
  /** The full detail of a failure, free of secrets, for whoever runs the gateway. */
  log(line: string): void;
}

/** A connection's own limit comes after the deadline, which then tells what happened. */
const SLACK_MS = 1_000;

/**
 * Sends a call to its server, and again where that is allowed. The connection replays lost calls by contract; this
 * function retries what G7.2 names. Failures are thrown as error objects.
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
  // A replayable call is replayed once whatever `retry` says: the user declared it so (O3.9).
  const repeated = { ...terms.retry, maxAttempts: Math.max(2, terms.retry.maxAttempts) };
  const policy = contract === 'convergent' ? repeated : terms.retry;
  const maxReplays = terms.retry.retryableCodes.includes('UPSTREAM_UNAVAILABLE') ? repeated.maxAttempts - 1 : 1;
  let tries = 0;
  let replays = 0;
  const call = () => {
    tries += 1;
    return upstream().call(tool.upstreamName, args, {
      // A question to the person moves the deadline, which the connection does not know.
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
    const told = dispatchError(error, { tool, contract, deadlineMs, signal: deadline.signal, scrubSecrets });
    terms.log(scrubSecrets(`${tool.id}: ${told.code}: ${fullDetail(error)}`));
    throw told;
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
