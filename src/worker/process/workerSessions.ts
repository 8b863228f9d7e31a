import type { Socket } from 'node:net';
import type { SessionStatus } from '../../control/contract.ts';
import type { Hello } from '../../link/linkHandshake.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { type SessionServer, serveSession } from '../../mcp/session/sessionServer.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** The sessions that a worker serves: what a watcher sees of them, and what is said to all of them. */
export class WorkerSessions {
  readonly #gateway: Gateway;
  readonly #onChange: () => void;
  readonly #sessions = new Map<SessionServer, { id: string; mode: Mode; since: number }>();
  #next = 1;
  #succeeded = false;

  constructor(gateway: Gateway, onChange: () => void) {
    this.#gateway = gateway;
    this.#onChange = onChange;
  }

  get statuses(): SessionStatus[] {
    return [...this.#sessions].map(([session, told]) => {
      const { name, version, protocolVersion } = session.client;
      return { ...told, client: name, clientVersion: version, protocolVersion };
    });
  }

  serve(socket: Socket, { marksRelated = false, mode = DEFAULT_MODE }: Hello): void {
    const { modes, diagnostics, account } = this.#gateway;
    const session = serveSession(socket, modes[mode], {
      marksRelated,
      onRequest: (request) => diagnostics.sessionAnswered(request),
      onLost: (calls, { name }) => account.lost(calls, name),
    });
    this.#sessions.set(session, { id: `s${this.#next++}`, mode, since: Date.now() });
    // One whose greeting was under way when the others were told.
    if (this.#succeeded) session.announceSuccessor();
    session.onClose(() => {
      this.#sessions.delete(session);
      this.#onChange();
    });
    this.#onChange();
  }

  /** From now on there is another worker for them. */
  announceSuccessor(): void {
    this.#succeeded = true;
    for (const session of this.#sessions.keys()) session.announceSuccessor();
  }

  /** What is open in them is the successor's, as far as it has not begun. */
  handBack(): void {
    this.#gateway.account.close();
    for (const session of this.#sessions.keys()) session.handBack();
  }

  announceStop(): void {
    for (const session of this.#sessions.keys()) session.announceStop();
  }
}
