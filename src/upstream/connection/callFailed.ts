import { type Fault, faultOf } from '../../errors/fault.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import type { ExecutionKnowledge } from '../../replay/replay.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { judgeThrown, thrownWords } from './judgeThrown.ts';
import { NotDispatchedError } from './notDispatched.ts';

/** Failure of a call as one value, from which retries, breaker, health, telemetry and the error text follow. */
export interface FailedCall {
  readonly fault: Fault;
  readonly knowledge: ExecutionKnowledge;
  /** Seconds until another call makes sense, if known. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A call without a result that its server received or may have received. */
export class CallFailedError extends UpstreamRequestError implements FailedCall {
  override readonly name = 'CallFailedError';
  readonly fault: Fault;
  readonly knowledge: ExecutionKnowledge;

  constructor(thrown: Error, { fault, knowledge, retryAfterSeconds }: FailedCall) {
    const { failure, code, data } = thrown instanceof UpstreamRequestError ? thrown : FOREIGN;
    super(failure, thrown.message, code, retryAfterSeconds, data);
    this.fault = fault;
    this.knowledge = knowledge;
  }
}

/** Fields for an error that does not come from a server's client. */
const FOREIGN = { failure: 'closed', code: undefined, data: undefined } as const;

/** Converts a thrown value into a fault, unless it already carries one. */
export function failedCall(thrown: unknown, scrubSecrets: (text: string) => string, generation = 1): FailedCall {
  if (thrown instanceof CallFailedError) return thrown;
  if (thrown instanceof NotDispatchedError && thrown.fault) {
    return { fault: thrown.fault, knowledge: 'not_dispatched', retryAfterSeconds: thrown.retryAfterSeconds };
  }
  if (thrown instanceof LinkFailure) {
    const fault = faultOf(thrown.code, { generation, detail: thrown.message }, scrubSecrets);
    return { fault, knowledge: 'not_dispatched', retryAfterSeconds: thrown.retryAfterSeconds };
  }
  const { code, ...rest } = judgeThrown(thrown);
  return { fault: faultOf(code, { generation, detail: thrownWords(thrown) }, scrubSecrets), ...rest };
}
