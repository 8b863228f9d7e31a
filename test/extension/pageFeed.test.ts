import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LimitsReport } from '../../src/control/activityContract.ts';
import type { ToDashboard } from '../../src/control/dashboardMessages.ts';
import { dashboardState } from '../../src/extension/dashboard/dashboardModel.ts';
import { PageFeed } from '../../src/extension/dashboard/pageFeed.ts';
import { LIMITS, NOW, sources, telemetry } from '../webview/sample.ts';

beforeEach(() => vi.useFakeTimers({ now: NOW }));
afterEach(() => vi.useRealTimers());

function fed(limits: () => Promise<LimitsReport | 'unsupported'> = async () => LIMITS) {
  const posted: ToDashboard[] = [];
  const asked = { telemetry: 0, limits: 0 };
  const page = {
    visible: true,
    now: NOW,
    isVisible: () => page.visible,
    post: (message: ToDashboard) => void posted.push(message),
  };
  const source = {
    telemetry: async () => {
      asked.telemetry += 1;
      return telemetry(asked.telemetry);
    },
    limits: () => {
      asked.limits += 1;
      return limits();
    },
  };
  const feed = new PageFeed(page, source, ({ telemetry, limits }) => {
    const known = limits === undefined || limits === 'unsupported' ? limits : { ...limits, age: 0 };
    return dashboardState(sources({ telemetry, limits: known, now: page.now }));
  });
  return { feed, page, posted, asked };
}

it('asks a visible page’s worker once a second, and sends at most one state a second', async () => {
  const { feed, posted, asked } = fed();
  feed.update();
  feed.ready();
  for (let n = 0; n < 20; n++) {
    feed.update();
    await vi.advanceTimersByTimeAsync(250);
  }
  expect(asked).toEqual({ telemetry: 6, limits: 6 });
  expect(posted.length).toBeGreaterThanOrEqual(5);
  expect(posted.length).toBeLessThanOrEqual(6);
  expect(posted.at(-1)?.state.limits?.rows[0]?.words).toBe('33 of 40 left');
  feed.dispose();
});

it('sends nothing to a hidden page, and asks nothing for it', async () => {
  const { feed, page, posted, asked } = fed();
  feed.update();
  await vi.advanceTimersByTimeAsync(3_000);
  page.visible = false;
  feed.update();
  posted.length = 0;
  const before = { ...asked };
  for (let n = 0; n < 10; n++) {
    page.now += 60_000;
    feed.update();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(posted).toEqual([]);
  expect(asked).toEqual(before);
  page.visible = true;
  feed.ready();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted.length).toBeGreaterThan(0);
  feed.dispose();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(vi.getTimerCount()).toBe(0);
});

it('sends a state again only if it differs, or if the page was loaded again', async () => {
  const { feed, posted } = fed(() => new Promise(() => undefined));
  for (let n = 0; n < 4; n++) {
    feed.update();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(posted).toHaveLength(1);
  feed.ready();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted).toHaveLength(2);
  feed.dispose();
});

it('asks a slow worker once at a time, and forgets the answers of a worker that was replaced', async () => {
  let answer: (report: LimitsReport) => void = () => undefined;
  const { feed, posted, asked } = fed(() => new Promise((resolve) => (answer = resolve)));
  feed.attached(1);
  feed.update();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked.limits).toBe(1);
  feed.attached(2);
  answer(LIMITS);
  await vi.advanceTimersByTimeAsync(500);
  expect(posted.at(-1)?.state.limits?.sentence).toBe('Waiting for the limits…');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.limits).toBe(2);
  answer(LIMITS);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted.at(-1)?.state.limits?.rows).toHaveLength(3);
  feed.dispose();
});

it('keeps the last reports while the gateway is away', async () => {
  let isAway = false;
  const { feed, posted } = fed(async () => {
    if (isAway) throw new Error('the gateway ended before it answered.');
    return LIMITS;
  });
  feed.update();
  await vi.advanceTimersByTimeAsync(2_000);
  isAway = true;
  await vi.advanceTimersByTimeAsync(3_000);
  feed.ready();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(posted.at(-1)?.state.limits?.rows).toHaveLength(3);
  feed.dispose();
});
