import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

it('a busy worker takes sixteen megabytes for what it has just allocated, not all that V8 would', async () => {
  const workspace = testWorkspace({});
  const folder = temporaryFolder('waygate-young-');
  const host = new HostProcess(workspace, [], {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/youngSpaceProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  });
  await host.initialize();
  const pid = await until('a worker', () => rendezvous(workspace)?.pid);
  const youngOf = (one: number | undefined): number =>
    Number(readFileSync(join(folder, String(one)), 'utf8')) / 2 ** 20;
  expect(youngOf(pid)).toBeLessThanOrEqual(16);
  // The same garbage, in a process that leaves it to V8.
  expect(youngOf(host.child.pid)).toBeGreaterThan(16);
});
