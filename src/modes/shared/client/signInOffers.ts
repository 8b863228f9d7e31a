import { randomUUID } from 'node:crypto';
import type { SignInAnswer } from '../../../control/contract.ts';
import { untilAborted } from '../../../lib/untilAborted.ts';
import { ROUNDS_CAPABILITY } from '../../../mcp/modern/wire.ts';
import type { ClientPeer } from '../../../mcp/session/sessionMode.ts';
import { quoted } from '../../../text/porcelain.ts';
import { SessionCall } from '../sessionCall.ts';
import { QuestionLimits } from './questionLimits.ts';

export interface SignInPorts {
  /** Begins a sign-in, or finds the one that is under way. Its URL is one that the gateway has checked. */
  begin(server: string): Promise<SignInAnswer>;
  /** Resolves at the end of the sign-in. */
  ended(server: string): Promise<{ reason?: string }>;
  log(line: string): void;
}

const NO_SIGNAL = new AbortController().signal;
/** Time for the user to consent. The sign-in itself has a limit of its own. */
const CONSENT_MS = 10 * 60_000;
/** Interval for extending the deadline of a call that waits for its user; well below the shortest deadline. */
const STILL_WORKING_MS = 200;

/**
 * Offers the sign-in at a server to the client whose call needs it, by a URL that the user opens (MCP 2025-11-25,
 * Elicitation, URL mode). The URL is the gateway's own. Nothing of the server's text reaches the question.
 */
export class SignInOffers {
  readonly #ports: SignInPorts;
  readonly #limits = new QuestionLimits();
  /** Open offer per session and server. Simultaneous calls of a session share the question. */
  readonly #open = new WeakMap<object, Map<string, Promise<boolean>>>();

  constructor(ports: SignInPorts) {
    this.#ports = ports;
  }

  /** Resolves to whether the user has signed in. Never rejects; a client without the capability is not asked. */
  async offer(server: string, call: object, signal: AbortSignal = NO_SIGNAL): Promise<boolean> {
    // The gateway's own requests have no client.
    if (!(call instanceof SessionCall)) return false;
    const { peer } = call;
    const { elicitation, experimental = {} } = (peer?.capabilities ?? {}) as Capabilities;
    if (!peer || !elicitation?.url) return false;
    // Such a client may never answer, so no other call waits for its answer.
    if (ROUNDS_CAPABILITY in experimental) return this.#offer(server, call, peer, signal);
    const open = this.#open.get(peer.session) ?? new Map<string, Promise<boolean>>();
    this.#open.set(peer.session, open);
    const asked = open.get(server);
    if (asked) return untilAborted(whileWorking(call, asked), signal).catch(() => false);
    const asking = this.#offer(server, call, peer, signal).finally(() => open.delete(server));
    open.set(server, asking);
    return asking;
  }

  async #offer(server: string, call: SessionCall, peer: ClientPeer, signal: AbortSignal): Promise<boolean> {
    try {
      const end = this.#limits.begin(server, 'sign-in', call);
      return await whileWorking(call, this.#ask(server, peer, signal)).finally(end);
    } catch (error) {
      if (!signal.aborted) this.#ports.log(`${server}: its sign-in could not be offered: ${(error as Error).message}`);
      return false;
    }
  }

  async #ask(server: string, peer: ClientPeer, signal: AbortSignal): Promise<boolean> {
    const begun = await this.#ports.begin(server);
    if ('reason' in begun) throw new Error(begun.reason);
    const elicitationId = randomUUID();
    const message = `Waygate asks: sign in to the server ${quoted(server)}, which the call needs. The page is at ${new URL(begun.url).host}.`;
    const { action } = await peer.request(
      'elicitation/create',
      { mode: 'url', message, url: begun.url, elicitationId },
      { timeoutMs: CONSENT_MS, signal },
    );
    if (action !== 'accept') return false;
    const ended = await untilAborted(this.#ports.ended(server), signal);
    peer.notify('notifications/elicitation/complete', { elicitationId });
    if (ended.reason !== undefined) throw new Error(ended.reason);
    return true;
  }
}

interface Capabilities {
  elicitation?: { url?: unknown };
  experimental?: object;
}

/** Extends the deadline of a call until a promise settles. */
async function whileWorking<T>(call: SessionCall, work: Promise<T>): Promise<T> {
  const timer = setInterval(() => call.stillWorking?.(), STILL_WORKING_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
