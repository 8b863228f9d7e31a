import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous, stateFolder } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const HANDLE = /text:one:large[^"\s:]*:[0-9a-f]{16}/;

it('reads a result again after the worker is killed at the moment of its answer', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/large');
  let killed: number | undefined;
  // Before anything that the worker does behind the answer.
  host.onMessage(({ result }) => {
    if (killed !== undefined || !HANDLE.test(JSON.stringify(result ?? {}))) return;
    killed = rendezvous(workspace)?.pid;
    process.kill(killed as number, 'SIGKILL');
  });
  const { text } = await host.call('tool_execute', { tool_id: id, args: { lines: 500 } });
  const [handle] = HANDLE.exec(text) ?? [];
  expect(killed).toBeGreaterThan(0);
  const view = await host.call('tool_view', { handle, selector: { type: 'lines', start: 400, end: 401 } });
  expect(view).toMatchObject({ isError: false, text: expect.stringMatching(/line (399|400): /) });
  expect(rendezvous(workspace)?.pid).not.toBe(killed);
});

it('writes files for named results alone', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const host = await HostProcess.connect(workspace);
  const echo = await host.toolId('/one/echo');
  const large = await host.toolId('/one/large');
  expect((await host.call('tool_execute', { tool_id: echo, args: { text: 'short' } })).text).toContain('short');
  await host.call('tool_execute', { tool_id: large, args: { lines: 500 } });
  host.end();
  // A worker writes what waits before it ends.
  await until('the end of the worker', () => (rendezvous(workspace) === undefined ? true : undefined));
  expect(readdirSync(join(stateFolder(workspace), 'artifacts'))).toHaveLength(1);
});
