import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from '../../src/lib/pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes a pace whose runs last `runMs`. */
function paced(runMs = 0) {
  const starts: number[] = [];
  const pace = new Pace(
    async () => {
      starts.push(Date.now());
      if (runMs > 0) await new Promise((done) => setTimeout(done, runMs));
    },
    { delayMs: 200, intervalMs: 1_000 },
  );
  const begin = Date.now();
  return { pace, starts: () => starts.map((at) => at - begin) };
}

it('combines many requests in a row into one run', async () => {
  const { pace, starts } = paced();
  for (let i = 0; i < 500; i++) pace.request();
  expect(pace.pending).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(starts()).toEqual([200]);
  expect(pace.pending).toBe(false);
});

it('runs once a second for endless requests', async () => {
  const { pace, starts } = paced();
  const asking = setInterval(() => pace.request(), 10);
  await vi.advanceTimersByTimeAsync(3_500);
  clearInterval(asking);
  expect(starts()).toHaveLength(4);
  expect(starts()[1]).toBeGreaterThanOrEqual(1_200);
});

it('runs once more for any number of requests during a run', async () => {
  const { pace, starts } = paced(5_000);
  pace.request();
  await vi.advanceTimersByTimeAsync(1_000);
  for (let i = 0; i < 100; i++) pace.request();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts()).toEqual([200, 5_400]);
});

it('does not run after a stop', async () => {
  const { pace, starts } = paced();
  pace.request();
  pace.stop();
  pace.request();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(starts()).toEqual([]);
});
