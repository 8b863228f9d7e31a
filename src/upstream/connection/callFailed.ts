import { type Fault, faultOf } from '../../errors/fault.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import type { ExecutionKnowledge } from '../../replay/replay.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { judgeThrown, thrownWords } from './judgeThrown.ts';
import { NotDispatchedError } from './notDispatched.ts';

/** Why a call failed, as one value: retries, breaker, health, telemetry and the words for a model are read from it. */
export interface FailedCall {
  readonly fault: Fault;
  readonly knowledge: ExecutionKnowledge;
  /** When it is worth calling again, where that is known. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A call that its server had, or may have had, and that has no result. */
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

/** Of what is thrown beside the client of a server: nobody's answer. */
const FOREIGN = { failure: 'closed', code: undefined, data: undefined } as const;

/** What was thrown as a fault. Who threw it may have made one already; for all others it is made here. */
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
