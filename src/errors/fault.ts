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

/** Directive for the request that met the fault (O2.3). */
export type RecoveryDirective = 'retry_in_place' | 'restart_and_replay' | 'abort_request';

/** Hint for the supervisor of the process. A hint advises and never authorises a replay (O2.3). */
export type RecoveryHint = 'keep_worker' | 'replace_worker' | 'roll_forward' | 'abort_host';

export interface Fault {
  /** Generation of the process that met the fault; the first is 1. */
  readonly generation: number;
  readonly class: FaultClass;
  readonly code: string;
  readonly directive: RecoveryDirective;
  readonly recovery_hint: RecoveryHint;
  /** Detail on one line, free of secrets. */
  readonly detail: string;
  /** Name of the secret that is missing, for `secret_missing`. */
  readonly secret?: string;
}

/** Removes secrets from a text. */
export type Scrub = (text: string) => string;

export interface FaultFacts {
  generation: number;
  /** Detail beyond the code, as found. Secrets are masked, then the text becomes one bounded line. */
  detail?: string;
  secret?: string | undefined;
}

/** Limit of the text that is masked. Masking precedes the cut, because half a secret is still a secret. */
const MAX_SCRUBBED_CHARS = 8_000;
const MAX_DETAIL_CHARS = 300;
const CODE_FORM = /^[a-z0-9_]+$/;

/** Makes a fault of the table in `faultCodes.ts`. */
export function faultOf(code: KnownFaultCode, facts: FaultFacts, scrub: Scrub): Fault {
  return customFault(code, FAULT_CODES[code], facts, scrub);
}

/** Makes a fault outside of the table, for programs that use this room for another purpose. */
export function customFault(
  code: string,
  traits: Pick<FaultTraits, 'class' | 'directive' | 'recovery_hint'>,
  { generation, detail = '', secret }: FaultFacts,
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
    ...(secret !== undefined && { secret }),
  });
}

/** Converts a fault into the fault of a call, with its cause in the detail. Secrets are masked already. */
export function faultFrom(code: KnownFaultCode, cause: Fault): Fault {
  const detail = cause.detail === '' ? cause.code : `${cause.code}: ${cause.detail}`;
  return faultOf(code, { generation: cause.generation, detail }, (text) => text);
}

/** Error for a malformed fault, which is a mistake in a program. */
export class InvalidFaultError extends Error {
  override readonly name = 'InvalidFaultError';
}

function show(code: string): string {
  return JSON.stringify(oneLine(code, 40));
}
