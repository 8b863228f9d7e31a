import type { CallDetails, CallRecord } from '../../../src/control/activityContract.ts';
import type { Call } from '../../../src/extension/activity/callList.ts';

export const AT = Date.UTC(2026, 10, 19, 12, 1, 7);
export const TOOL = 'erp:customer_delete#1a2b3c4d';

export function record(id: number, over: Partial<CallRecord> = {}): CallRecord {
  return {
    id,
    at: AT + id,
    session: 's1',
    client: 'claude-code',
    metaTool: 'tool_execute',
    subject: TOOL,
    server: 'erp',
    toolId: TOOL,
    phase: 'done',
    durationMs: 118,
    outcome: 'ok',
    tokensIn: 3_100,
    tokensOut: 412,
    attempts: 1,
    effect: 'done',
    handles: [],
    ...over,
  };
}

export function call(over: Partial<Call> = {}): Call {
  return { ...record(1), run: 42, folder: 'waygate', seenAt: AT + 1, ...over };
}

const { outcome: _, tokensIn: __, tokensOut: ___, ...unfinished } = record(1);
/** Record of a call that has not ended. */
export const RUNNING: CallRecord = { ...unfinished, phase: 'running', durationMs: 0, effect: 'none' };

export const FAILED = {
  outcome: 'error',
  errorCode: 'UPSTREAM_ERROR',
  errorMessage: 'The server erp ended during the call',
} as const;

export function details(over: Partial<CallDetails> = {}): CallDetails {
  return { record: record(1), repairs: [], problems: [], attempts: [], stages: [], ...over };
}
