import { expect, it } from 'vitest';
import type { CallRecord } from '../../../src/control/activityContract.ts';
import { AllCalls } from '../../../src/extension/activity/allCalls.ts';
import { type CallChange, CallFeed } from '../../../src/extension/activity/callFeed.ts';
import type { LinkState } from '../../../src/extension/gateway/gatewayLink.ts';
import { Observable } from '../../../src/extension/observable.ts';
import { attached, snapshot } from '../fixtures.ts';
import { record } from './calls.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Gateway of a folder whose worker has the given process id. `asked` are the requests that change something. */
async function gateway(folder: string, pid: number, fail?: string) {
  const state = new Observable<LinkState>({ kind: 'attaching' });
  const reported = new Observable<readonly CallRecord[]>([], () => false);
  const asked: unknown[] = [];
  const request = async (method: string, params: unknown): Promise<unknown> => {
    if (method !== 'calls') asked.push([method, params]);
    if (fail !== undefined) throw new Error(fail);
    return { calls: [], more: false };
  };
  const calls = new CallFeed(folder, { state, calls: reported, request: request as never });
  state.set(attached({ worker: { ...snapshot().worker, pid } }));
  await settled();
  return { calls, asked, report: (...some: CallRecord[]) => reported.set(some) };
}

it('lists the calls of all folders by time, also of a folder that is added, and none of one that is closed', async () => {
  const [first, second] = [await gateway('waygate', 1), await gateway('other', 2)];
  const gateways = new Observable<readonly { calls: CallFeed }[]>([first]);
  const all = new AllCalls(gateways);
  const changes: CallChange[] = [];
  all.onChange((change) => changes.push(change));
  first.report(record(1), record(3));
  gateways.set([first, second]);
  second.report(record(2));
  expect(all.calls.map(({ folder, run, id }) => [folder, run, id])).toEqual([
    ['waygate', 1, 3],
    ['other', 2, 2],
    ['waygate', 1, 1],
  ]);
  expect(changes.map((change) => (change === 'all' ? change : change.length))).toEqual([2, 'all', 1]);
  gateways.set([second]);
  first.report(record(4));
  expect(all.calls.map(({ folder }) => folder)).toEqual(['other']);
  expect(changes).toHaveLength(4);
  expect(all.find({ run: 1, id: 1 })).toBeUndefined();
  expect(all.find({ run: 2, id: 2 })).toMatchObject({ folder: 'other' });
});

it('asks only the worker of a call to forget it, and each to clear', async () => {
  const [first, second] = [await gateway('waygate', 1), await gateway('other', 2)];
  const all = new AllCalls(new Observable<readonly { calls: CallFeed }[]>([first, second]));
  first.report(record(1), record(2));
  second.report(record(1));
  await all.forget(all.calls.filter(({ run, id }) => run === 1 && id === 2));
  expect([first.asked, second.asked]).toEqual([[['forgetCalls', { ids: [2] }]], []]);
  await all.clear();
  expect([first.asked.at(-1), second.asked]).toEqual([['clearCalls', {}], [['clearCalls', {}]]]);
  expect(all.calls).toEqual([]);
});

it('says once why folders report no calls', async () => {
  const reasons = ['The gateway is of an older build.', 'The gateway is of an older build.', 'It is away.'];
  const gateways = await Promise.all(reasons.map((reason, index) => gateway(`f${index}`, index + 1, reason)));
  expect(new AllCalls(new Observable(gateways)).problem).toBe('The gateway is of an older build. It is away.');
});
