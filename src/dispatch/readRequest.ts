import { GatewayError } from '../ops/gatewayError.ts';
import { oneLine } from '../ops/porcelain.ts';
import { RpcError } from '../ops/rpcError.ts';
import { UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { thrownWords } from '../upstream/judgeThrown.ts';
import { dispatchError } from './dispatchError.ts';

/** How long a server may take over a resource or a prompt; its progress extends it. */
export const READ_TIMEOUT_MS = 60_000;

/** MCP's code for a resource that its server does not have. */
export const RESOURCE_NOT_FOUND = -32002;
const INTERNAL_ERROR = -32603;

export interface ReadTarget {
  id: string;
  server: string;
}

/** A read that failed as a model is told: the words of a failed call, and that it may be repeated. */
export function readError(error: unknown, target: ReadTarget, scrubSecrets: (text: string) => string): GatewayError {
  if (error instanceof UpstreamRequestError && error.code === RESOURCE_NOT_FOUND) {
    const words = oneLine(scrubSecrets(error.message), 120);
    return new GatewayError('RESOURCE_NOT_FOUND', `${target.server} does not have this resource: ${words}`, {
      path: target.id,
    });
  }
  return dispatchError(error, { tool: target, contract: 'convergent', deadlineMs: READ_TIMEOUT_MS, scrubSecrets });
}

/** The same for a client that asked by MCP's own method: what the server answered, as it answered it. */
export function readRpcError(error: unknown, target: ReadTarget, scrubSecrets: (text: string) => string): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof GatewayError) return new RpcError(INTERNAL_ERROR, error.message, error.toObject());
  if (error instanceof UpstreamRequestError && error.failure === 'error' && error.code !== undefined) {
    return new RpcError(error.code, oneLine(scrubSecrets(thrownWords(error)), 1_000));
  }
  const told = readError(error, target, scrubSecrets);
  return new RpcError(INTERNAL_ERROR, told.message, told.toObject());
}
