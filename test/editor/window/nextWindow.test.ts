import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { status } from '../../support/census.ts';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { guardedServer } from '../harness/guardedServer.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

/** An agent works without a window. What waits for the user meanwhile is in the window that opens next. */

const SCRIPT = JSON.stringify({
  tools: [{ name: 'drop', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }],
});

const item = (page: Page) => page.locator('.statusbar-item', { hasText: 'Waygate' }).first();

it('the next window asks about refused calls, and shows approvals, secrets and sign-ins that wait', async () => {
  const workspace = testWorkspace();
  const log = workspace.write('calls', '');
  const erp = { command: process.execPath, args: [resolve('test/fixtures/faultServer.mjs'), '--script', SCRIPT] };
  const guarded = { url: await guardedServer() };
  const keyed = { ...servers.fixture(), env: { KEY: '$' + '{secret:the-key}' } };
  const waiting = { erp: { ...erp, args: [...erp.args, '--log', log] }, guarded, keyed };
  workspace.configure(waiting);
  workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { ...waiting, fresh: servers.fixture() } }));

  const agent = await HostProcess.connect(workspace);
  const tool_id = await agent.toolId('/erp/drop');
  const drop = async (id: number) => (await agent.call('tool_execute', { tool_id, args: { id } })).text;
  const runs = () => readFileSync(log, 'utf8').split('"tools/call"').length - 1;
  const state = async (name: string) => (await status(workspace)).servers.find((one) => one.name === name)?.state;
  await until('the states', async () => (await state('guarded')) === 'needs_sign_in');
  await until('the states', async () => (await state('keyed')) === 'needs_secret');
  for (const id of [1, 2]) expect(await drop(id)).toMatch(/^Error AUTH_REQUIRED: .*nobody can be asked here/);

  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  const toast = page.locator('.notifications-toasts .notification-list-item', {
    hasText: 'drop of erp did not run, because nobody could be asked.',
  });
  await toast.waitFor();
  await item(page).filter({ hasText: '2 questions' }).waitFor();
  await window.screenshot('question-of-a-refused-call');
  await toast.getByRole('button', { name: 'Review…' }).or(toast.locator('a:has-text("Review…")')).click();
  const list = page.locator('.quick-input-widget');
  await list.locator('.quick-input-title', { hasText: '1 of 2: may drop of erp run' }).waitFor();
  const rows = list.locator('.quick-input-list .monaco-list-row');
  expect(await rows.allInnerTexts()).toEqual([
    expect.stringMatching(/^Deny\s+The call was refused at [\d:]+, and the next one asks again\.$/),
    expect.stringMatching(
      /^Allow Once\s+Runs the next call of erp:drop#\w{8} by this client with the same arguments\.$/,
    ),
    expect.stringMatching(/^Always Allow Here\s/),
  ]);
  await window.screenshot('question-of-a-refused-call-list');
  await rows.filter({ hasText: 'Allow Once' }).click();
  await list.locator('.quick-input-title', { hasText: '2 of 2: may drop of erp run' }).waitFor();
  // The active answer runs nothing.
  await page.keyboard.press('Enter');
  await until('the end of the questions', async () => !(await item(page).innerText()).includes('question'));
  expect(runs()).toBe(0);
  expect(await drop(1)).toMatch(/^ok/);
  expect(runs()).toBe(1);

  // With a window, the same call asks there, and waits.
  const asked = drop(1);
  await item(page).filter({ hasText: '1 question' }).waitFor();
  await item(page).click();
  await list.locator('.quick-input-title', { hasText: '1 of 1: may drop of erp run' }).waitFor();
  await rows.filter({ hasText: 'Always Allow Here' }).click();
  expect(await asked).toMatch(/^ok/);
  expect(await drop(3)).toMatch(/^ok/);
  expect(runs()).toBe(3);

  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  const described = async () =>
    Object.fromEntries((await window.rows('Tools')).map(({ label, description }) => [label, description]));
  await until('the rows', async () => Object.keys(await described()).length >= 4);
  expect(await described()).toMatchObject({
    fresh: 'needs approval',
    guarded: 'needs sign-in',
    keyed: 'needs a secret: the-key',
  });
  await window.screenshot('waiting-for-the-next-window');
});
