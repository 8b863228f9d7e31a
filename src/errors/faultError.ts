import type { ExecutionKnowledge, ReplayContract } from '../replay/replay.ts';
import { asSentence, oneLine } from '../text/porcelain.ts';
import { approveCommand, loginCommand, secretCommand } from '../text/userCommands.ts';
import type { Fault } from './fault.ts';
import { CHECK_FIRST, type FaultTraits, traitsOf } from './faultCodes.ts';
import { GatewayError } from './gatewayError.ts';

/** Facts about a failed call beyond the fault itself. */
export interface FailedCall {
  /** Name of the failed server, as the model knows it; undefined for Waygate's own worker. */
  subject: string | undefined;
  /** Log of Waygate's own worker, which has the reason. */
  log?: string;
  knowledge: ExecutionKnowledge;
  contract: ReplayContract;
  /** `tool_id`, or another subject of the error (G4.3). */
  path?: string;
  /** Seconds until another call is worthwhile, where known. */
  retryAfter?: number;
  /** Number of dispatches, where more than one. */
  dispatches?: number;
  /** Time limit of the call, where it has run out. */
  withinMs?: number;
  /** Original error, for callers that forward it. */
  cause?: unknown;
}

const OWN_SUBJECT = "Waygate's worker";
const MAX_SUBJECT_CHARS = 60;
/** Limit of an error line for a model (G4.5). */
const MAX_MESSAGE_CHARS = 256;
/** Least length of a detail that is worth showing. */
const MIN_DETAIL_CHARS = 20;

/** Converts a fault into an error object (O2.7). All faults go this way. */
export function faultError(fault: Fault, call: FailedCall): GatewayError {
  const traits = traitsOf(fault);
  const { knowledge, contract } = call;
  const lost = knowledge === 'in_flight' || knowledge === 'outcome_unknown';
  const mayHaveTakenEffect = lost && contract !== 'convergent';
  const isSafe = lost && !mayHaveTakenEffect && traits.retryable;
  const command = commandFor(fault, call);
  const next = mayHaveTakenEffect ? CHECK_FIRST : isSafe ? whenSafe(call) : whenToCall(fault, call, traits);
  return new GatewayError(traits.error, sentence(fault, call, next), {
    path: call.path ?? '',
    cause: call.cause,
    fault,
    retryable: traits.retryable && !mayHaveTakenEffect,
    details: {
      ...(knowledge === 'not_dispatched' ? { outcome: 'not_dispatched' } : lost ? { outcome: 'unknown' } : {}),
      fault: `${fault.class}/${fault.code}`,
      ...(fault.class === 'resource' && traits.error === 'RATE_LIMITED' ? { scope: 'queue' } : {}),
      ...(call.retryAfter === undefined ? {} : { retry_after: call.retryAfter }),
      ...((call.dispatches ?? 1) > 1 ? { attempts: call.dispatches } : {}),
      ...(call.log === undefined ? {} : { log: call.log }),
      ...(command === undefined ? {} : { command }),
    },
  });
}

/** Returns the command by which the user makes the server serve; undefined if there is none. */
function commandFor({ code, secret }: Fault, { subject, knowledge, cause }: FailedCall): string | undefined {
  if (subject === undefined) return undefined;
  if (code === 'needs_approval') return approveCommand(subject);
  if (code === 'secret_missing') return secret && secretCommand(secret);
  // A server that lacks a key of its own answers calls in similar words, and no sign-in helps it.
  const isRefusal = knowledge === 'not_dispatched' || (cause as { failure?: unknown } | undefined)?.failure === code;
  return code === 'unauthorized' && isRefusal ? loginCommand(subject) : undefined;
}

function sentence(fault: Fault, call: FailedCall, next: string): string {
  // The advice is never cut; the description gets the remaining room.
  return `${whatHappened(fault, call, MAX_MESSAGE_CHARS - next.length - 1)} ${next}`;
}

/** Returns a sentence that describes the failure, without advice. */
export function whatHappened(
  fault: Fault,
  { subject, withinMs }: Pick<FailedCall, 'subject' | 'withinMs'>,
  limit = MAX_MESSAGE_CHARS,
): string {
  const { says, saysWithin, showsDetail } = traitsOf(fault);
  const said = saysWithin === undefined || withinMs === undefined ? says : `${saysWithin} ${withinMs / 1_000} s`;
  const happened = `${oneLine(subject ?? OWN_SUBJECT, MAX_SUBJECT_CHARS)} ${said}`;
  const room = limit - happened.length - ': "".'.length;
  // A failure of Waygate itself has Waygate's own words as detail.
  const isShown = (showsDetail || subject === undefined) && fault.detail !== '' && room >= MIN_DETAIL_CHARS;
  if (!isShown) return asSentence(happened);
  // The server's words end where the quotation mark is: what follows is advice of Waygate.
  const detail = oneLine(fault.detail, room).replace(/\.$/, '');
  return asSentence(`${happened}: ${subject === undefined ? detail : `"${detail.replaceAll('"', "'")}"`}`);
}

function whenToCall(fault: Fault, call: FailedCall, traits: FaultTraits): string {
  const { subject, retryAfter, knowledge, log } = call;
  const { advice, ownAdvice = advice, ownAdviceIn } = traits;
  const sent = knowledge === 'not_dispatched' ? 'Nothing was sent. ' : '';
  if (traits.retryable && retryAfter !== undefined) return `${sent}Call again${after(retryAfter)}`;
  if (subject !== undefined) return sent + advice;
  const inFile = ownAdviceIn === undefined || log === undefined ? undefined : `${sent}${ownAdviceIn} ${log}.`;
  // The reason is worth more than the path of the log, which the details contain too.
  const room = MAX_MESSAGE_CHARS - whatHappened(fault, call).length - 1;
  return inFile !== undefined && inFile.length <= room ? inFile : sent + ownAdvice;
}

function whenSafe({ retryAfter }: FailedCall): string {
  return retryAfter === undefined ? 'It is safe to repeat.' : `It is safe to repeat${after(retryAfter)}`;
}

function after(seconds: number): string {
  return ` after ${Math.ceil(seconds)} s.`;
}
