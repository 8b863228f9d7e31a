import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous, status } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder, testWorkspace } from '../support/workspace.ts';

const MB = 2 ** 20;

it('limits the young generation of a busy worker to sixteen megabytes', async () => {
  const workspace = testWorkspace({});
  const folder = temporaryFolder('waygate-young-');
  const host = new HostProcess(workspace, [], {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/youngSpaceProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  });
  await host.initialize();
  const pid = await until('a worker', () => rendezvous(workspace)?.pid);
  const youngOf = (one: number | undefined): number => Number(readFileSync(join(folder, String(one)), 'utf8')) / MB;
  expect(youngOf(pid)).toBeLessThanOrEqual(16);
  // The host allocates the same garbage without the limit.
  expect(youngOf(host.child.pid)).toBeGreaterThan(16);
});

it('collects garbage in host and worker when they are idle', async () => {
  const workspace = testWorkspace({});
  const folder = temporaryFolder('waygate-idle-');
  const host = new HostProcess(workspace, [], {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/idleProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  });
  await host.initialize();
  const worker = (await until('a worker', () => rendezvous(workspace)?.pid)) as number;
  const pids = [host.child.pid, worker];
  await until('a collection in both', () => pids.every((pid) => existsSync(join(folder, String(pid)))));
  const { result } = await host.request('tools/list');
  expect(result?.tools).toHaveLength(3);
});

it('lets the allocator of a worker keep little free memory, and passes its settings to no server', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const host = await HostProcess.connect(workspace);
  await host.toolId('/one/echo');
  const { worker, servers: running } = await status(workspace);
  const settingsOf = (pid: number | undefined): string[] =>
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((entry) => entry.startsWith('MALLOC_'));
  expect(settingsOf(worker?.pid).sort()).toEqual(['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=65536']);
  expect(settingsOf(running[0]?.pid)).toEqual([]);
});
