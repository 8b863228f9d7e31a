import type { Fault } from '../errors/fault.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** A call as whoever makes it hands it to the journal. What it carries is the journal's business nowhere. */
export interface JournalCall<Payload> {
  readonly id: string;
  readonly contract: ReplayContract;
  readonly payload: Payload;
  /** What keeping it costs. */
  readonly bytes: number;
  /** Whether something can be asked about its effect; without that `probe_required` is as good as `never_replay`. */
  readonly canProbe: boolean;
  /** Whoever gets it says so (`begin`) before it does anything of it: one that has said nothing has not begun. */
  readonly declared?: boolean;
  /** How often whoever made it lets it be sent again; the journal's own limit holds without it, and above it. */
  readonly maxReplays?: number;
}

/** How a call ended. There is one such end for every call that was admitted and not cancelled. */
export type Terminal<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly generation: number; readonly dispatches: number }
  /** Its answer is lost and its effect is there. */
  | { readonly kind: 'completed_by_probe'; readonly dispatches: number }
  /** Goes into `faultError` as it is. */
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly knowledge: ExecutionKnowledge;
      readonly contract: ReplayContract;
      readonly dispatches: number;
    };

/** What the journal has done. Each may call the journal again, at once or later. */
export interface JournalEffects<Payload, Reply> {
  /**
   * Sends a call to a generation; `replays`: how often it was sent before. False: not a byte of it left, and the
   * generation takes no more.
   */
  dispatch(call: JournalCall<Payload>, generation: number, replays: number): boolean;
  /** No generation can have it now: whoever can starts one, or gives it up. Told each time that it is found so. */
  wait?(call: JournalCall<Payload>): void;
  /** Asks whether a lost call took effect, and tells by `resolveProbe`. */
  probe?(call: JournalCall<Payload>, generation: number): void;
  settle(call: JournalCall<Payload>, terminal: Terminal<Reply>): void;
}

export interface JournalLimits {
  /** Calls that have no answer yet, wherever they are. */
  maxCalls: number;
  maxBytes: number;
  /** Calls that wait for a generation. */
  maxWaiting: number;
  /** How often a call may be sent after the first time. */
  maxReplays: number;
  /**
   * Once so many generations have ended while they had it, a call is taken for what ends them, and sent to no other; so
   * is one that two have ended with, and that may not be sent again anyway. Without it, how often it may be sent is all that bounds that.
   */
  maxEnded?: number;
  /** How often it may be asked whether a call took effect, where the asking is lost too. */
  maxProbes: number;
  /** Seconds that somebody who was turned away should wait. */
  retryAfter: number;
}

export type Admission = { readonly admitted: true } | Refused;

export interface Refused {
  readonly admitted: false;
  readonly fault: Fault;
  readonly retryAfter?: number;
}

/** What became of a reply. All but the first are ignored and counted: none of them is a reason to restart anything. */
export type ReplyVerdict =
  | 'delivered'
  /** Answered already. */
  | 'duplicate'
  /** Cancelled, given up or answered for. */
  | 'late'
  /** Of a generation that does not have the call. */
  | 'stale'
  /** Nobody asked. */
  | 'unknown';

export interface JournalCounts {
  admitted: number;
  rejected: number;
  /** Sent for the first time. */
  dispatched: number;
  replayed: number;
  probed: number;
  cancelled: number;
  completed_by_probe: number;
  faulted: number;
  replies: Record<ReplyVerdict, number>;
}

export function noCounts(): JournalCounts {
  return {
    admitted: 0,
    rejected: 0,
    dispatched: 0,
    replayed: 0,
    probed: 0,
    cancelled: 0,
    completed_by_probe: 0,
    faulted: 0,
    replies: { delivered: 0, duplicate: 0, late: 0, stale: 0, unknown: 0 },
  };
}
