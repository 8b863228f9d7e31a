import { GatewayError } from '../../errors/gatewayError.ts';

/** Makes the error for a selector that does not suit the artifact. */
export function viewFailed(message: string): GatewayError {
  return new GatewayError('VIEW_FAILED', message);
}
