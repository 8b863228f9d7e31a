import { GatewayError } from '../../ops/gatewayError.ts';

/** The artifact has not what the selector asks for. */
export function viewFailed(message: string): GatewayError {
  return new GatewayError('VIEW_FAILED', message);
}
