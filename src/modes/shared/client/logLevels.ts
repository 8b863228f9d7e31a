import { OWN_BUSINESS } from '../../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';

/** Of RFC 5424, the least urgent first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SET_TIMEOUT_MS = 5_000;

export function isLevel(value: unknown): value is string {
  return LEVELS.includes(value as string);
}

/** What each session wants to hear of what servers log. A server has one level: that of whoever wants most. */
export class LogLevels {
  readonly #levels = new Map<object, string>();

  set(session: object, level: string): void {
    this.#levels.set(session, level);
  }

  forget(session: object): void {
    this.#levels.delete(session);
  }

  /** A session that has said nothing hears what the server sends. */
  admits(session: object, level: unknown): boolean {
    const wanted = this.#levels.get(session);
    return wanted === undefined || !isLevel(level) || LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
  }

  /** Tells a server that runs; one that does not is told when it starts. */
  apply(connection: ServerConnection): void {
    const wanted = [...this.#levels.values()].map((level) => LEVELS.indexOf(level));
    if (wanted.length === 0 || connection.state !== 'ready' || !connection.capabilities.logging) return;
    const level = LEVELS[Math.min(...wanted)] as string;
    const options = { timeoutMs: SET_TIMEOUT_MS, origin: OWN_BUSINESS };
    // A server that does not take it logs as it likes; sessions are still told only what they want.
    void connection.request('logging/setLevel', { level }, options).catch(() => undefined);
  }
}
