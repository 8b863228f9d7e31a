import type { ServerState } from '../../control/serverStates.ts';
import type { SupervisionState } from '../../supervision/health.ts';
import type { LinkFailure } from '../transports/upstreamLink.ts';

/** State of a connection; a disabled server has no connection. */
export type ConnectionState = Exclude<ServerState, 'disabled'>;

/** Step that the user must take before a server may start; a restart does not help. */
export type Bar = 'needs_approval' | 'needs_sign_in';

/** States of a server's life: the supervisor's, or a bar. */
export type LifeState = SupervisionState | Bar;

/** Facts from which state and reason follow. */
export interface StatusFacts {
  state: LifeState;
  /** Cause of the last end or failed start. */
  failure: LinkFailure | undefined;
  /** The server has run since its last failed start, so a loss alone does not make it `failed` yet. */
  hasRun: boolean;
  /** The server has been listed at least once. */
  isKnown: boolean;
  /** Note about a slow start. */
  slowNote: string | undefined;
  /** Note about a ready server that lacks something. */
  remark: string | undefined;
  /** Note that the shown catalog is old because the server cannot list. */
  staleNote: string;
}

export interface Status {
  state: ConnectionState;
  reason: string | undefined;
}

/** A server's state and reason as last reported. */
export class ConnectionStatus {
  readonly #facts: () => StatusFacts;
  readonly #log: (line: string) => void;
  readonly #onChange: () => void;
  #status: Status;
  #since = Date.now();

  constructor(
    isKnown: boolean,
    { facts, log, onChange }: { facts(): StatusFacts; log(line: string): void; onChange(): void },
  ) {
    this.#facts = facts;
    this.#log = log;
    this.#onChange = onChange;
    this.#status = { state: isKnown ? 'not_started' : 'starting', reason: undefined };
  }

  get state(): ConnectionState {
    return this.#status.state;
  }

  get reason(): string | undefined {
    return this.#status.reason;
  }

  get since(): number {
    return this.#since;
  }

  /** Derives state and reason again and reports a change. */
  update({ anyway = false } = {}): void {
    const { state, reason } = statusOf(this.#facts());
    const changed = state !== this.#status.state;
    if (changed) this.#since = Date.now();
    const news = changed || reason !== this.#status.reason;
    if (state !== 'starting' && news) this.#log(`${state.replace('_', ' ')}${reason ? `: ${reason}` : ''}`);
    this.#status = { state, reason };
    if (news || anyway) this.#onChange();
  }
}

function statusOf(facts: StatusFacts): Status {
  const { state, failure } = facts;
  const reason = failure && `${failure.message}${facts.staleNote}`;
  switch (state) {
    case 'stopped':
      return { state, reason: undefined };
    case 'needs_approval':
      return { state, reason: NOT_APPROVED };
    case 'needs_sign_in':
      return { state, reason };
    case 'running':
      return { state: 'ready', reason: facts.remark };
    case 'idle':
      return { state: facts.isKnown ? 'not_started' : 'starting', reason: undefined };
    case 'starting':
      // After a failed start the server keeps the state of the failure until it is ready.
      if (!failure || facts.hasRun) return { state, reason: facts.slowNote };
      break;
  }
  return { state: FAILURE_STATES[failure?.code ?? ''] ?? 'failed', reason };
}

/** States of a server that needs the user before it can start, by the fault code of the failed start. */
const FAILURE_STATES: Readonly<Record<string, ConnectionState>> = {
  secret_missing: 'needs_secret',
  unauthorized: 'needs_sign_in',
};

export const NOT_APPROVED = 'It has not been approved for this workspace.';
