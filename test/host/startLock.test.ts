import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireStartLock } from '../../src/host/attach/startLock.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('the lock on starting a worker', () => {
  const folder = (): string => temporaryFolder('waygate-lock-');
  const leave = (place: string, text: string, ageSeconds: number): void => {
    const file = join(place, 'start.lock');
    writeFileSync(file, text);
    const then = Date.now() / 1_000 - ageSeconds;
    utimesSync(file, then, then);
  };

  it('is held by one at a time, and free when it is released', () => {
    const place = folder();
    const release = acquireStartLock(place);
    expect(acquireStartLock(place)).toBeUndefined();
    release?.();
    expect(acquireStartLock(place)).toBeDefined();
  });

  it.each([
    ['of a running process', () => String(process.pid), 15, false],
    ['of a running process that has held it for too long', () => String(process.pid), 25, true],
    ['of a process that has ended', () => String(2 ** 22 - 3), 0, true],
    ['created without its process id yet', () => '', 0, false],
    ['that never got its process id', () => '', 2, true],
  ])('%s is taken over only if it is stale', (_, text, ageSeconds, isFree) => {
    const place = folder();
    leave(place, text(), ageSeconds);
    expect(acquireStartLock(place) !== undefined).toBe(isFree);
  });
});
