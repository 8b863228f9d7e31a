import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { type LostCall, MAX_LOST_CALLS, readLostCalls } from '../../src/replay/lostCall.ts';

const fault = faultOf('connection_lost', { generation: 2, detail: 'gone' }, (text) => text);
const WHOLE: LostCall = {
  method: 'tools/call',
  tool: 'tool_execute',
  toolId: 'a:b#00000001',
  runs: true,
  took: 12.5,
  fault,
  knowledge: 'not_dispatched',
  contract: 'convergent',
  dispatches: 1,
};
const read = (more: object): LostCall | undefined => readLostCalls([{ ...WHOLE, ...more }])[0];

describe('the lost calls that a host reports', () => {
  it('arrive unchanged, up to their limit', () => {
    expect(readLostCalls([WHOLE])).toEqual([WHOLE]);
    const calls = Array.from({ length: MAX_LOST_CALLS + 1 }, (_, dispatches) => ({ ...WHOLE, dispatches }));
    expect(readLostCalls(calls)).toEqual(calls.slice(0, 100));
  });

  it.each([undefined, null, 'no list', { 0: WHOLE, length: 1 }])('are none in %j', (value) => {
    expect(readLostCalls(value)).toEqual([]);
  });

  it.each([
    { method: 1 },
    { took: 'long' },
    { took: undefined },
    { fault: undefined },
    { fault: null },
    { fault: { ...fault, code: 7 } },
    { fault: { ...fault, code: ['exited'] } },
    { fault: { ...fault, code: 'toString' } },
    { fault: { ...fault, code: 'of_somebody_else' } },
    { fault: { ...fault, generation: 0 } },
    { fault: { ...fault, generation: 1.5 } },
    { fault: { ...fault, generation: '2' } },
  ])('do not count with %j, without harm to the others', (more) => {
    expect(readLostCalls([null, 7, {}, { ...WHOLE, ...more }, WHOLE])).toEqual([WHOLE]);
  });

  it('count with the first generation', () => {
    expect(read({ fault: { ...fault, generation: 1 } })?.fault.generation).toBe(1);
  });

  it('have no tool unless it is a text', () => {
    expect(read({ tool: 3, toolId: null })).toEqual({ ...WHOLE, tool: undefined, toolId: undefined });
  });

  it('run only if the host is sure, take no negative time, and have no odd number of dispatches', () => {
    expect(read({ runs: 'x', took: -5, dispatches: 1.5 })).toEqual({ ...WHOLE, runs: false, took: 0, dispatches: 0 });
    expect(read({ took: 0.5 })?.took).toBe(0.5);
  });

  it('have the fault of our own table, with its detail if that is a text', () => {
    expect(read({ fault: { ...fault, class: 'downstream', directive: 'x' } })?.fault).toEqual(fault);
    expect(read({ fault: { ...fault, detail: 5 } })?.fault).toEqual({ ...fault, detail: '' });
  });

  it.each([
    ['not_dispatched', 'not_dispatched'],
    ['outcome_unknown', 'outcome_unknown'],
    ['completed', 'outcome_unknown'],
    ['sure', 'outcome_unknown'],
    [undefined, 'outcome_unknown'],
  ])('with the knowledge %s count as %s', (knowledge, expected) => {
    expect(read({ knowledge })?.knowledge).toBe(expected);
  });

  it.each([
    ['convergent', 'convergent'],
    ['probe_required', 'probe_required'],
    ['never_replay', 'never_replay'],
    ['any', 'never_replay'],
    [undefined, 'never_replay'],
  ])('with the contract %s count as %s', (contract, expected) => {
    expect(read({ contract })?.contract).toBe(expected);
  });
});
