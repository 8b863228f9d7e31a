import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/control/activityContract.ts';
import { GatewayError } from '../../src/errors/gatewayError.ts';
import { callRecord } from '../../src/modes/shared/callRecord.ts';
import { knownSecrets } from '../../src/secrets/mask.ts';
import { Activity } from '../../src/worker/reports/activity.ts';

const { signal } = new AbortController();
const owner = {};
const EVENT = { event: 'execute.completed', method: 'tool_execute', namespace: 'one', toolId: 'one:a' } as const;

function rig({ keeps = true } = {}) {
  const announced: CallRecord[] = [];
  const activity = new Activity({
    keeps: () => keeps,
    stderrOf: (server) => [`last words of ${server}`],
    onCall: ({ record }) => announced.push(record),
  });
  const begin = (args: unknown = {}, session = 's1') =>
    activity.begin({ client: 'c', session, metaTool: 'tool_execute', subject: 'one:a', args, owner, signal });
  const call = (args: unknown, text = 'fine') => {
    const trace = begin(args);
    const begun = { client: 'c', session: 's1', metaTool: 'tool_execute', subject: 'one:a', at: 1, durationMs: 2 };
    const record = callRecord(begun, { ...EVENT, success: true, retries: 0, dispatched: true, end: 'ok' });
    return activity.end(record, { trace, answer: { content: [{ type: 'text', text }] } });
  };
  return { activity, announced, begin, call };
}

describe('the activity', () => {
  it('keeps the last 500 calls, and arguments and answers of the last 200', () => {
    const { activity, call } = rig();
    for (let i = 0; i < 600; i++) call({ i });
    const { calls, more } = activity.page({ limit: 1_000 });
    expect([calls.length, more, calls[0]?.id]).toEqual([500, false, 600]);
    expect(activity.details(401)).toMatchObject({ arguments: { i: 400 }, answer: 'fine' });
    expect(activity.details(400)).toMatchObject({ dropped: 'space' });
    expect(activity.details(400)).not.toHaveProperty('answer');
    expect(activity.details(100)).toBeNull();
  });

  it('keeps at most 4 MiB of them, and nothing of a call that is too large', () => {
    const { activity, call } = rig();
    const large = 'x'.repeat(100_000);
    for (let i = 0; i < 60; i++) call({ large });
    const kept = activity.page({ limit: 100 }).calls.filter(({ id }) => activity.details(id)?.dropped === undefined);
    expect(kept.length * 200_000).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(kept.length).toBeGreaterThan(15);
    const { id } = call({ huge: 'x'.repeat(1_000_000) });
    expect(activity.details(id)).toMatchObject({ dropped: 'too_large' });
    expect(activity.details(id)).not.toHaveProperty('arguments');
  });

  it('forgets a call with its arguments and its answer, counts it no more, and keeps a call that runs', () => {
    const { activity, begin, call } = rig();
    const running = begin({ text: 'still running' });
    const large = 'x'.repeat(100_000);
    const forgotten = Array.from({ length: 10 }, () => call({ large }, large).id);
    expect(activity.forget([...forgotten, running.id, 999])).toBe(10);
    expect(forgotten.map((id) => activity.details(id))).toEqual(forgotten.map(() => null));
    expect(activity.page({ limit: 100 }).calls.map(({ id }) => id)).toEqual([running.id]);
    // The room of the forgotten calls is free again.
    const later = Array.from({ length: 9 }, () => call({ large }, large).id);
    expect(later.filter((id) => activity.details(id)?.dropped !== undefined)).toEqual([]);
  });

  it('masks a secret that became known after the call', () => {
    const { activity, call } = rig();
    const { id } = call({ text: 'correct-horse-battery' }, 'it said correct-horse-battery');
    knownSecrets.learn('activity-test', ['correct-horse-battery']);
    expect(JSON.stringify(activity.details(id))).not.toContain('correct-horse');
  });

  it('keeps no arguments of a running call either, where that is switched off', () => {
    const { activity, begin } = rig({ keeps: false });
    expect(activity.details(begin({ text: 'private' }).id)).not.toHaveProperty('arguments');
  });

  it('keeps nothing of the original error, but the fault with stderr of that moment', () => {
    const { activity, begin } = rig();
    const trace = begin();
    trace.tool = { id: 'one:a', server: 'one' };
    const details = { outcome: 'unknown', problems: ['$.a is missing'] };
    const fault = { class: 'process', code: 'exited', generation: 1, detail: '' } as never;
    const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'It crashed.', {
      details,
      fault,
      cause: { whole: 'answer' },
    });
    const failure = { code: error.code, message: error.message };
    const event = { ...EVENT, success: false, retries: 1, dispatched: true, end: 'lost', error: failure } as const;
    const begun = { client: 'c', session: 's1', metaTool: 'tool_execute', subject: 'one:a', at: 1, durationMs: 2 };
    activity.end(callRecord(begun, event), { trace, error });
    expect(activity.details(trace.id)).toMatchObject({
      record: { effect: 'unknown', attempts: 2, server: 'one' },
      problems: ['$.a is missing'],
      fault: {
        code: 'UPSTREAM_UNAVAILABLE',
        handled: ['Sent the call 2 times.', 'Did not repeat the call, because it may have taken effect.'],
        stderr: ['last words of one'],
      },
    });
    expect(JSON.stringify(activity.details(trace.id))).not.toContain('whole');
  });

  it('announces a call that waits for the user, and that it goes on', () => {
    const { announced, begin } = rig();
    const answered = begin().asksUser();
    answered();
    expect(announced.map(({ phase }) => phase)).toEqual(['running', 'waiting', 'running']);
  });

  it('filters by what the record has', () => {
    const { activity, begin, call } = rig();
    call({});
    begin();
    const count = (filter: object) => activity.page({ limit: 10, filter }).calls.length;
    expect([{}, { outcome: 'unfinished' }, { outcome: 'ok' }, { client: 'c' }, { client: 'd' }].map(count)).toEqual([
      2, 1, 1, 2, 0,
    ]);
  });

  it('forgets the sessions that ended', () => {
    const { activity, begin } = rig();
    begin({}, 's1');
    expect(activity.callers).toMatchObject([{ session: 's1', client: 'c' }]);
    activity.sessionEnded('s1');
    expect(activity.callers).toEqual([]);
  });
});
