import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endLeftovers, findLeftovers } from '../editor/harness/leftovers.ts';

test.runIf(process.platform === 'linux')('a leftover process of a run is found by the folder of the run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wg-'));
  const forever = ['-e', 'console.log("up"); setInterval(() => {}, 1000)'];
  const ofTheRun = spawn(process.execPath, forever, { env: { HOME: join(folder, 'home') } });
  const another = spawn(process.execPath, forever);
  try {
    await Promise.all([ofTheRun, another].map((child) => new Promise((up) => child.stdout.once('data', up))));
    const gone = new Promise((resolve) => ofTheRun.once('exit', resolve));
    expect(endLeftovers(folder).map(({ pid }) => pid)).toEqual([ofTheRun.pid]);
    await gone;
    expect(findLeftovers(folder)).toEqual([]);
    expect(another.exitCode).toBeNull();
  } finally {
    another.kill('SIGKILL');
    ofTheRun.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});
