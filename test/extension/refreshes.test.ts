import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../src/control/activityContract.ts';
import { LONG_MS, LongCalls } from '../../src/extension/status/longCalls.ts';
import { NEWS_MS, Refreshes, refreshNews } from '../../src/extension/status/refreshes.ts';
import { serverCounts, usableWords } from '../../src/extension/status/serverCounts.ts';
import { server } from './fixtures.ts';

const result = (name: string, over: object = {}) => ({ server: name, added: 0, removed: 0, changed: 0, ...over });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('refresh', () => {
  it('marks each server until its end, and shows the result for ten seconds', () => {
    const refreshes = new Refreshes((name) => name === 'waiting');
    refreshes.begin(['erp', 'files']);
    expect([...refreshes.busy.value]).toEqual(['erp', 'files']);
    refreshes.ended(result('erp', { added: 3, changed: 1 }));
    expect([...refreshes.busy.value]).toEqual(['files']);
    expect(refreshes.news.value).toBe('erp: 3 tools added, 1 changed.');
    refreshes.ended(result('files'));
    expect(refreshes.busy.value.size).toBe(0);
    expect(refreshes.news.value).toBe('erp: 3 tools added, 1 changed. 1 server: nothing changed.');
    vi.advanceTimersByTime(NEWS_MS - 1);
    expect(refreshes.news.value).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(refreshes.news.value).toBeUndefined();
  });

  it('forgets the results of the refresh before, and what a lost worker began', () => {
    const refreshes = new Refreshes((name) => name === 'waiting');
    refreshes.begin(['erp']);
    refreshes.ended(result('erp', { added: 1 }));
    refreshes.begin(['files']);
    refreshes.ended(result('files', { removed: 2 }));
    expect(refreshes.news.value).toBe('files: 2 tools removed.');
    refreshes.begin(['erp']);
    refreshes.lost();
    expect(refreshes.busy.value.size).toBe(0);
    refreshes.ended(result('erp', { added: 9 }));
    expect(refreshes.news.value).toBe('files: 2 tools removed.');
  });

  it('says nothing of a server that waits for the user', () => {
    const refreshes = new Refreshes((name) => name === 'waiting');
    refreshes.begin(['waiting']);
    refreshes.ended(result('waiting', { reason: 'It has not been approved' }));
    expect([refreshes.busy.value.size, refreshes.news.value]).toEqual([0, undefined]);
  });

  it('names a failure, and counts what does not fit', () => {
    expect(refreshNews([result('erp')])).toBe('erp: nothing changed.');
    expect(refreshNews([result('erp', { reason: 'It ended with code 3' })])).toBe(
      'erp was not listed: It ended with code 3.',
    );
    const many = Array.from({ length: 6 }, (_, index) => result(`s${index}`, { added: 1 }));
    expect(refreshNews(many)).toMatch(/^s0: 1 tool added\. .*s3: 1 tool added\. 2 more changed or failed\.$/);
  });
});

describe('long calls', () => {
  const call = (id: number, over: Partial<CallRecord> = {}): CallRecord => ({
    ...{ id, at: 0, session: 's', client: 'c', metaTool: 'tool_execute', subject: '', phase: 'running' },
    ...{ durationMs: 0, attempts: 1, effect: 'none', handles: [] },
    ...over,
  });

  it('are counted from a second on, without the time in which the user was asked', () => {
    const calls = new LongCalls();
    calls.follow([call(1), call(2, { phase: 'waiting' }), call(3, { durationMs: 900 })]);
    vi.advanceTimersByTime(100);
    expect(calls.count.value).toBe(1);
    vi.advanceTimersByTime(LONG_MS - 100);
    expect(calls.count.value).toBe(2);
    calls.follow([call(3, { phase: 'done' })]);
    expect(calls.count.value).toBe(1);
    calls.lost();
    expect(calls.count.value).toBe(0);
  });
});

describe('number of servers', () => {
  it('counts a sleeping server as usable, and names each condition', () => {
    const servers = [
      server('a'),
      server('b', { state: 'not_started' }),
      server('new', { state: 'not_started', toolCount: 0 }),
      server('c', { state: 'starting', toolCount: 0 }),
      server('d', { state: 'failed' }),
      server('e', { state: 'needs_secret', toolCount: 0 }),
      server('f', { state: 'disabled', toolCount: 0 }),
      server('g', { toolCount: 0, held: [{ toolId: '', part: 'tools', name: 'x', why: 'new' }] }),
    ];
    const counts = serverCounts(servers);
    expect(usableWords(counts)).toBe('2 usable of 8');
    expect(counts.conditions.map(({ words, count }) => [words, count])).toEqual([
      ['ready', 1],
      ['asleep (starts when called)', 2],
      ['starting', 1],
      ['needs you', 2],
      ['failed', 1],
      ['off', 1],
    ]);
  });
});
