import type { CallRecord } from '../../control/activityContract.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { CallEvent } from './callEvent.ts';
import type { GatewayContext } from './modeContext.ts';

type RecordedCall = Pick<CallRecord, 'client' | 'metaTool' | 'subject' | 'session'>;

/** Counts a call as running. The returned function reports its end to telemetry and to the recent calls. */
export function beginCall(
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd'>,
  { client, replays = 0 }: Pick<CallContext, 'client' | 'replays'>,
  { sessionId, ...subject }: Omit<RecordedCall, 'client' | 'session'> & { sessionId: string },
): (event: CallEvent) => void {
  const at = Date.now();
  const started = performance.now();
  context.onCallStart();
  return (event) => {
    const record = callRecord(
      { client, session: sessionId, ...subject, at, durationMs: performance.now() - started },
      event,
    );
    context.onCallEnd(record, { ...event, retries: event.retries + replays, sessionId });
  };
}

export function callRecord(
  call: RecordedCall & Pick<CallRecord, 'at' | 'durationMs'>,
  { success, error, retries, dispatched, end }: Omit<CallEvent, 'attributes'>,
): Omit<CallRecord, 'id'> {
  return {
    ...call,
    phase: 'done',
    outcome: success ? 'ok' : 'error',
    ...(error === undefined ? {} : { errorCode: error.code, errorMessage: error.message }),
    attempts: dispatched ? retries + 1 : 0,
    effect: end === 'lost' ? 'unknown' : dispatched ? 'done' : 'none',
    handles: [],
  };
}
