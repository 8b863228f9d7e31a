import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { approveShown, runtimeOf, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

it.each(['link', 'real path'])(
  'a workspace and a link to it share worker, approvals and state, also if the client with the %s starts it',
  async (first) => {
    const workspace = testWorkspace();
    writeFileSync(
      workspace.configFile,
      JSON.stringify({ servers: { one: servers.fixture('--log', '${workspaceFolder}/log.txt') } }),
    );
    const link = join(dirname(workspace.folder), 'link');
    symlinkSync(workspace.folder, link);
    const linked: TestWorkspace = { ...workspace, folder: link };
    const [starter, other] = first === 'link' ? [linked, workspace] : [workspace, linked];
    // The first word of approval comes through the other path.
    await approveShown(other);
    const host = await HostProcess.connect(starter);
    const id = await host.toolId('/one/echo');
    const second = await HostProcess.connect(other);
    expect((await second.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    expect(await workersOf(workspace)).toHaveLength(1);
    const report = await status(workspace);
    expect(report.servers).toMatchObject([{ name: 'one', state: 'ready' }]);
    expect(report.sessions).toHaveLength(2);
    for (const one of [linked, workspace]) {
      const { stdout } = await waygate(one, ['approve', '--workspace', one.folder]);
      expect(stdout).toContain('"one" (approved');
    }
  },
);

it('an editor that opened a link starts the worker of the real folder', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const link = join(dirname(workspace.folder), 'link');
  symlinkSync(workspace.folder, link);
  // As the extension attaches.
  const control = await attachControl(runtimeOf({ ...workspace, folder: link }), { start: true, holds: true });
  expect((await control?.request('status', {}))?.workspace).toBe(workspace.folder);
  const host = await HostProcess.connect(workspace);
  await host.toolId('/one/echo');
  expect(await workersOf(workspace)).toHaveLength(1);
  control?.dispose();
});
