import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followFile } from '../../src/lib/followFile.ts';

const INTERVAL_MS = 1_000;
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waygate-follow-'));
  file = join(folder, 'a.json');
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

it('reports a change from the moment of its call, once, and none after its end', () => {
  writeFileSync(file, 'a');
  const onChange = vi.fn();
  const end = followFile(file, onChange, INTERVAL_MS);
  writeFileSync(file, 'ab');
  vi.advanceTimersByTime(3 * INTERVAL_MS);
  expect(onChange).toHaveBeenCalledTimes(1);
  end();
  writeFileSync(file, 'abc');
  vi.advanceTimersByTime(3 * INTERVAL_MS);
  expect(onChange).toHaveBeenCalledTimes(1);
});

it('reports that a file was made, replaced by one of the same size, or removed with its folder', () => {
  const onChange = vi.fn();
  const end = followFile(file, onChange, INTERVAL_MS);
  const changes: (() => void)[] = [
    () => writeFileSync(file, 'a'),
    () => {
      writeFileSync(join(folder, 'b'), 'b');
      renameSync(join(folder, 'b'), file);
    },
    () => rmSync(file),
  ];
  for (const [index, change] of changes.entries()) {
    change();
    vi.advanceTimersByTime(INTERVAL_MS);
    expect(onChange).toHaveBeenCalledTimes(index + 1);
  }
  rmSync(folder, { recursive: true });
  vi.advanceTimersByTime(INTERVAL_MS);
  expect(onChange).toHaveBeenCalledTimes(changes.length);
  end();
  expect(vi.getTimerCount()).toBe(0);
});
