import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../../src/control/activityContract.ts';
import { CallFeed, type CallSource } from '../../../src/extension/activity/callFeed.ts';
import { Redraws } from '../../../src/extension/activity/redraws.ts';
import type { LinkState } from '../../../src/extension/gateway/gatewayLink.ts';
import { Observable } from '../../../src/extension/observable.ts';
import { attached, snapshot } from '../fixtures.ts';
import { call, RUNNING, record } from './calls.ts';

/** Source whose link and worker the test controls. */
function source(answer: () => unknown) {
  const state = new Observable<LinkState>({ kind: 'attaching' });
  const calls = new Observable<readonly CallRecord[]>([], () => false);
  const request = (async () => answer()) as CallSource['request'];
  const attach = (attachment: number, pid = 42): void =>
    state.set(attached({ worker: { ...snapshot().worker, pid } }, attachment));
  return { parts: { state, request, calls }, state, attach, report: (...some: CallRecord[]) => calls.set(some) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the feed of calls', () => {
  it('loads the calls of a worker, and adds those that it reports', async () => {
    const { parts, attach, report } = source(() => ({ calls: [record(1)], more: false }));
    const feed = new CallFeed('waygate', parts);
    attach(1);
    await settled();
    report(record(2));
    expect(feed.list.calls.map(({ run, id }) => [run, id])).toEqual([
      [42, 2],
      [42, 1],
    ]);
  });

  it('keeps the rows of a killed worker, marks what ran as lost, and goes on with the next worker', async () => {
    let calls: CallRecord[] = [record(1), { ...RUNNING, id: 2 }];
    const { parts, attach, state } = source(() => ({ calls, more: false }));
    const feed = new CallFeed('waygate', parts);
    attach(1);
    await settled();
    state.set({ kind: 'waiting', attempt: 1, reason: 'The gateway has exited.', delayMs: 100 });
    expect(feed.list.calls).toMatchObject([
      { id: 2, lost: true },
      { id: 1, outcome: 'ok' },
    ]);
    calls = [record(1, { at: record(9).at })];
    attach(2, 43);
    await settled();
    expect(feed.list.calls.map(({ run, id, lost }) => [run, id, lost])).toEqual([
      [43, 1, undefined],
      [42, 2, true],
      [42, 1, undefined],
    ]);
  });

  it('loses no call while a worker hands over to its successor without a gap', async () => {
    const { parts, attach } = source(() => ({ calls: [{ ...RUNNING, id: 2 }], more: false }));
    const feed = new CallFeed('waygate', parts);
    attach(1, 42);
    await settled();
    attach(2, 42);
    expect(feed.list.calls[0]?.lost).toBeUndefined();
    attach(3, 43);
    expect(feed.list.find({ run: 42, id: 2 })?.lost).toBe(true);
  });

  it('asks the present worker to forget its own calls, and drops those of workers before', async () => {
    const asked: unknown[] = [];
    const { parts, attach } = source(() => ({ calls: [record(1), record(2), { ...RUNNING, id: 3 }], more: false }));
    const { request } = parts;
    parts.request = ((method: string, params: object) => {
      if (method !== 'calls') asked.push([method, params]);
      return request('calls', { limit: 1 });
    }) as never;
    const feed = new CallFeed('waygate', parts);
    attach(1, 42);
    await settled();
    attach(2, 43);
    await settled();
    const chosen = feed.list.calls.filter(({ id }) => id !== 2);
    await feed.forget(chosen);
    expect(asked).toEqual([['forgetCalls', { ids: expect.arrayContaining([1, 3]) }]]);
    expect(feed.list.calls.map(({ run, id }) => `${run}-${id}`).sort()).toEqual(['42-2', '43-2', '43-3']);
  });

  it('says why a worker of an older build reports nothing', async () => {
    const { parts, attach } = source(() => {
      throw new Error('The gateway that runs is older than this extension');
    });
    const feed = new CallFeed('waygate', parts);
    attach(1);
    await settled();
    expect(feed.problem).toBe('The gateway that runs is older than this extension.');
  });
});

describe('redraws', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function redraws() {
    const drawn: ('all' | readonly string[])[] = [];
    const made = new Redraws((change) => {
      drawn.push(change);
    });
    return { made, drawn };
  }

  it('are at most six for 100 calls in a second, and the last call is drawn', () => {
    const { made, drawn } = redraws();
    made.show(true);
    drawn.length = 0;
    for (let id = 1; id <= 100; id++) {
      made.note([call({ id })]);
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(1_000);
    expect(drawn.length).toBeGreaterThan(1);
    expect(drawn.length).toBeLessThanOrEqual(6);
    expect(drawn.at(-1)).toBe('all');
  });

  it('concern only the row whose content changed', () => {
    const { made, drawn } = redraws();
    made.show(true);
    made.drew([call({ id: 1 }), call({ id: 2 })]);
    vi.advanceTimersByTime(1_000);
    drawn.length = 0;
    made.note([call({ id: 2 })]);
    expect(drawn).toEqual([['call:42:2']]);
    vi.advanceTimersByTime(1_000);
    made.note([call({ id: 3 })]);
    expect(drawn.at(-1)).toBe('all');
  });

  it('wait until the view is visible', () => {
    const { made, drawn } = redraws();
    made.note([call()]);
    vi.advanceTimersByTime(1_000);
    expect(drawn).toEqual([]);
    made.show(true);
    expect(drawn).toEqual(['all']);
    made.show(false);
    made.note('all');
    vi.advanceTimersByTime(1_000);
    expect(drawn).toHaveLength(1);
  });
});
