import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

it('a worker answers its first browse without the modules of Node that only calls need', async () => {
  const folder = temporaryFolder('waygate-loaded-');
  const workspace = testWorkspace({});
  const host = new HostProcess(workspace, [], {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/loadedProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  });
  await host.initialize();
  expect((await host.call('tool_browse', { path: '/' })).text).toBeTruthy();
  const pid = await until('a worker', () => rendezvous(workspace)?.pid);
  const loaded = JSON.parse(readFileSync(join(folder, String(pid)), 'utf8')) as string[];
  expect(loaded).toContain('node:net');
  const unneeded = ['http', 'https', 'child_process', 'dns/promises', 'vm'];
  expect(unneeded.filter((name) => loaded.includes(name) || loaded.includes(`node:${name}`))).toEqual([]);
});
