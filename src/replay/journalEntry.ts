import type { Fault } from '../errors/fault.ts';
import type { JournalCall } from './journalCall.ts';
import type { ExecutionKnowledge } from './replay.ts';

/** Phase of a call: waits for a generation, is with one, waits for one that answers probes, awaits a probe. */
export type Phase = 'waiting' | 'in_flight' | 'held' | 'probing';

/** State of an open call. */
export interface JournalEntry<Payload> {
  call: JournalCall<Payload>;
  phase: Phase;
  /** Generation that has the call or its probe; 0 for none. */
  generation: number;
  dispatches: number;
  /** Number of generations that ended while they had the call. */
  ended: number;
  /** Whether the call was with a lost generation, so that its outcome there stays unknown. */
  lost: boolean;
  /** Number of probes since the last dispatch. */
  probes: number;
  /** Whether the generation has announced the begin. */
  begun: boolean;
  /** Number of losses before a begin. */
  unbegun: number;
  /** Generation that refused the call and does not get it again. */
  refusedBy: number;
  lastFault: Fault | undefined;
}

export function newEntry<Payload>(call: JournalCall<Payload>): JournalEntry<Payload> {
  return {
    call,
    phase: 'waiting',
    generation: 0,
    dispatches: 0,
    ended: 0,
    lost: false,
    probes: 0,
    begun: false,
    unbegun: 0,
    refusedBy: 0,
    lastFault: undefined,
  };
}

/** Returns whether a reply of this generation counts. */
export function isWith(entry: JournalEntry<unknown>, generation: number): boolean {
  return entry.phase === 'in_flight' && entry.generation === generation;
}

/** Returns whether the call has certainly not begun, because the receiver would have announced it. */
export function isUnbegun({ phase, call, begun }: JournalEntry<unknown>): boolean {
  return phase === 'in_flight' && call.declared === true && !begun;
}

export function knowledgeOf(entry: JournalEntry<unknown>): ExecutionKnowledge {
  if (entry.phase === 'in_flight') return 'in_flight';
  return entry.lost ? 'outcome_unknown' : 'not_dispatched';
}
