import { OWN_BUSINESS } from '../../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';

/** Levels of RFC 5424, the least urgent first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SET_TIMEOUT_MS = 5_000;

export function isLevel(value: unknown): value is string {
  return LEVELS.includes(value as string);
}

/** Log levels of sessions. A server has one level: the most verbose that any session wants. */
export class LogLevels {
  readonly #levels = new Map<object, string>();

  set(session: object, level: string): void {
    this.#levels.set(session, level);
  }

  forget(session: object): void {
    this.#levels.delete(session);
  }

  /** Whether a session gets a message. A session without a level gets every message. */
  admits(session: object, level: unknown): boolean {
    const wanted = this.#levels.get(session);
    return wanted === undefined || !isLevel(level) || LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
  }

  /** Sets the level of a running server. Others get it when they start. */
  apply(connection: ServerConnection): void {
    const wanted = [...this.#levels.values()].map((level) => LEVELS.indexOf(level));
    if (wanted.length === 0 || connection.state !== 'ready' || !connection.capabilities.logging) return;
    const level = LEVELS[Math.min(...wanted)] as string;
    const options = { timeoutMs: SET_TIMEOUT_MS, origin: OWN_BUSINESS };
    // If the server refuses, it logs at its own level; sessions still get only their levels.
    void connection.request('logging/setLevel', { level }, options).catch(() => undefined);
  }
}
