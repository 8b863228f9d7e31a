import { GatewayError } from '../ops/gatewayError.ts';
import { errorText } from '../ops/porcelain.ts';
import { errorResponse, INTERNAL_ERROR, type RequestId, resultResponse } from '../protocol/frames.ts';

/** The answers that the host gives for a worker that is not there: tool results, as every operational fault. */

interface Request {
  id: RequestId;
  method: string;
}

/** For a call that may have taken effect: it is not repeated, and it is told so (004, Replay). */
export function lostCallResponse(request: Request): string {
  return faultResponse(
    request,
    new GatewayError(
      'UPSTREAM_UNAVAILABLE',
      'The gateway went away while this call ran, so its outcome is unknown: it may have taken effect. Check before you repeat it.',
      { retryable: false, details: { outcome: 'unknown' } },
    ),
  );
}

/** For a request that never reached a worker. */
export function unreachableResponse(request: Request, reason: string): string {
  return faultResponse(
    request,
    new GatewayError('UPSTREAM_UNAVAILABLE', reason, { details: { outcome: 'not_dispatched' } }),
  );
}

function faultResponse(request: Request, fault: GatewayError): string {
  if (request.method !== 'tools/call') return errorResponse(request.id, INTERNAL_ERROR, fault.message);
  return resultResponse(request.id, { content: [{ type: 'text', text: errorText(fault) }], isError: true });
}
