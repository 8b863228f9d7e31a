import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

/** Time for which a question has to stay in sight. VS Code shows a message that has no work behind it for 12 s. */
const TOAST_MS = 30_000;
/** Limit for everything to disappear after the end of the client. */
const GONE_MS = 1_000;

const destructive = (name: string): object => ({
  ...{ name, inputSchema: { type: 'object' } },
  annotations: { destructiveHint: true },
});
const SCRIPT = JSON.stringify({ tools: [destructive('drop'), destructive('erase')] });

const toast = (page: Page): Locator =>
  page.locator('.notifications-toasts .notification-list-item').filter({
    hasText: 'waits for you',
  });
const item = (page: Page): Locator => page.locator('.statusbar-item', { hasText: 'Waygate' });
const badge = (page: Page): Locator =>
  page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"]) .badge-content');
const list = (page: Page): Locator => page.locator('.quick-input-widget .quick-input-title');

/** Returns the texts of elements that are cut. */
function cut(parts: Locator): Promise<string[]> {
  return parts.evaluateAll((elements) =>
    elements.filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent ?? ''),
  );
}

const opened = shared(async () => {
  const effects = 'effects';
  const workspace = testWorkspace();
  workspace.configure({
    erp: {
      command: process.execPath,
      args: [resolve('test/fixtures/faultServer.mjs'), '--script', SCRIPT, '--log', workspace.write(effects, '')],
    },
  });
  workspace.write('notes.txt', '');
  const client = await HostProcess.connect(workspace);
  const ids = { drop: await client.toolId('/erp/drop'), erase: await client.toolId('/erp/erase') };
  const page = await openWindow(workspace);
  await item(page).waitFor();
  const called = (tool: 'drop' | 'erase', by = client) =>
    by.call('tool_execute', { tool_id: ids[tool], args: { id: 7 } });
  const runs = () => readFileSync(join(workspace.folder, effects), 'utf8').split('"tools/call"').length - 1;
  return { workspace, page, client, called, runs };
});

it('a question stays in sight with all its words, interrupts no typing, and closing it allows nothing', async () => {
  const { page, called, runs } = opened();
  await page.locator('.explorer-folders-view .monaco-list-row:has-text("notes.txt")').dblclick();
  await page.locator('.editor-instance .view-lines').click();
  const started = Date.now();
  const answer = called('drop');
  await page.keyboard.type('typed before, ', { delay: 20 });
  await toast(page).waitFor();
  console.log(`The question was in sight after ${Date.now() - started} ms.`);
  await page.keyboard.type('and after');
  await until('the typed text', async () => {
    const text = await page.locator('.editor-instance .view-lines').innerText();
    return text.includes('typed\u00a0before,\u00a0and\u00a0after');
  });
  expect(await list(page).isVisible()).toBe(false);
  await new Promise((done) => setTimeout(done, TOAST_MS));
  expect(await toast(page).innerText()).toMatch(/drop of erp waits for you\. Review…/);
  expect(await cut(toast(page).locator('.notification-list-item-message, .monaco-button'))).toEqual([]);
  expect(await item(page).innerText()).toContain('1 question');
  expect(await badge(page).innerText()).toBe('1');
  await workbench(page, join('.out', 'screenshots')).screenshot('question-toast');

  await toast(page).getByRole('button', { name: 'Review…' }).or(toast(page).locator('a:has-text("Review…")')).click();
  await list(page).waitFor();
  await workbench(page, join('.out', 'screenshots')).screenshot('question-list');
  expect(await cut(page.locator('.quick-input-list .monaco-list-row .label-name, .quick-input-title'))).toEqual([]);
  await page.keyboard.press('Escape');
  await list(page).waitFor({ state: 'hidden' });
  expect(await item(page).innerText()).toContain('1 question');
  expect(runs()).toBe(0);

  await item(page).click();
  await list(page).waitFor();
  // The active answer runs nothing.
  await page.keyboard.press('Enter');
  expect((await answer).text).toContain('POLICY_DENIED');
  await toast(page).waitFor({ state: 'hidden' });
  expect(runs()).toBe(0);
});

it('a question goes within a second when its client is killed, with the list and the next question in its place', async () => {
  const { workspace, page, called, runs } = opened();
  const killed = await HostProcess.connect(workspace);
  void called('drop', killed).catch(() => undefined);
  await toast(page).filter({ hasText: 'drop' }).waitFor();
  const next = called('erase');
  await item(page).filter({ hasText: '2 questions' }).waitFor();
  await item(page).click();
  await list(page).filter({ hasText: '1 of 2: may drop of erp run' }).waitFor();
  killed.child.kill('SIGKILL');
  const ended = Date.now();
  await toast(page).filter({ hasText: 'erase' }).waitFor();
  await item(page).filter({ hasText: '1 question' }).waitFor();
  await list(page).filter({ hasText: 'may erase of erp run' }).waitFor();
  expect(Date.now() - ended).toBeLessThan(GONE_MS);
  await page.locator('.quick-input-list .monaco-list-row:has-text("Allow Once")').click();
  expect((await next).isError).toBe(false);
  await until('the end', async () => !(await item(page).innerText()).includes('question'));
  // VS Code shows a notification of work for 0.8 s at least.
  await until('the end of the notifications', async () => (await toast(page).count()) === 0);
  expect(runs()).toBe(1);
});
