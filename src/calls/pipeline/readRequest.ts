import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { Progress } from '../../mcp/session/sessionMode.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import { Deadline, LONGEST_CALL_MS } from './deadline.ts';
import { dispatchError } from './dispatchError.ts';

/** How long a server may take over a resource or a prompt; its progress extends it. */
export const READ_TIMEOUT_MS = 60_000;

/** A connection's own limit comes after the deadline, which then tells what happened. */
const SLACK_MS = 1_000;

export interface ReadOptions {
  signal: AbortSignal;
  /** Absent where nobody wants to know: a server is not asked for it. */
  onProgress?: (progress: Progress) => void;
  /** Whose request it is: what the server asks meanwhile goes there. */
  origin?: CallOrigin;
  meta?: Readonly<Record<string, unknown>>;
}

export interface Reader {
  request(
    method: string,
    params: Record<string, unknown>,
    options: Partial<ReadOptions> & { timeoutMs: number },
  ): Promise<Record<string, unknown>>;
}

/** A request that is not late while its server tells of progress, or its client thinks about what the server has asked. */
export async function requestInTime(
  server: Reader,
  method: string,
  params: Record<string, unknown>,
  { signal, onProgress, ...more }: ReadOptions,
  limitMs: number = READ_TIMEOUT_MS,
): Promise<Record<string, unknown>> {
  const deadline = new Deadline(limitMs, signal);
  if (more.origin) more.origin.stillWorking = () => deadline.extend();
  try {
    return await server.request(method, params, {
      ...more,
      timeoutMs: Math.max(limitMs, LONGEST_CALL_MS) + SLACK_MS,
      signal: deadline.signal,
      ...(onProgress && {
        onProgress: (progress: Progress) => {
          deadline.extend();
          onProgress(progress);
        },
      }),
    });
  } finally {
    deadline.dispose();
  }
}

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
