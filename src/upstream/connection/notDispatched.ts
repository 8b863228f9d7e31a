import type { Fault } from '../../errors/fault.ts';
import { traitsOf } from '../../errors/faultCodes.ts';

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
  /** Why; of whoever knows no more than the words there is none. */
  readonly fault: Fault | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, fault?: Fault, retryAfterSeconds?: number) {
    super(reason);
    this.fault = fault;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** What the person must do first, where waiting is of no use. */
  get failure(): 'unauthorized' | 'unapproved' | undefined {
    const error = this.fault && traitsOf(this.fault).error;
    if (error === 'AUTH_FAILED') return 'unauthorized';
    return error === 'PERMISSION_DENIED' ? 'unapproved' : undefined;
  }
}
