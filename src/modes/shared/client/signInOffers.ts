import { randomUUID } from 'node:crypto';
import type { SignInAnswer } from '../../../control/contract.ts';
import { untilAborted } from '../../../lib/untilAborted.ts';
import type { ClientPeer } from '../../../mcp/session/sessionMode.ts';
import { markdownLine } from '../../../text/approvalQuestion.ts';
import { quoted } from '../../../text/porcelain.ts';
import { SessionCall } from '../sessionCall.ts';
import { QuestionLimits } from './questionLimits.ts';

export interface SignInPorts {
  /** Begins a sign-in, or finds the one that is under way. Its URL is one that the gateway has checked. */
  begin(server: string): Promise<SignInAnswer>;
  /** Resolves at the end of the sign-in. */
  ended(server: string): Promise<{ reason?: string }>;
  /** Whether an editor watches, which shows what waits for a sign-in itself. */
  hasEditor(): boolean;
  log(line: string): void;
}

const NO_SIGNAL = new AbortController().signal;
/** Time for the user to consent. The sign-in itself has a limit of its own. */
const CONSENT_MS = 10 * 60_000;
/** Interval for extending the deadline of a call that waits for its user; well below the shortest deadline. */
const STILL_WORKING_MS = 200;
const MAX_NAME_CHARS = 80;

/**
 * Offers the sign-in at a server to the client whose call needs it, by a URL that the user opens (MCP 2025-11-25,
 * Elicitation, URL mode). The URL is the gateway's own. Nothing of the server's text reaches the question.
 */
export class SignInOffers {
  readonly #ports: SignInPorts;
  readonly #limits = new QuestionLimits();

  constructor(ports: SignInPorts) {
    this.#ports = ports;
  }

  /** Resolves to whether the user has signed in. Never rejects; a client without the capability is not asked. */
  async offer(server: string, call: object, signal: AbortSignal = NO_SIGNAL): Promise<boolean> {
    // The gateway's own requests have no client.
    const peer = call instanceof SessionCall ? call.peer : undefined;
    const { elicitation } = (peer?.capabilities ?? {}) as { elicitation?: { url?: unknown } };
    if (!(call instanceof SessionCall) || !peer || !elicitation?.url || this.#ports.hasEditor()) return false;
    const timer = setInterval(() => call.stillWorking?.(), STILL_WORKING_MS);
    let end: (() => void) | undefined;
    try {
      end = this.#limits.begin(server, 'sign-in', call);
      return await this.#ask(server, peer, signal);
    } catch (error) {
      if (!signal.aborted) this.#ports.log(`${server}: the offered sign-in failed: ${(error as Error).message}`);
      return false;
    } finally {
      clearInterval(timer);
      end?.();
    }
  }

  async #ask(server: string, peer: ClientPeer, signal: AbortSignal): Promise<boolean> {
    const begun = await this.#ports.begin(server);
    if ('reason' in begun) throw new Error(begun.reason);
    const elicitationId = randomUUID();
    // Clients show the message as Markdown.
    const named = markdownLine(quoted(server, MAX_NAME_CHARS));
    const message = `Waygate asks: sign in to the server ${named}, which the call needs. The page is at ${new URL(begun.url).host}.`;
    const over = new AbortController();
    const ended = untilAborted(this.#ports.ended(server), signal);
    const answered = peer.request(
      'elicitation/create',
      { mode: 'url', message, url: begun.url, elicitationId },
      { timeoutMs: CONSENT_MS, signal: AbortSignal.any([signal, over.signal]) },
    );
    // The user may sign in from another call, a window or the command line, which answers this question.
    const accepted = answered.then(({ action }) => action === 'accept');
    const isAccepted = await Promise.race([accepted, ended.then(() => true)]).finally(() => over.abort());
    if (!isAccepted) return false;
    const { reason } = await ended;
    peer.notify('notifications/elicitation/complete', { elicitationId });
    if (reason !== undefined) throw new Error(reason);
    return true;
  }
}
