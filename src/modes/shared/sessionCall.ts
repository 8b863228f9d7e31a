import type { ClientPeer } from '../../mcp/session/sessionMode.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';

/** A request of a client's while it is under way: what its server asks meanwhile goes to that client. */
export class SessionCall implements CallOrigin {
  /** The same for all calls of one MCP session. */
  readonly session: object;
  /** Absent where no MCP client has made the call. */
  readonly peer: ClientPeer | undefined;
  stillWorking?: () => void;
  taskId?: string;
  readonly #over = new AbortController();

  constructor(peer: ClientPeer | undefined) {
    this.peer = peer;
    this.session = peer?.session ?? this;
  }

  /** Aborted when the call has its answer: whatever its server still asks is for nobody. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    this.#over.abort(OVER);
  }
}

/** One for all: to make one costs more than anything else at the end of a call. */
const OVER = new DOMException('The call has its answer.', 'AbortError');
