import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlive, pidsIn } from './hostProcess.ts';
import { temporaryFolder } from './workspace.ts';

describe('a process', () => {
  // Linux uses /proc; other systems use the signal alone, which 0 and negative numbers send to a whole group.
  it.each([process.platform, 'darwin'])('with an invalid id is not alive: %s', (platform) => {
    const real = process.platform;
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: real }));
    Object.defineProperty(process, 'platform', { value: platform });
    expect([Number(''), Number('x'), -process.pid, 1.5].filter(isAlive)).toEqual([]);
    expect(isAlive(process.pid)).toBe(true);
  });

  it('is read from the file that it wrote, and an empty file names no process', () => {
    const file = join(temporaryFolder('waygate-pids-'), 'pids');
    writeFileSync(file, '');
    expect(pidsIn(file)).toEqual([]);
    writeFileSync(file, '12 13\n14\n');
    expect(pidsIn(file)).toEqual([12, 13, 14]);
  });
});
