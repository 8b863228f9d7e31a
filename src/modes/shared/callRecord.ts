import type { CallRecord } from '../../control/contract.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { CallEvent } from './callEvent.ts';
import type { GatewayContext } from './modeContext.ts';

type RecordedCall = Pick<CallRecord, 'client' | 'metaTool' | 'subject'>;

/** Counts a call as running. The returned function reports its end to telemetry and to the recent calls. */
export function beginCall(
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd'>,
  { client, replays = 0 }: Pick<CallContext, 'client' | 'replays'>,
  { sessionId, ...subject }: Omit<RecordedCall, 'client'> & { sessionId: string },
): (event: CallEvent) => void {
  const at = Date.now();
  const started = performance.now();
  context.onCallStart();
  return (event) => {
    const record = callRecord({ client, ...subject, at, durationMs: performance.now() - started }, event);
    context.onCallEnd(record, { ...event, retries: event.retries + replays, sessionId });
  };
}

export function callRecord(
  call: RecordedCall & Pick<CallRecord, 'at' | 'durationMs'>,
  { success, error }: Pick<CallEvent, 'success' | 'error'>,
): Omit<CallRecord, 'id'> {
  return { ...call, outcome: success ? 'ok' : 'error', ...(error === undefined ? {} : { errorCode: error.code }) };
}
