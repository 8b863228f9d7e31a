import type { Fault } from '../errors/fault.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** Call as its maker hands it to the journal. The journal never looks into the payload. */
export interface JournalCall<Payload> {
  readonly id: string;
  readonly contract: ReplayContract;
  readonly payload: Payload;
  /** Memory that the call takes. */
  readonly bytes: number;
  /** Whether a probe exists. Without one `probe_required` equals `never_replay`. */
  readonly canProbe: boolean;
  /**
   * Whether the receiver announces the begin of the call (`begin`). Without an announcement such a call has not begun.
   */
  readonly declared?: boolean;
  /** Number of replays that the maker allows. The journal's own limit applies without it, and above it. */
  readonly maxReplays?: number;
}

/** End of a call. Every admitted call that is not cancelled has exactly one. */
export type Terminal<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly generation: number; readonly dispatches: number }
  /** A probe found the effect; the answer is lost. */
  | { readonly kind: 'completed_by_probe'; readonly dispatches: number }
  /** Arguments of `faultError`. */
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly knowledge: ExecutionKnowledge;
      readonly contract: ReplayContract;
      readonly dispatches: number;
    };

/** Effects of the journal. Each may call the journal again, at once or later. */
export interface JournalEffects<Payload, Reply> {
  /**
   * Sends a call to a generation. `replays` counts the earlier dispatches. Returns false if no byte left and the
   * generation accepts no more.
   */
  dispatch(call: JournalCall<Payload>, generation: number, replays: number): boolean;
  /**
   * Reports, each time it happens, that no generation can take the call. The receiver starts a generation or gives up
   * the call.
   */
  wait?(call: JournalCall<Payload>): void;
  /** Probes whether a lost call took effect, and answers with `resolveProbe`. */
  probe?(call: JournalCall<Payload>, generation: number): void;
  settle(call: JournalCall<Payload>, terminal: Terminal<Reply>): void;
}

export interface JournalLimits {
  /** Limit of calls without an answer. */
  maxCalls: number;
  maxBytes: number;
  /** Limit of calls that wait for a generation. */
  maxWaiting: number;
  /** Limit of dispatches after the first. */
  maxReplays: number;
  /**
   * After `maxEnded` generations have died holding a call, assume the call kills them and stop resending it. Two
   * suffice for a call that may not be resent anyway. Without it, only `maxReplays` limits resends.
   */
  maxEnded?: number;
  /** Limit of probes for one loss, since a loss may also hit the probe. */
  maxProbes: number;
  /** Seconds that a rejected caller should wait. */
  retryAfter: number;
}

export type Admission = { readonly admitted: true } | Refused;

export interface Refused {
  readonly admitted: false;
  readonly fault: Fault;
  readonly retryAfter?: number;
}

/** Verdict about a reply. The journal ignores and counts all but the first; none is a reason for a restart. */
export type ReplyVerdict =
  | 'delivered'
  /** The call has its answer already. */
  | 'duplicate'
  /** The call has already ended: cancelled, given up or answered by the journal. */
  | 'late'
  /** The generation does not have the call. */
  | 'stale'
  /** No call has this id. */
  | 'unknown';

export interface JournalCounts {
  admitted: number;
  rejected: number;
  /** First dispatches. */
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
