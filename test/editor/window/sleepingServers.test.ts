import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workersOf } from '../../support/census.ts';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { DashboardTab } from '../harness/dashboardTab.ts';
import { guardedServer } from '../harness/guardedServer.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

it('a server that sleeps counts as usable, one that needs a sign-in does not, and both serve after one step', async () => {
  const workspace = testWorkspace({ guarded: { url: await guardedServer() }, spare: servers.fixture() });
  // Lists the server once. A worker that knows its tools starts it only for a call.
  const first = await HostProcess.connect(workspace);
  await first.toolId('/spare/echo');
  first.child.kill('SIGKILL');
  await until('the end of the worker', async () => (await workersOf(workspace)).length === 0);

  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  const row = (label: string): Promise<string | false> =>
    window.rows('Tools').then((rows) => rows.find((one) => one.label === label)?.description ?? false);
  const item = page.locator('.statusbar-item', { hasText: 'Waygate' }).first();
  const health = async (): Promise<string> => (await item.locator('a').getAttribute('aria-label')) ?? '';
  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  await until('the row of the other server', async () => (await row('guarded')) === 'needs sign-in');
  expect(await row('spare')).toMatch(/^6 tools · \d+ tokens$/);
  expect(await item.innerText()).toContain('1 needs you');
  expect(await health()).toContain('6 tools, 1 usable of 2 servers');

  const dashboard = new DashboardTab(page);
  await dashboard.show();
  await dashboard.isIn('spare', 'asleep');
  await dashboard.isIn('guarded', 'needs sign-in');
  expect(await dashboard.find('[data-part="servers"] .title').innerText()).toContain('1 usable of 2');
  expect(await dashboard.find('[data-part="needs"]').innerText()).toMatch(/guarded needs sign-in\.\s*Sign In/);
  expect(await dashboard.find('[data-part="needs"]').innerText()).not.toContain('spare');
  expect(await dashboard.row('spare').locator('[data-action="startServer"]').count()).toBe(1);
  expect(await dashboard.row('guarded').locator('[data-action="signIn"]').count()).toBe(1);
  await window.screenshot('asleep-and-sign-in');

  const agent = await HostProcess.connect(workspace);
  const answer = await agent.call('tool_execute', { tool_id: await agent.toolId('/spare/echo'), args: { text: 'up' } });
  expect(answer.text).toContain('up');
  await dashboard.isIn('spare', 'ready');
  await window.clickRowAction('Tools', 'guarded', 'Sign In');
  await dashboard.isIn('guarded', 'ready');
  await until('the status bar', async () => (await item.innerText()).trim() === 'Waygate');
  expect(await health()).toMatch(/\d+ tools from 2 servers/);
});
