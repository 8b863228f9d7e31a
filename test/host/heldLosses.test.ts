import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { HeldLosses } from '../../src/host/session/heldSession.ts';
import { type LostCall, MAX_LOST_CALLS, readLostCalls } from '../../src/replay/lostCall.ts';

const fault = faultOf('connection_lost', { generation: 2, detail: 'gone' }, (text) => text);
const lost = (toolId: string): LostCall => ({
  method: 'tools/call',
  tool: 'tool_execute',
  toolId,
  runs: true,
  took: 12.5,
  fault,
  knowledge: 'outcome_unknown',
  contract: 'never_replay',
  dispatches: 1,
});
const sent = (frames: readonly string[]): unknown =>
  frames.map((frame) => (JSON.parse(frame) as { params: { calls: unknown } }).params.calls)[0];

describe('the calls lost without a worker', () => {
  it('are reported once, to the next worker', () => {
    const losses = new HeldLosses();
    losses.note(lost('a:b#00000001'));
    expect(readLostCalls(sent(losses.frames()))).toEqual([lost('a:b#00000001')]);
    expect(losses.frames()).toEqual([]);
  });

  it('are limited in number: the first are kept', () => {
    const losses = new HeldLosses();
    for (let n = 0; n < MAX_LOST_CALLS + 5; n++) losses.note(lost(`t${n}`));
    const calls = readLostCalls(sent(losses.frames()));
    expect([calls.length, calls[0]?.toolId]).toEqual([MAX_LOST_CALLS, 't0']);
  });

  it('have shortened names that end at a whole character', () => {
    const losses = new HeldLosses();
    const long = `${'x'.repeat(254)}${'😀'.repeat(500_000)}`;
    for (let n = 0; n < MAX_LOST_CALLS; n++) losses.note({ ...lost(long), method: long, tool: long });
    const frames = losses.frames();
    expect(frames.join().length).toBeLessThan(200_000);
    const name = `${'x'.repeat(254)}…`;
    expect(readLostCalls(sent(frames))[0]).toEqual({ ...lost(name), method: name, tool: name });
  });
});
