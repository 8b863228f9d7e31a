import { FAULT_CODES } from '../../src/errors/faultCodes.ts';
import type { GatewayErrorCode } from '../../src/errors/gatewayError.ts';
import { judgeThrown } from '../../src/upstream/connection/judgeThrown.ts';

/** Returns the error code and retryability of a failure (G4.6), from the row of its fault. */
export function classified(error: unknown): {
  code: GatewayErrorCode;
  retryable: boolean;
  retryAfter: number | undefined;
} {
  const { code, retryAfterSeconds: retryAfter } = judgeThrown(error);
  const { error: gatewayError, retryable } = FAULT_CODES[code];
  return { code: gatewayError, retryable, retryAfter };
}
