import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../errors/fault.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import { type CallOptions, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { UnavailableError } from '../../supervision/supervised.ts';
import type { Status } from '../connection/connectionStatus.ts';
import { NotDispatchedError } from '../connection/notDispatched.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import type { Live } from './serverStart.ts';

/** A server that is to be ready, as whoever waits for it needs it; `ServerLife` is one. */
export interface AwaitedServer {
  readonly name: string;
  readonly status: Readonly<Status>;
  /** What runs and is ready, for all that its supervisor has heard. */
  readonly live: Live | undefined;
  /** What ended it, or kept it from starting. */
  readonly failure: LinkFailure | undefined;
  /** Seconds, where it has said when it may be asked again. */
  readonly retryAfter: number | undefined;
  /** Whether anything but the person can bring it up; what can be tried once more is. */
  mayBeAsked(): Promise<boolean>;
  ready(signal: AbortSignal | undefined): Promise<Live>;
  /** Resolves when the next start has come to its end, either way. */
  outcome(): Promise<void>;
  faultOf(failure: LinkFailure): Fault;
}

/** Its link tells the end of a process within half of this, most often at once; on a busy machine later than one thinks. */
const LAST_WORD_MS = 1_000;

/** The first call of a server waits for its start, within its own deadline. Rejects where it cannot be had. */
export async function waitForStart(server: AwaitedServer, options: CallOptions, deadline: number): Promise<void> {
  const { signal } = options;
  throwIfCancelled(signal);
  if (server.live) await waitForLoss(server.live, signal);
  options.onProgress?.({ progress: 0, message: `starting ${server.name}` });
  // Where the server has said how long to leave it alone, nobody waits for that.
  if (!(await server.mayBeAsked()) || server.retryAfter !== undefined) throw notDispatched(server);
  let failed: unknown;
  const ready = server.ready(signal).catch((error: unknown) => {
    failed = error;
  });
  // The first start that fails is an answer: to wait for the next ones is the supervisor's business. Only a connection
  // that broke off is tried once more, as the supervisor does at once.
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

/** What is lost is not gone before its supervisor has heard of it. */
export async function waitForLoss(live: Live, signal?: AbortSignal): Promise<void> {
  if (live.client.closed) {
    // The output of a process that ends closes a little before its end is known, which says more.
    await waitAtMost(live.lost, performance.now() + LAST_WORD_MS, signal);
    // Where we were busy for as long ourselves, its end is still to be read.
    await nextTurn();
    // One whose output alone has closed is as good as down.
    live.lose(new LinkFailure('It closed its output.', 'output_closed'));
  }
  await nextTurn();
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new UpstreamRequestError('aborted', 'the call was cancelled before it was sent');
}

/** In the words of its status; `fault` is what its supervisor says where that is more than its last failure. */
function notDispatched(server: AwaitedServer, fault?: Fault, retryAfter?: number): NotDispatchedError {
  const { state, reason = 'it is not running' } = server.status;
  const isOurs = state === 'stopped' || state === 'needs_approval';
  const failure = isOurs ? new LinkFailure(reason, state) : (server.failure ?? new LinkFailure(reason, 'not_running'));
  return new NotDispatchedError(reason, fault ?? server.faultOf(failure), server.retryAfter ?? retryAfter);
}
