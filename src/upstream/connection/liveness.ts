import type { Oddities } from '../../mcp/wire/oddities.ts';
import { type UpstreamClient, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import type { Live } from '../start/serverStart.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';

/** Time for the answer to a ping. Any working server answers sooner, and a busy one sends at least something (O5.7). */
const PING_MS = 2_000;

/**
 * Pings a server that missed a call's deadline. Any sign of life counts, including an error, because the server may be
 * busy with that call. A server that sends nothing would not answer the next call either.
 */
export async function showsLife(client: UpstreamClient, pingMs = PING_MS): Promise<boolean> {
  const asked = performance.now();
  try {
    await client.request('ping', {}, { timeoutMs: pingMs });
    return true;
  } catch {
    // An error is also an answer. If the client is closed, the supervisor reports the loss.
    return client.closed || client.heardAt > asked;
  }
}

/** Replaces a process that missed a deadline and sends nothing, because every further call would hang too. */
export class LifeCheck {
  readonly #oddities: Oddities;
  #checking: UpstreamClient | undefined;

  constructor(oddities: Oddities) {
    this.#oddities = oddities;
  }

  async check(live: Live | undefined): Promise<void> {
    if (live?.link.pid === undefined || this.#checking === live.client) return;
    this.#checking = live.client;
    if (await showsLife(live.client)) this.#checking = undefined;
    else {
      this.#oddities.add('unresponsive');
      live.lose(new LinkFailure('It stopped answering, so it was ended.', 'unresponsive'));
    }
  }
}

/** Distinguishes a deadline from a cancellation. */
export function ranOutOfTime(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof UpstreamRequestError && error.failure === 'timeout') return true;
  // Dispatch reports its own deadlines through the signal.
  const { name } = (signal?.reason ?? {}) as { name?: unknown };
  return name === 'DeadlineError' || name === 'TimeoutError';
}
