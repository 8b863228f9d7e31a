import type { Fault } from './fault.ts';
import { CHECK_FIRST, type FaultTraits, traitsOf } from './faultCodes.ts';
import { GatewayError } from './gatewayError.ts';
import { oneLine } from './porcelain.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** What the teller of a fault knows beyond the fault itself. */
export interface Telling {
  /** Whose fault it is, as the model knows it: the server's name, or "Waygate's worker". */
  subject: string;
  knowledge: ExecutionKnowledge;
  contract: ReplayContract;
  /** The `tool_id`, or what else the error is about (000 §3.4). */
  path?: string;
  /** Seconds, where it is known when it is worth calling again. */
  retryAfter?: number;
  /** How often it was sent in all, where that was more than once. */
  dispatches?: number;
  /** How long it had to answer, where that has run out. */
  withinMs?: number;
  /** For whoever forwards a server's error as it came. */
  cause?: unknown;
}

const MAX_SUBJECT_CHARS = 60;
/** An error line for a model (000 §3.4). */
const MAX_MESSAGE_CHARS = 256;

/** The one way from a fault to the error object of 000 §3.4 (004, Failure Shaping). */
export function faultError(fault: Fault, telling: Telling): GatewayError {
  const traits = traitsOf(fault);
  const { knowledge, contract } = telling;
  const lost = knowledge === 'in_flight' || knowledge === 'outcome_unknown';
  const mayHaveTakenEffect = lost && contract !== 'convergent';
  const isSafe = lost && !mayHaveTakenEffect && traits.retryable;
  const next = mayHaveTakenEffect ? CHECK_FIRST : isSafe ? whenSafe(telling) : whenToCall(telling, traits);
  return new GatewayError(traits.error, sentence(fault, telling, next), {
    path: telling.path ?? '',
    cause: telling.cause,
    fault,
    retryable: traits.retryable && !mayHaveTakenEffect,
    details: {
      ...(knowledge === 'not_dispatched' ? { outcome: 'not_dispatched' } : lost ? { outcome: 'unknown' } : {}),
      fault: `${fault.class}/${fault.code}`,
      ...(fault.class === 'resource' && traits.error === 'RATE_LIMITED' ? { scope: 'queue' } : {}),
      ...(telling.retryAfter === undefined ? {} : { retry_after: telling.retryAfter }),
      ...((telling.dispatches ?? 1) > 1 ? { attempts: telling.dispatches } : {}),
    },
  });
}

function sentence(fault: Fault, telling: Telling, next: string): string {
  const { says, saysWithin, tellsDetail } = traitsOf(fault);
  const { withinMs } = telling;
  const said = saysWithin === undefined || withinMs === undefined ? says : `${saysWithin} ${withinMs / 1_000} s`;
  const subject = `${oneLine(telling.subject, MAX_SUBJECT_CHARS)} ${said}`;
  // What to do about it is never cut off: the detail has what room is left.
  const room = MAX_MESSAGE_CHARS - subject.length - next.length - ': . '.length;
  const detail = tellsDetail && fault.detail !== '' ? `: ${oneLine(fault.detail, room)}` : '';
  return `${ended(`${subject}${detail}`)} ${next}`;
}

function whenSafe({ retryAfter }: Telling): string {
  return retryAfter === undefined ? 'It is safe to repeat.' : `It is safe to repeat${after(retryAfter)}`;
}

function whenToCall({ retryAfter, knowledge }: Telling, { retryable, advice }: FaultTraits): string {
  const sent = knowledge === 'not_dispatched' ? 'Nothing was sent. ' : '';
  return `${sent}${retryable && retryAfter !== undefined ? `Call again${after(retryAfter)}` : advice}`;
}

function after(seconds: number): string {
  return ` after ${Math.ceil(seconds)} s.`;
}

function ended(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}
