import type { Fault } from '../errors/fault.ts';
import type { JournalCall } from './journalCall.ts';
import type { ExecutionKnowledge } from './replay.ts';

/** Waits for a generation; is with one; waits for one that can be asked; is being asked about. */
export type Phase = 'waiting' | 'in_flight' | 'held' | 'probing';

/** What a journal keeps of a call that is not over. */
export interface JournalEntry<Payload> {
  call: JournalCall<Payload>;
  phase: Phase;
  /** Who has it, or is asked about it; 0 for nobody. */
  generation: number;
  dispatches: number;
  /** How many generations have ended while they had it. */
  ended: number;
  /** A generation that had it is gone, and nobody will ever tell what came of it there. */
  lost: boolean;
  /** Since it was sent last. */
  probes: number;
  /** Who has it has said that it begins. */
  begun: boolean;
  /** How many were lost before they had begun with it. */
  unbegun: number;
  /** It never took this call; it is not offered it again. */
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

/** Whether this generation is the one whose reply counts. */
export function isWith(entry: JournalEntry<unknown>, generation: number): boolean {
  return entry.phase === 'in_flight' && entry.generation === generation;
}

/** Whoever has it would have said so before it began. */
export function isUnbegun({ phase, call, begun }: JournalEntry<unknown>): boolean {
  return phase === 'in_flight' && call.declared === true && !begun;
}

export function knowledgeOf(entry: JournalEntry<unknown>): ExecutionKnowledge {
  if (entry.phase === 'in_flight') return 'in_flight';
  return entry.lost ? 'outcome_unknown' : 'not_dispatched';
}
