import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';

/** Answered request of a client. `failed`: the JSON-RPC code of an error answer. */
export interface SessionRequest {
  method: string;
  latencyMs: number;
  failed?: number;
  /** Number of replays. */
  replays?: number;
}

/** Name for all unknown methods, because clients must not name rows of telemetry (O8.3). */
export const UNKNOWN_METHOD = '(unknown method)';

/** Answers a request and reports the answer. A cancelled request gets no answer. */
export async function reportWhenAnswered<T>(
  { method, replays = 0, signal }: { method: string; replays?: number | undefined; signal: AbortSignal },
  answer: () => Promise<T>,
  report: (request: SessionRequest) => void,
): Promise<T> {
  const started = performance.now();
  try {
    const result = await answer();
    report({ method, replays, latencyMs: performance.now() - started });
    return result;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const failed = Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR;
    const named = failed === METHOD_NOT_FOUND ? UNKNOWN_METHOD : method;
    if (!signal.aborted) report({ method: named, replays, latencyMs: performance.now() - started, failed });
    throw error;
  }
}
