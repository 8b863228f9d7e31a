import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { optimizeEarly } from '../../src/lib/optimizeEarly.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('V8 is asked to optimize early only after the start', () => {
  const flags: string[] = [];
  optimizeEarly('13.6.233.17-node.1', (flag) => flags.push(flag));
  vi.advanceTimersByTime(1_900);
  expect(flags).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(flags).toEqual(['--invocation-count-for-turbofan=300']);
});

test('a V8 that does not know the flag is left alone, because it would print an error', () => {
  const flags: string[] = [];
  optimizeEarly('11.3.244.8-node.38', (flag) => flags.push(flag));
  vi.advanceTimersByTime(60_000);
  expect(flags).toEqual([]);
});

test('the Node of this project knows the flag', () => {
  let asked = '';
  optimizeEarly(process.versions.v8, (flag) => {
    asked = flag;
  });
  vi.advanceTimersByTime(3_000);
  const { stderr, status } = spawnSync(process.execPath, [asked, '-e', ''], { encoding: 'utf8' });
  expect({ asked, stderr, status }).toEqual({ asked: expect.stringContaining('='), stderr: '', status: 0 });
});
