import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { Progress } from '../../mcp/outgoingRequests.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import { Deadline, LONGEST_CALL_MS } from './deadline.ts';
import { dispatchError } from './dispatchError.ts';

/** Time limit of a resource or prompt request. Progress extends it. */
export const READ_TIMEOUT_MS = 60_000;

/** The connection's own timeout comes after the deadline, so that the deadline reports the error. */
const SLACK_MS = 1_000;

export interface ReadOptions {
  signal: AbortSignal;
  /** Absent if the client wants no progress; the server is not asked for it then. */
  onProgress?: (progress: Progress) => void;
  /** Routes requests that the server sends meanwhile to their client. */
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

/** Sends a request with a deadline that moves while the server reports progress or waits for the client's answer. */
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

/** Masks secrets in a text of a server. */
type Scrub = (text: string, from: string) => string;

/** Converts a failed read into an error object for a model. Reads may always be repeated. */
export function readError(error: unknown, target: ReadTarget, scrubSecrets: Scrub): GatewayError {
  if (error instanceof UpstreamRequestError && error.code === RESOURCE_NOT_FOUND) {
    const message = oneLine(scrubSecrets(error.message, target.server), 120).replaceAll('"', "'");
    return new GatewayError('RESOURCE_NOT_FOUND', `${target.server} does not have this resource: "${message}".`, {
      path: target.id,
    });
  }
  return dispatchError(error, {
    tool: target,
    contract: 'convergent',
    deadlineMs: READ_TIMEOUT_MS,
    scrubSecrets: (text) => scrubSecrets(text, target.server),
  });
}

/**
 * Converts a failed read for a client that used MCP's own method: the server's error, or Waygate's as `INTERNAL_ERROR`.
 */
export function readRpcError(error: unknown, target: ReadTarget, scrubSecrets: Scrub): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof GatewayError) return new RpcError(INTERNAL_ERROR, error.message, error.toObject());
  if (error instanceof UpstreamRequestError && error.failure === 'error' && error.code !== undefined) {
    return new RpcError(error.code, oneLine(scrubSecrets(thrownWords(error), target.server), 1_000));
  }
  const failure = readError(error, target, scrubSecrets);
  return new RpcError(INTERNAL_ERROR, failure.message, failure.toObject());
}
