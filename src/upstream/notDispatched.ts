import type { ConnectionState } from './connectionStatus.ts';

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
  /** What the person must do first, where waiting is of no use. */
  readonly failure: 'unauthorized' | 'unapproved' | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, state?: ConnectionState, retryAfterSeconds?: number) {
    super(reason);
    this.retryAfterSeconds = retryAfterSeconds;
    if (state === 'needs_approval') this.failure = 'unapproved';
    else if (state === 'needs_sign_in' || state === 'needs_secret') this.failure = 'unauthorized';
  }
}
