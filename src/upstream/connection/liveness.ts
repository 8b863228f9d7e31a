import type { Oddities } from '../../mcp/wire/oddities.ts';
import { type UpstreamClient, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import type { Live } from '../start/serverStart.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';

/** Time for the answer to a ping. Any working server answers sooner, and a busy one sends at least something (O5.7). */
const PING_MS = 2_000;

/**
 * Whether a server that let a call's deadline pass still lives. Anything it says counts, an error too: it may be busy
 * with that very call, but one that says nothing at all will not answer the next one either.
 */
export async function showsLife(client: UpstreamClient, pingMs = PING_MS): Promise<boolean> {
  const asked = performance.now();
  try {
    await client.request('ping', {}, { timeoutMs: pingMs });
    return true;
  } catch {
    // An error is an answer too. Gone already: whoever watches its end tells of that.
    return client.closed || client.heardAt > asked;
  }
}

/** A process that let a deadline pass and says nothing at all is replaced: every further call would hang too. */
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

/** Whether a request was given up because its time was over, not because nobody wanted it any more. */
export function ranOutOfTime(error: unknown, signal: AbortSignal | undefined): boolean {
  if (error instanceof UpstreamRequestError && error.failure === 'timeout') return true;
  // Dispatch has deadlines of its own, which it tells by the signal.
  const { name } = (signal?.reason ?? {}) as { name?: unknown };
  return name === 'DeadlineError' || name === 'TimeoutError';
}
