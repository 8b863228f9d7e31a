import type { CallTrace } from '../../calls/pipeline/callTrace.ts';
import type { CallRecord } from '../../control/activityContract.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import { CONVERSATION_KEY } from '../../link/movingSession.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { CallEvent } from './callEvent.ts';
import type { GatewayContext } from './modeContext.ts';

/** Identity of a call, known at its begin. */
export type BegunRecord = Pick<CallRecord, 'client' | 'conversation' | 'metaTool' | 'subject' | 'session'>;

/** Call that begins. */
export interface BegunCall extends BegunRecord {
  args: unknown;
  /** Session or conversation that quotas count for. */
  owner: object;
  signal: AbortSignal;
}

/** End of a call. */
export interface EndedCall {
  trace: CallTrace | undefined;
  /** Answer as the client gets it. */
  answer?: object | undefined;
  error?: GatewayError | undefined;
}

/** Call that the activity follows: its signal aborts also when the user cancels it. */
export interface TracedCall extends CallContext {
  trace?: CallTrace | undefined;
}

/** Counts a call as running. The returned `end` reports its end to telemetry and to the activity. */
export function beginCall(
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd'>,
  call: CallContext,
  { sessionId, args, ...subject }: Pick<CallRecord, 'metaTool' | 'subject'> & { sessionId: string; args: unknown },
): { call: TracedCall; end: (event: CallEvent, more?: Omit<EndedCall, 'trace'>) => void } {
  const { client, replays = 0, meta, session: owner, signal } = call;
  const conversation = meta?.[CONVERSATION_KEY];
  const begun: BegunRecord = {
    client,
    session: call.sessionId ?? sessionId,
    ...(typeof conversation === 'string' && { conversation }),
    ...subject,
  };
  const at = Date.now();
  const started = performance.now();
  const trace = context.onCallStart({ ...begun, args, owner, signal });
  return {
    call: trace ? { ...call, trace, signal: trace.signal } : call,
    end: (event, more = {}) => {
      trace?.end();
      const durationMs = trace?.durationMs ?? performance.now() - started;
      const record = callRecord({ ...begun, at, durationMs }, event);
      context.onCallEnd(record, { ...event, retries: event.retries + replays, sessionId }, { ...more, trace });
    },
  };
}

export function callRecord(
  call: BegunRecord & Pick<CallRecord, 'at' | 'durationMs'>,
  { success, error, retries, dispatched, end, toolId, namespace }: Omit<CallEvent, 'attributes'>,
): Omit<CallRecord, 'id'> {
  return {
    ...call,
    ...(toolId !== null && namespace !== null && { toolId }),
    phase: 'done',
    outcome: success ? 'ok' : 'error',
    ...(error === undefined ? {} : { errorCode: error.code, errorMessage: error.message }),
    attempts: dispatched ? retries + 1 : 0,
    effect: end === 'lost' ? 'unknown' : dispatched ? 'done' : 'none',
    handles: [],
  };
}
