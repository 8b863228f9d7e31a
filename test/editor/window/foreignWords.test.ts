import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../../support/workspace.ts';
import { guardedServer } from '../harness/guardedServer.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

/** Link of a notification that would open a terminal, in the form that VS Code follows. */
const linkTo = (label: string): string => `[${label}](command:workbench.action.terminal.new?{})`;
const TOOL = linkTo('Read the details');
const SERVERS = { offered: 'plain', calls: linkTo('calls'), secret: linkTo('secret'), guarded: linkTo('guarded') };

async function configured(): Promise<{ workspace: TestWorkspace; toolId: string; client: HostProcess }> {
  const url = await guardedServer({
    refuse: 'access_denied',
    redirect: { error_description: linkTo('refused') },
  });
  const script = { tools: [{ name: TOOL, inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }] };
  const fault = resolve('test/fixtures/faultServer.mjs');
  const workspace = testWorkspace();
  // In the user's own file, where a server may have any name.
  writeFileSync(
    workspace.userConfigFile,
    JSON.stringify({
      inputs: [{ id: 't', type: 'promptString', description: linkTo('described') }],
      servers: {
        [SERVERS.calls]: { command: process.execPath, args: [fault, '--script', JSON.stringify(script)] },
        [SERVERS.secret]: { command: process.execPath, args: [fault], env: { TOKEN: '${input:t}' } },
        [SERVERS.guarded]: { url },
      },
    }),
  );
  workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { [SERVERS.offered]: servers.fixture() } }));
  const client = await HostProcess.connect(workspace);
  const toolId = await until('the tool', async () => {
    const { structured } = await client.call('tool_browse', { query: 'read the details', render: 'json' });
    return (structured?.cards as { id: string }[] | undefined)?.[0]?.id;
  });
  return { workspace, client, toolId };
}

/** Attacks of servers and files that name a link to a command, in each place where the user reads their words. */
it('no foreign word is a link in a message, a dialog, a prompt or a row of an ordinary window', async () => {
  const { workspace, client, toolId } = await configured();
  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  const links = (place: string): Promise<string[]> =>
    page.locator(`${place} a[href], ${place} .monaco-link`).allInnerTexts();
  const seen = async (place: string, ...words: readonly string[]): Promise<void> => {
    const text = await page.locator(place).first().innerText();
    for (const word of words) expect(text).toContain(word);
    expect(await links(place), place).toEqual([]);
  };
  const centre = '.notifications-center';

  // A notification of a server that waits for approval shows that the centre shows any.
  await page.locator('.notifications-toasts:has-text("plain")').waitFor();

  const call = client.call('tool_execute', { tool_id: toolId, args: { path: linkTo('Learn more') } });
  const asked = '.notifications-toasts .notification-list-item:has-text("waits for you")';
  const list = '.quick-input-widget';
  // The only link is that of the editor.
  const link = `${asked} a[href]`;
  await page.locator(link).waitFor();
  expect(await page.locator(link).allInnerTexts()).toEqual(['Review…']);
  await page.locator(link).click();
  await page.locator(`${list} .quick-input-title:has-text("1 of 1")`).waitFor();
  await seen(list, 'Deny');
  // Enter chooses the active answer.
  await page.keyboard.press('Enter');
  expect(await call).toMatchObject({ isError: true, text: expect.stringContaining('POLICY') });

  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  const row = (name: string): string => name.replace('](', '] (').replace('command:', 'command: ');
  await until('the rows', async () => (await window.rows('Tools')).some(({ label }) => label === row(SERVERS.guarded)));
  const opens = async (place: string, name: string, action: string): Promise<void> => {
    await window.clickRowAction('Tools', row(name), action);
    await page.locator(place).waitFor();
  };
  await opens('.quick-input-widget', SERVERS.secret, 'Set Secret');
  await seen('.quick-input-widget', 'described', 'secret');
  await page.keyboard.press('Escape');

  await opens('.notifications-toasts:has-text("refused")', SERVERS.guarded, 'Sign In');
  await page.locator('#status\\.notifications').click();
  await page.locator(`${centre}.visible`).waitFor();
  // The notification of the question has the link of the editor until it is gone.
  await page.locator(`${centre} .notification-list-item:has-text("waits for you")`).waitFor({ state: 'hidden' });
  await seen(centre, 'plain', 'refused');
  await page.locator(`${centre} *`).evaluateAll((parts) => {
    for (const part of parts) if (part.closest('.notification-list-item-message')) part.click();
  });
  expect(await links('.part.sidebar .pane-body')).toEqual([]);
  expect(await page.locator('.terminal-wrapper').count()).toBe(0);
});
