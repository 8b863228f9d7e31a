import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** Result of a probe. `unresolved`: the probe could not say, or there is nothing to probe. */
export type ProbeResolution = 'already_completed' | 'safe_to_replay' | 'unresolved';

export type RequestDisposition =
  | 'first_dispatch'
  | 'await_terminal'
  | 'completed'
  | 'replay'
  | 'hold_for_probe'
  | 'complete_from_probe'
  | 'reject_ambiguous_outcome'
  | 'reject_replay_exhausted'
  | 'reject_unexpected_probe_resolution';

export interface Circumstances {
  knowledge: ExecutionKnowledge;
  contract: ReplayContract;
  /** Answer of the probe, if any. */
  probe: ProbeResolution | undefined;
  /** Whether the request may be sent once more. The first dispatch does not count. */
  mayReplay: boolean;
}

/**
 * Decides about a request from the knowledge of its execution (O3.6). The function has no other inputs and no memory.
 */
export function dispositionOf({ knowledge, contract, probe, mayReplay }: Circumstances): RequestDisposition {
  const expectsProbe = knowledge === 'outcome_unknown' && contract === 'probe_required';
  if (probe !== undefined && !expectsProbe) return 'reject_unexpected_probe_resolution';
  switch (knowledge) {
    case 'not_dispatched':
      return 'first_dispatch';
    case 'in_flight':
      return 'await_terminal';
    case 'completed':
      return 'completed';
    case 'outcome_unknown':
      return afterLoss(contract, probe, mayReplay);
  }
}

function afterLoss(
  contract: ReplayContract,
  probe: ProbeResolution | undefined,
  mayReplay: boolean,
): RequestDisposition {
  const replay = mayReplay ? 'replay' : 'reject_replay_exhausted';
  if (contract === 'never_replay') return 'reject_ambiguous_outcome';
  if (contract === 'convergent') return replay;
  switch (probe) {
    case undefined:
      return 'hold_for_probe';
    case 'already_completed':
      return 'complete_from_probe';
    case 'safe_to_replay':
      return replay;
    case 'unresolved':
      return 'reject_ambiguous_outcome';
  }
}
