import type { Fault } from '../../errors/fault.ts';
import { traitsOf } from '../../errors/faultCodes.ts';

/** A call that never left the gateway; the caller may repeat it. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
  /** Fault, unless only the text is known. */
  readonly fault: Fault | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, fault?: Fault, retryAfterSeconds?: number) {
    super(reason);
    this.fault = fault;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Step that the user must take first, if waiting does not help. */
  get failure(): 'unauthorized' | 'unapproved' | undefined {
    const error = this.fault && traitsOf(this.fault).error;
    if (error === 'AUTH_FAILED') return 'unauthorized';
    return error === 'PERMISSION_DENIED' ? 'unapproved' : undefined;
  }
}
