import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder, testWorkspace, WAYGATE } from '../support/workspace.ts';

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

it('a worker lists and calls the usual tools of a server without the schemas of the SDK', async () => {
  const folder = temporaryFolder('waygate-loaded-');
  const env = {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/loadedProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  };
  const loadedWith = async (...flags: string[]): Promise<string[]> => {
    const workspace = testWorkspace({ one: servers.fixture(...flags) });
    const host = await HostProcess.connect(workspace, ['--mode', 'passthrough'], {}, env);
    const { result } = await host.request('tools/list');
    const { tools } = result as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name);
    expect((await host.call(names.find((name) => name.endsWith('echo')) ?? '', { text: 'hi' })).isError).toBe(false);
    return JSON.parse(readFileSync(join(folder, String(rendezvous(workspace)?.pid)), 'utf8')) as string[];
  };
  expect(await loadedWith()).not.toContain('zod');
  expect(await loadedWith('--odd-items')).toContain('zod');
});

it('a host that joins a worker loads what an outage needs in an outage only', async () => {
  const folder = temporaryFolder('waygate-loaded-');
  const workspace = testWorkspace({ one: servers.fixture() });
  const starter = await HostProcess.connect(workspace);
  const env = {
    NODE_OPTIONS: `--require ${resolve('test/fixtures/loadedProbe.cjs')}`,
    WAYGATE_PROBE_FOLDER: folder,
  };
  const host = await HostProcess.connect(workspace, [], {}, env);
  const id = await host.toolId('/one/echo');
  const call = () => host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
  expect((await call()).isError).toBe(false);
  const [own] = readdirSync(folder);
  const loaded = () => JSON.parse(readFileSync(join(folder, String(own)), 'utf8')) as string[];
  // Of Waygate itself, nothing but its program.
  expect(loaded().filter((name) => /child_process|https?$|worker_threads|inspector|\.cjs$/.test(name))).toEqual([
    WAYGATE,
  ]);
  starter.end();
  await starter.exited;
  process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
  expect((await call()).isError).toBe(false);
  expect(loaded()).toContain('node:child_process');
});
