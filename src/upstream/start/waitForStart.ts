import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../errors/fault.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import { type CallOptions, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { UnavailableError } from '../../supervision/supervised.ts';
import type { Status } from '../connection/connectionStatus.ts';
import { NotDispatchedError } from '../connection/notDispatched.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import type { Live } from './serverStart.ts';

/** The part of `ServerLife` that `waitForStart` uses. */
export interface AwaitedServer {
  readonly name: string;
  readonly status: Readonly<Status>;
  /** Running server, as far as the supervisor knows. */
  readonly live: Live | undefined;
  /** Cause of the last end or failed start. */
  readonly failure: LinkFailure | undefined;
  /** Seconds until the server accepts another attempt, if it named a time. */
  readonly retryAfter: number | undefined;
  /** Reports whether a call may try the server; returns false behind an obstacle that only the user can remove. */
  mayBeAsked(): Promise<boolean>;
  ready(signal: AbortSignal | undefined): Promise<Live>;
  /** Resolves when the next start has succeeded or failed. */
  outcome(): Promise<void>;
  faultOf(failure: LinkFailure): Fault;
}

/**
 * Twice the time in which a link reports the end of its process; most links report at once, but a busy machine is slow.
 */
const EXIT_REPORT_MS = 1_000;

/**
 * Waits for the start of a server within the call's deadline. Rejects with a `NotDispatchedError` if the server is not
 * ready.
 */
export async function waitForStart(server: AwaitedServer, options: CallOptions, deadline: number): Promise<void> {
  const { signal } = options;
  throwIfCancelled(signal);
  if (server.live) await waitForLoss(server.live, signal);
  options.onProgress?.({ progress: 0, message: `starting ${server.name}` });
  // Do not wait out a pause that the server asked for.
  if (!(await server.mayBeAsked()) || server.retryAfter !== undefined) throw notDispatched(server);
  let failed: unknown;
  const ready = server.ready(signal).catch((error: unknown) => {
    failed = error;
  });
  // A failed start is the answer; later attempts are up to the supervisor. Only after a broken connection does the
  // call wait for a second start, which the supervisor makes at once.
  for (const isLast of [false, true]) {
    await waitAtMost(Promise.race([ready, server.outcome()]), deadline, signal);
    if (server.live || isLast || server.failure?.code !== 'connection_lost') break;
  }
  if (server.live?.client.closed === false) return;
  throwIfCancelled(signal);
  if (failed instanceof UnavailableError) throw notDispatched(server, failed.fault, failed.retryAfter);
  if (server.status.state !== 'starting') throw notDispatched(server);
  const slow = `it has not started within ${Math.round(options.timeoutMs / 1000)} s`;
  throw new NotDispatchedError(slow, server.faultOf(new LinkFailure(slow, 'handshake_timeout')));
}

/** Waits until the supervisor has noticed the loss of a server. */
export async function waitForLoss(live: Live, signal?: AbortSignal): Promise<void> {
  if (live.client.closed) {
    // The output of a process closes shortly before its exit, and the exit gives a better reason.
    await waitAtMost(live.lost, performance.now() + EXIT_REPORT_MS, signal);
    // After a blocked event loop the exit may still be unread.
    await nextTurn();
    // A server that has closed only its output counts as lost.
    live.lose(new LinkFailure('It closed its output.', 'output_closed'));
  }
  await nextTurn();
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
}

/** Makes the error from the server's status; `fault` is the supervisor's, if it has a more precise one. */
function notDispatched(server: AwaitedServer, fault?: Fault, retryAfter?: number): NotDispatchedError {
  const { state, reason = 'it is not running' } = server.status;
  const isOurs = state === 'stopped' || state === 'needs_approval';
  const failure = isOurs ? new LinkFailure(reason, state) : (server.failure ?? new LinkFailure(reason, 'not_running'));
  return new NotDispatchedError(reason, fault ?? server.faultOf(failure), server.retryAfter ?? retryAfter);
}
