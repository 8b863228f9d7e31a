import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import type { LostCall } from '../../src/replay/lostCall.ts';
import { lostRequest, lostToolCall } from '../../src/worker/reports/workAccount.ts';

const lost = (method: string, dispatches: number): LostCall => ({
  method,
  runs: false,
  took: 5,
  fault: faultOf('connection_lost', { generation: 1 }, (text) => text),
  knowledge: 'outcome_unknown',
  contract: 'convergent',
  dispatches,
});

describe('calls that a host answered without a worker', () => {
  it('count one retry per resend, for calls and reads', () => {
    const call = (dispatches: number) =>
      lostToolCall({ ...lost('tools/call', dispatches), tool: 'tool_browse' }, 'c', () => undefined);
    expect([0, 1, 3].map((n) => lostRequest(lost('tools/list', n)).replays)).toEqual([0, 0, 2]);
    expect([0, 1, 3].map((n) => call(n).event.retries)).toEqual([0, 0, 2]);
  });
});
