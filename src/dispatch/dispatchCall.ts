import type { CatalogTool } from '../catalog/types.ts';
import { GatewayError } from '../ops/gatewayError.ts';
import { oneLine } from '../ops/porcelain.ts';
import { type CallOptions, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { NotDispatchedError, type ServerConnection } from '../upstream/serverConnection.ts';

/** A tool may work for as long as a client of VS Code waits; what hangs longer is cancelled. */
export const CALL_TIMEOUT_MS = 120_000;

/** Sends a call to its server. Whatever goes wrong comes back as an error object of 000 §3.4. */
export async function dispatchCall(
  tool: CatalogTool,
  connection: ServerConnection,
  args: Record<string, unknown>,
  options: Pick<CallOptions, 'signal' | 'onProgress'>,
): Promise<Record<string, unknown>> {
  try {
    return await connection.call(tool.upstreamName, args, { timeoutMs: CALL_TIMEOUT_MS, ...options });
  } catch (error) {
    throw toGatewayError(error, tool);
  }
}

function toGatewayError(error: unknown, tool: CatalogTool): GatewayError {
  const at = { path: tool.id };
  if (error instanceof NotDispatchedError) {
    return new GatewayError('UPSTREAM_UNAVAILABLE', `The server ${tool.server} is not running: ${error.message}`, {
      ...at,
      details: { outcome: 'not_dispatched' },
    });
  }
  if (!(error instanceof UpstreamRequestError)) {
    return new GatewayError('UPSTREAM_ERROR', `The call failed: ${oneLine(String(error), 200)}`, at);
  }
  // A call that was sent and lost may have taken effect: it is never presented as one to repeat (design.md §3).
  const unknown = { ...at, retryable: false, details: { outcome: 'unknown' } };
  switch (error.failure) {
    case 'timeout':
      return new GatewayError(
        'UPSTREAM_TIMEOUT',
        `${tool.server} did not answer within ${CALL_TIMEOUT_MS / 1000} s; the call may have taken effect. Check before you repeat it.`,
        unknown,
      );
    case 'closed':
      return new GatewayError(
        'UPSTREAM_UNAVAILABLE',
        `${tool.server} ended during the call, which may have taken effect. Check before you repeat it.`,
        unknown,
      );
    case 'aborted':
      return new GatewayError('UPSTREAM_ERROR', 'The call was cancelled.', { ...unknown, retryable: false });
    default:
      return new GatewayError('UPSTREAM_ERROR', oneLine(`${tool.server} answered: ${error.message}`), at);
  }
}
