import { GatewayError } from '../../errors/gatewayError.ts';

/** The artifact has not what the selector asks for. */
export function viewFailed(message: string): GatewayError {
  return new GatewayError('VIEW_FAILED', message);
}
