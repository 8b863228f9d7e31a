import type { CallRecord } from '../control/contract.ts';
import type { CallEvent } from './gateway/callEvents.ts';
import type { GatewayContext } from './gateway/gatewayContext.ts';

type RecordedCall = Pick<CallRecord, 'client' | 'metaTool' | 'subject'>;

/** Counts a call as under way. What is returned tells telemetry and the recent calls how it ended. */
export function beginCall(
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd'>,
  { sessionId, ...call }: RecordedCall & { sessionId: string },
): (event: CallEvent) => void {
  const at = Date.now();
  const started = performance.now();
  context.onCallStart();
  return (event) => {
    const record = callRecord({ ...call, at, durationMs: performance.now() - started }, event);
    context.onCallEnd(record, { ...event, sessionId });
  };
}

export function callRecord(
  call: RecordedCall & Pick<CallRecord, 'at' | 'durationMs'>,
  { success, error }: Pick<CallEvent, 'success' | 'error'>,
): Omit<CallRecord, 'id'> {
  return { ...call, outcome: success ? 'ok' : 'error', ...(error === undefined ? {} : { errorCode: error.code }) };
}
