import { FAULT_CODES } from '../../src/errors/faultCodes.ts';
import type { GatewayErrorCode } from '../../src/errors/gatewayError.ts';
import { judgeThrown } from '../../src/upstream/connection/judgeThrown.ts';

/** Error code and retryability of a failure (G4.6): the row of the fault that is made of it. */
export function classified(error: unknown): {
  code: GatewayErrorCode;
  retryable: boolean;
  retryAfter: number | undefined;
} {
  const { code, retryAfterSeconds: retryAfter } = judgeThrown(error);
  const { error: told, retryable } = FAULT_CODES[code];
  return { code: told, retryable, retryAfter };
}
