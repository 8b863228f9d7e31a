import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attachControl } from '../../../src/host/attach/attachControl.ts';
import { runtimeOf } from '../../support/census.ts';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { atEnd } from '../../support/lifetime.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

it('what use has taught about a tool is forgotten from its row, and what concerns others stays', async () => {
  const workspace = testWorkspace({ works: servers.fixture() });
  const client = await HostProcess.connect(workspace);
  const ids = { echo: await client.toolId('/works/echo'), fails: await client.toolId('/works/fails') };
  for (const tool_id of Object.values(ids)) {
    await client.call('tool_browse', { query: 'repeat the words' });
    await client.call('tool_execute', { tool_id, args: { text: 'x' } });
  }
  const control = await attachControl(runtimeOf(workspace), { start: false, holds: true });
  if (!control) throw new Error('No worker runs.');
  atEnd(() => control.dispose());
  const learned = async () => (await control.request('learned', {})).map(({ toolId }) => toolId);
  const before = await learned();
  expect(before).toContain(ids.echo);

  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  await until('the row', async () => (await window.rows('Tools')).some(({ label }) => label === 'works'));
  await window.expand('Tools', 'works');
  await window.chooseFromRowMenu('Tools', 'echo', 'Forget What Use Has Taught…');
  const dialog = page.locator('.monaco-dialog-box', { hasText: 'Forget what use has taught about 1 tool?' });
  await dialog.waitFor();
  await window.screenshot('window-forget');
  await dialog.locator('.monaco-button', { hasText: 'Forget' }).click();
  await until('the tool to be forgotten', async () => !(await learned()).includes(ids.echo));
  expect(await learned()).toEqual(before.filter((id) => id !== ids.echo));
});
