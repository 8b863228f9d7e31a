import type { CatalogTool } from '../../catalog/types.ts';
import { faultError } from '../../errors/faultError.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { failedCall } from '../../upstream/connection/callFailed.ts';
import { CancelledError, DeadlineError } from './deadline.ts';
import { AttemptsFailed } from './retry.ts';

export interface ErrorContext {
  tool: Pick<CatalogTool, 'id' | 'server'>;
  contract: ReplayContract;
  deadlineMs: number;
  /** Signal of the call's deadline. */
  signal?: AbortSignal;
  scrubSecrets(text: string): string;
}

/** Converts a failed dispatch into an error object, in one place: its fault determines all of it (G4.1, O2.1). */
export function dispatchError(thrown: unknown, context: ErrorContext): GatewayError {
  const dispatches = thrown instanceof AttemptsFailed ? thrown.attempts : 1;
  const error = thrown instanceof AttemptsFailed ? thrown.cause : thrown;
  if (error instanceof GatewayError) return error;
  const { tool, contract, signal, deadlineMs, scrubSecrets } = context;
  if (error instanceof CancelledError || signal?.reason instanceof CancelledError) return cancelled(tool.id, error);
  const { fault, knowledge, retryAfterSeconds: retryAfter } = failedCall(error, scrubSecrets);
  return faultError(fault, {
    subject: tool.server,
    knowledge,
    contract,
    path: tool.id,
    dispatches,
    cause: error,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(signal?.reason instanceof DeadlineError ? { withinMs: deadlineMs } : {}),
  });
}

/** Error for a call that the client cancelled. Its outcome is unknown, and no fault is to blame. */
function cancelled(path: string, cause: unknown): GatewayError {
  const message = 'The call was cancelled; it may have taken effect. Check before you repeat it.';
  return new GatewayError('CANCELLED', message, {
    path,
    cause,
    retryable: false,
    details: { outcome: 'unknown' },
  });
}
