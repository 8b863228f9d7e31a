import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { DrainingCalls } from '../../src/host/session/drainingCalls.ts';
import { HeldTasks } from '../../src/host/session/heldTasks.ts';
import { MAX_HELD_TASKS } from '../../src/mcp/heldTask.ts';
import type { JournalCall } from '../../src/replay/journalCall.ts';

const task = (id: string) => ({
  id,
  server: 's',
  serverTaskId: id,
  toolId: 'i',
  upstreamName: 'u',
  ttl: null,
  since: 0,
});
const told = (held: HeldTasks): string[] =>
  held.frames().flatMap((frame) => (JSON.parse(frame).params.tasks as { id: string }[]).map(({ id }) => id));

describe('the tasks of a session', () => {
  it('are told to each new worker, but for those that are over', () => {
    const held = new HeldTasks();
    expect(held.frames()).toEqual([]);
    held.note(1, { task: task('a') });
    held.note(1, { task: task('b') });
    held.note(1, { gone: 'a' });
    expect(told(held)).toEqual(['b']);
    expect(JSON.parse(held.frames()[0] as string)).toMatchObject({ method: 'notifications/waygate/tasks' });
  });

  it('belong to the worker that told of them last', () => {
    const held = new HeldTasks();
    held.note(1, { task: task('a') });
    const runner = (taskId: unknown, method = 'tasks/get') => held.runnerFor({ method, params: { taskId } });
    expect(runner('a')).toBe(1);
    held.note(2, { task: task('a') });
    // The one before forgets what is another's now.
    held.note(1, { gone: 'a' });
    expect([runner('a'), runner('a', 'tasks/result'), runner('a', 'tasks/cancel')]).toEqual([2, 2, 2]);
    expect(runner('a', 'tasks/list')).toBeUndefined();
    expect(held.runnerFor({ method: 'tasks/get' })).toBeUndefined();
    expect([runner('b'), runner(7)]).toEqual([undefined, undefined]);
  });

  it('are bounded', () => {
    const held = new HeldTasks();
    for (let i = 0; i <= MAX_HELD_TASKS; i++) held.note(1, { task: task(`t${i}`) });
    expect(told(held)).toHaveLength(MAX_HELD_TASKS);
    expect(held.runnerFor({ method: 'tasks/get', params: { taskId: 't0' } })).toBeUndefined();
  });
});

describe('calls that only a worker which gives way can answer', () => {
  const LIMITS = { maxCalls: 2, maxBytes: 100, maxWaiting: 2, maxReplays: 2, maxProbes: 0, retryAfter: 1 };
  const fault = faultOf('connection_lost', { generation: 1 }, (text) => text);
  const call = (id: string): JournalCall<string> => ({
    id,
    contract: 'convergent',
    payload: id,
    bytes: 1,
    canProbe: false,
  });

  function draining() {
    const sent: string[] = [];
    const settled: string[] = [];
    const handedOn: string[] = [];
    const calls = new DrainingCalls<string, string>(
      {
        dispatch: ({ id }, generation) => sent.push(`${id}@${generation}`) > 0,
        settle: ({ id }, terminal) => void settled.push(`${id}: ${terminal.kind}`),
      },
      LIMITS,
      ({ id }) => void handedOn.push(id),
    );
    return { calls, sent, settled, handedOn };
  }

  it('go to that one, whichever it is of several, and come back from no other', () => {
    const { calls, sent, settled } = draining();
    expect(calls.admit(1, call('early'))).toBeUndefined();
    expect(calls.admit(undefined, call('none'))).toBeUndefined();
    calls.drain(1);
    calls.drain(2);
    expect(calls.admit(1, call('a'))).toEqual({ admitted: true });
    expect(calls.admit(2, call('b'))).toEqual({ admitted: true });
    expect(sent).toEqual(['a@1', 'b@2']);
    expect(calls.size).toBe(2);
    expect([calls.has('a'), calls.has('x')]).toEqual([true, false]);
    expect(calls.reply(2, 'a', 'of another')).toBeUndefined();
    expect(calls.reply(1, 'a', 'answer')).toBe('delivered');
    expect(settled).toEqual(['a: reply']);
    expect(calls.size).toBe(1);
  });

  it('are handed on when it goes, each once', () => {
    const { calls, settled, handedOn } = draining();
    calls.drain(1);
    calls.admit(1, call('a'));
    calls.admit(1, call('b'));
    expect(calls.cancel('b')).toEqual({ generation: 1 });
    expect(calls.cancel('x')).toBeUndefined();
    calls.lose(1, fault);
    calls.lose(1, fault);
    expect(handedOn).toEqual(['a']);
    expect(settled).toEqual([]);
    expect(calls.size).toBe(0);
    expect(calls.admit(1, call('c'))).toBeUndefined();
  });
});
