import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';

/** A request of a client that has been answered. `failed`: the code of JSON-RPC that it was answered with. */
export interface SessionRequest {
  method: string;
  latencyMs: number;
  failed?: number;
  /** How often it was sent again. */
  replays?: number;
}

/** In place of a method that nobody here answers: a client may ask for what it likes, and does not name our rows. */
export const UNKNOWN_METHOD = '(unknown method)';

/** Answers a request and tells that it was answered. Who has cancelled one is not answered. */
export async function toldWhenAnswered<T>(
  { method, replays = 0, signal }: { method: string; replays?: number | undefined; signal: AbortSignal },
  answer: () => Promise<T>,
  tell: (request: SessionRequest) => void,
): Promise<T> {
  const started = performance.now();
  try {
    const result = await answer();
    tell({ method, replays, latencyMs: performance.now() - started });
    return result;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const failed = Number.isSafeInteger(code) ? (code as number) : ErrorCode.InternalError;
    const named = failed === ErrorCode.MethodNotFound ? UNKNOWN_METHOD : method;
    if (!signal.aborted) tell({ method: named, replays, latencyMs: performance.now() - started, failed });
    throw error;
  }
}
