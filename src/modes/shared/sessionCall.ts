import type { ClientPeer } from '../../mcp/session/sessionMode.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';

/** Running request of a client. Requests of its server go to that client meanwhile. */
export class SessionCall implements CallOrigin {
  /** Same object for all calls of one MCP session. */
  readonly session: object;
  /** Absent if no MCP client made the call. */
  readonly peer: ClientPeer | undefined;
  stillWorking?: () => void;
  taskId?: string;
  #isOver = false;
  #over: AbortController | undefined;

  constructor(peer: ClientPeer | undefined) {
    this.peer = peer;
    this.session = peer?.session ?? this;
  }

  /** A call that does not come from an MCP client can be asked nothing. */
  get clientCapabilities(): Readonly<Record<string, unknown>> {
    return this.peer?.capabilities ?? {};
  }

  /** Aborted once the call is answered: later requests of the server have no receiver. */
  get over(): AbortSignal {
    // Few servers ask anything, so most calls need none.
    this.#over ??= new AbortController();
    if (this.#isOver) this.#over.abort(OVER);
    return this.#over.signal;
  }

  end(): void {
    this.#isOver = true;
    this.#over?.abort(OVER);
  }
}

/** Shared by all calls, because creating an exception is the most expensive step at the end of a call. */
const OVER = new DOMException('The call has its answer.', 'AbortError');
