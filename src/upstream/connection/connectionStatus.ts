import type { ServerState } from '../../control/serverStates.ts';
import type { SupervisionState } from '../../supervision/health.ts';
import type { LinkFailure } from '../transports/upstreamLink.ts';

/** State of a connection; a server that is switched off has none. */
export type ConnectionState = Exclude<ServerState, 'disabled'>;

/** What the person must do before a server may start: no supervisor can help that. */
export type Bar = 'needs_approval' | 'needs_sign_in';

/** All that state and reason follow from. */
export interface StatusFacts {
  stopped: boolean;
  barred: Bar | undefined;
  approvalNote: string;
  supervision: SupervisionState;
  /** What ended it, or kept it from starting. */
  failure: LinkFailure | undefined;
  /** It ran since its last failed start: what ended it is no reason yet to call it down. */
  hasRun: boolean;
  /** Whether it has ever been listed. */
  isKnown: boolean;
  /** Said of a start that takes long. */
  slowNote: string | undefined;
  /** Said of a server that serves, but not all that was asked of it. */
  remark: string | undefined;
  /** Said of what is shown of a server that cannot be asked. */
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

  /** Derives state and reason anew and reports them if they changed. */
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
  const { stopped, barred, supervision, failure } = facts;
  if (stopped) return { state: 'stopped', reason: undefined };
  if (barred === 'needs_approval') return { state: 'needs_approval', reason: facts.approvalNote };
  if (barred) return { state: barred, reason: failure?.message };
  const reason = failure && `${failure.message}${facts.staleNote}`;
  switch (supervision) {
    case 'running':
      return { state: 'ready', reason: facts.remark };
    case 'idle':
    case 'stopped':
      return { state: facts.isKnown ? 'not_started' : 'starting', reason: undefined };
    case 'starting':
      // Once it has failed to come, it is down until it is there.
      if (!failure || facts.hasRun) return { state: 'starting', reason: facts.slowNote };
      break;
    case 'needs_sign_in':
      return { state: 'needs_sign_in', reason };
  }
  return { state: failure?.code === 'secret_missing' ? 'needs_secret' : 'failed', reason };
}
