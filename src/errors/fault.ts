import { oneLine } from '../text/porcelain.ts';
import { FAULT_CODES, type FaultTraits, type KnownFaultCode } from './faultCodes.ts';

/**
 * Class of a failure. A failure is a value (O2.1): restart policy, breaker, health, telemetry and the words for a model
 * derive from it, never from a text.
 */
export type FaultClass =
  | 'transport'
  | 'process'
  | 'protocol'
  | 'timeout'
  | 'downstream'
  | 'resource'
  | 'replay'
  | 'rollout'
  | 'invariant'
  | 'ambiguous_outcome';

/** What is done about the request that met the fault. */
export type RecoveryDirective = 'retry_in_place' | 'restart_and_replay' | 'abort_request';

/** What would help whoever supervises the process. It advises; it never authorises a replay. */
export type RecoveryHint = 'keep_worker' | 'replace_worker' | 'roll_forward' | 'abort_host';

export interface Fault {
  /** Which start of the process it befell; the first is 1. */
  readonly generation: number;
  readonly class: FaultClass;
  readonly code: string;
  readonly directive: RecoveryDirective;
  readonly recovery_hint: RecoveryHint;
  /** One line, free of secrets. */
  readonly detail: string;
}

/** Removes what is secret from a text. */
export type Scrub = (text: string) => string;

export interface FaultFacts {
  generation: number;
  /** What is known beyond the code, as it was found: it is scrubbed, then made one bounded line. */
  detail?: string;
}

/** A secret is still one when it was cut in two, so the text is scrubbed first; what is longer than this nobody reads. */
const MAX_SCRUBBED_CHARS = 8_000;
const MAX_DETAIL_CHARS = 300;
const CODE_FORM = /^[a-z0-9_]+$/;

/** A fault of the table in `faultCodes.ts`. */
export function faultOf(code: KnownFaultCode, facts: FaultFacts, scrub: Scrub): Fault {
  return customFault(code, FAULT_CODES[code], facts, scrub);
}

/** A fault that the table does not know, of whoever uses this room for something else. */
export function customFault(
  code: string,
  traits: Pick<FaultTraits, 'class' | 'directive' | 'recovery_hint'>,
  { generation, detail = '' }: FaultFacts,
  scrub: Scrub,
): Fault {
  if (!CODE_FORM.test(code)) throw new InvalidFaultError(`A fault's code is of a-z, 0-9 and _, not ${show(code)}.`);
  if (!Number.isSafeInteger(generation) || generation < 1) {
    throw new InvalidFaultError(`A fault's generation is a whole number from 1 on, not ${generation}.`);
  }
  return Object.freeze({
    generation,
    class: traits.class,
    code,
    directive: traits.directive,
    recovery_hint: traits.recovery_hint,
    detail: oneLine(scrub(detail.slice(0, MAX_SCRUBBED_CHARS)), MAX_DETAIL_CHARS),
  });
}

/** The fault that another one becomes for a call: its cause is told along. It was scrubbed already. */
export function faultFrom(code: KnownFaultCode, cause: Fault): Fault {
  const detail = cause.detail === '' ? cause.code : `${cause.code}: ${cause.detail}`;
  return faultOf(code, { generation: cause.generation, detail }, (text) => text);
}

/** Programs make faults, so a malformed one is a mistake in a program. */
export class InvalidFaultError extends Error {
  override readonly name = 'InvalidFaultError';
}

function show(code: string): string {
  return JSON.stringify(oneLine(code, 40));
}
