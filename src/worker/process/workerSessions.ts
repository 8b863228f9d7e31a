import type { Socket } from 'node:net';
import type { SessionStatus } from '../../control/contract.ts';
import type { Hello } from '../../link/linkHandshake.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { type SessionServer, serveSession } from '../../mcp/session/sessionServer.ts';
import { Turns } from '../../mcp/session/turns.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Sessions that a worker serves, with their status and the notifications to all of them. */
export class WorkerSessions {
  readonly #gateway: Gateway;
  readonly #onChange: () => void;
  readonly #sessions = new Map<SessionServer, { id: string; mode: Mode; since: number }>();
  readonly #turns = new Turns();
  #next = 1;
  #succeeded = false;

  constructor(gateway: Gateway, onChange: () => void) {
    this.#gateway = gateway;
    this.#onChange = onChange;
  }

  get statuses(): SessionStatus[] {
    return [...this.#sessions].map(([session, status]) => {
      const { name, version, protocolVersion } = session.client;
      return { ...status, client: name, clientVersion: version, protocolVersion };
    });
  }

  serve(socket: Socket, { marksRelated = false, mode = DEFAULT_MODE }: Hello): void {
    const { modes, diagnostics, account } = this.#gateway;
    const id = `s${this.#next++}`;
    const session = serveSession(socket, modes[mode], {
      id,
      marksRelated,
      turns: this.#turns,
      onRequest: (request) => diagnostics.sessionAnswered(request),
      onLost: (calls, { name }) => account.lost(calls, name),
    });
    this.#sessions.set(session, { id, mode, since: Date.now() });
    // A session that attached during the announcement missed it.
    if (this.#succeeded) session.announceSuccessor();
    session.onClose(() => {
      this.#sessions.delete(session);
      account.activity.sessionEnded(id);
      this.#onChange();
    });
    this.#onChange();
  }

  /** Announces that another worker serves from now on. */
  announceSuccessor(): void {
    this.#succeeded = true;
    for (const session of this.#sessions.keys()) session.announceSuccessor();
  }

  /** Gives requests that have not begun to the successor. */
  handBack(): void {
    this.#gateway.account.close();
    for (const session of this.#sessions.keys()) session.handBack();
  }

  announceStop(): void {
    for (const session of this.#sessions.keys()) session.announceStop();
  }
}
