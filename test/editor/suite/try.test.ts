import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { fixture, settledGateway, withControl, workspaceFolder } from './gateway.ts';
import { approveAll, configure, toolsRow } from './person.ts';

/** Themes of VS Code itself, one of each kind. */
const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'hc-dark': 'Default High Contrast',
  'hc-light': 'Default High Contrast Light',
};

const CUSTOMER = {
  name: 'customer_delete',
  title: 'Delete a customer',
  description: 'Deletes a customer of the shop. Orders stay, without a name.',
  annotations: { destructiveHint: true },
  inputSchema: {
    type: 'object',
    required: ['id', 'reason'],
    properties: {
      id: { type: 'integer', minimum: 1, maximum: 9_999, description: 'Number of the customer' },
      reason: { enum: ['left', 'double', 'asked'], description: 'Why the customer goes' },
      note: { type: 'string', maxLength: 200, default: 'none' },
      notify: {
        type: 'array',
        items: { type: 'string', format: 'email' },
        description: 'Addresses that get a message',
      },
      api_key: { type: 'string', description: 'Key of the shop' },
      until: { type: ['string', 'null'], format: 'date' },
      owner: { type: 'object', properties: { name: { type: 'string' }, team: { type: 'string' } }, required: ['name'] },
      filter: { description: 'Any condition' },
    },
  },
};
const LIST = { ...CUSTOMER, name: 'customer_list', title: 'Customers', annotations: { readOnlyHint: true } };

const text = (): Promise<string> => driver.frameText().catch(() => '');
const shows = (words: string): Promise<string> =>
  eventually(`the page to show: ${words}`, text, (seen) => seen.includes(words));
const pageTabs = (): vscode.Tab[] =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith('waygate.try'));

async function toolId(name: string): Promise<string> {
  const { paths } = await withControl((control) => control.request('paths', {}));
  return paths.find(({ path }) => path.endsWith(`/${name}`))?.toolId ?? '';
}

describe('Try Tool', () => {
  let restore: () => Promise<void>;

  before(async () => {
    await approveAll();
    const listing = join(workspaceFolder(), 'forms.json');
    writeFileSync(listing, JSON.stringify({ echoes: true, tools: [CUSTOMER, LIST] }));
    restore = await configure(({ servers }) => {
      servers.shop = { command: 'node', args: [fixture('changingServer.mjs'), listing, `${listing}.calls`] };
      servers.slow = { command: 'node', args: [fixture('server.mjs')] };
    });
    await approveAll();
    await settledGateway();
    await toolsRow('shop', ({ description }) => description.startsWith('3 tools'));
  });

  after(async () => {
    await vscode.workspace
      .getConfiguration()
      .update('workbench.colorTheme', undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore();
  });

  it('opens from the row of a tool, with its form', async () => {
    await driver.expand('Tools', 'shop');
    await toolsRow('customer_list', () => true);
    await driver.clickRowAction('Tools', 'customer_list', 'Try Tool');
    const seen = await shows('More (6)');
    assert.match(seen, /shop · Customers · declared read-only/);
    assert.match(seen, /whole number, 1 to 9999/);
    assert.deepEqual(
      pageTabs().map(({ label }) => label),
      ['Try customer_list (shop)'],
    );
  });

  it('shows the problems that the worker finds, and runs what is right', async () => {
    await driver.fillInFrame('input[inputmode=decimal]', '70000');
    await shows('2 more to fill in or correct');
    await driver.clickInFrame('#run');
    await shows('id must be at most 9999');
    await driver.screenshot('try-problems');
    await driver.fillInFrame('input[inputmode=decimal]', '70');
    await driver.clickInFrame('select');
    await driver.press('ArrowDown');
    await driver.press('Enter');
    await shows('Arguments are valid');
    await driver.clickInFrame('#run');
    const seen = await shows('Answered in');
    assert.match(seen, /"id": ?70/);
    await eventually('the call in the history', text, (words) => /ok · you ·/.test(words));
    const { calls } = await withControl((control) => control.request('calls', { limit: 5 }));
    const own = calls.filter(({ subject }) => subject.includes('customer_list'));
    assert.deepEqual(
      own.map(({ session, outcome }) => [session, outcome]),
      [['you', 'ok']],
    );
  });

  it('takes the arguments of an earlier call back, and copies the call', async () => {
    await driver.fillInFrame('input[inputmode=decimal]', '71');
    await driver.clickInFrame('#history button');
    await shows('The arguments are filled in.');
    await driver.clickInFrame('#copy');
    await shows('The call is in the clipboard.');
    const copied = await vscode.env.clipboard.readText();
    assert.deepEqual(JSON.parse(copied.replace('tool_execute ', '')), {
      tool_id: await toolId('customer_list'),
      args: { id: 70, reason: 'left' },
    });
  });

  it('opens with arguments, once for each tool, and asks before it runs a destructive one', async () => {
    const request = { toolId: await toolId('customer_delete'), args: { id: 7, reason: 'asked', notify: ['a@b.org'] } };
    await vscode.commands.executeCommand('waygate.tryTool', request);
    await vscode.commands.executeCommand('waygate.tryTool', request);
    await shows('declared destructive');
    assert.equal(pageTabs().length, 2);
    await eventually('the verdict', text, (seen) => seen.includes('asks you first'));
    await driver.clickInFrame('#run');
    await shows('Run customer_delete?');
    await driver.screenshot('try-asked');
    await driver.press('Enter');
    const own = async () => {
      const { calls } = await withControl((control) => control.request('calls', { limit: 20 }));
      return calls.filter(({ subject }) => subject.includes('customer_delete'));
    };
    const [begun] = await eventually('the call', own, (calls) => calls.length > 0);
    // A window under test shows no dialog, so the question may have ended at once.
    if (begun?.phase !== 'done') await driver.clickInFrame('#cancel');
    await shows('Failed');
    assert.deepEqual(
      (await own()).map(({ session, outcome }) => [session, outcome]),
      [['you', 'error']],
    );
  });

  it('runs a destructive tool once the user has allowed it, and says that it waits until then', async () => {
    const args = { id: 8, reason: 'left' };
    await vscode.commands.executeCommand('waygate.tryTool', { toolId: await toolId('customer_delete'), args });
    await driver.clickInFrame('#tab-request');
    await eventually('the verdict', text, (seen) => seen.includes('asks you first') && seen.includes('"id": 8'));
    await driver.clickInFrame('#run');
    await shows('Run customer_delete?');
    await driver.clickInFrame('#run');
    await shows('Waiting for your answer to the question about this call');
    void vscode.commands.executeCommand('waygate.reviewQuestions');
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("may customer_delete of shop run")');
    await driver.screenshot('try-question');
    await driver.click('.quick-input-list .monaco-list-row:has-text("Allow Once")');
    assert.match(await shows('Answered in'), /"id": ?8/);
  });

  it('opens the whole result of a long answer as a document', async () => {
    const path = join(workspaceFolder(), 'files', 'long.txt');
    writeFileSync(path, Array.from({ length: 5_000 }, (_, index) => `line ${index} of a long text`).join('\n'));
    await vscode.commands.executeCommand('waygate.tryTool', { toolId: await toolId('read_text_file'), args: { path } });
    await shows('Arguments are valid');
    await driver.clickInFrame('#run');
    await eventually('the figures', text, (seen) => / → [\d,]+ tokens/.test(seen));
    await driver.clickInFrame('#tab-result');
    await driver.clickInFrame('#panel-result button');
    const shown = await eventually('the document', () => vscode.window.activeTextEditor?.document, Boolean);
    assert.equal(shown?.uri.scheme, 'waygate');
    assert.match(shown?.getText() ?? '', /line 4999 of a long text/);
  });

  it('cancels a call that runs', async () => {
    const args = { until: join(workspaceFolder(), 'never') };
    await vscode.commands.executeCommand('waygate.tryTool', { toolId: await toolId('wait'), args });
    await shows('Arguments are valid');
    await driver.clickInFrame('#run');
    await driver.clickInFrame('#run');
    await shows('Running… 1 s');
    await driver.clickInFrame('#cancel');
    assert.match(await shows('Failed'), /CANCELLED/);
  });

  it('lets the user choose a tool from the palette', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const opened = vscode.commands.executeCommand('waygate.tryTool');
    await driver.waitFor('.quick-input-list .monaco-list-row');
    await driver.type('shop/customer_list');
    await eventually(
      'the tool in the list',
      () => driver.texts('.quick-input-list .monaco-list-row'),
      (rows) => rows.length === 1,
    );
    await driver.press('Enter');
    await opened;
    await shows('declared read-only');
  });

  it('works with the keyboard alone', async () => {
    await driver.clickInFrame('h1');
    for (const key of ['Tab', '8', 'Tab', 'd']) await driver.press(key);
    await shows('Arguments are valid');
    await driver.press('Control+Enter');
    const seen = await shows('Answered in');
    assert.match(seen, /"reason": ?"double"/);
  });

  it('keeps the arguments, and no secret, when the window is loaded again', async () => {
    const request = {
      toolId: await toolId('customer_delete'),
      args: { id: 12, reason: 'left', api_key: 'k3y-0123456789abcdef', owner: { name: 'Ada' } },
    };
    await vscode.commands.executeCommand('waygate.tryTool', request);
    await shows('The arguments are filled in');
    // The editor loads the page again, as it does for a restored window.
    await vscode.commands.executeCommand('workbench.action.webview.reloadWebviewAction');
    await shows('declared destructive');
    await driver.clickInFrame('#tab-request');
    const seen = await eventually('the arguments', text, (words) => words.includes('"Ada"'));
    assert.match(seen, /"id": 12/);
    assert.doesNotMatch(seen, /k3y-0123456789abcdef/);
  });

  for (const [kind, theme] of Object.entries(THEMES)) {
    it(`has no violation of axe in the theme ${kind}`, async () => {
      await vscode.workspace
        .getConfiguration()
        .update('workbench.colorTheme', theme, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand('waygate.tryTool', { toolId: await toolId('customer_list') });
      await shows('More (6)');
      await driver.picture(`try-empty-${kind}`);
      assert.deepEqual(await driver.axeInFrame(), []);
      const args = { id: 12, reason: 'left', notify: ['a@b.org', 'c@d.org'], owner: { name: 'Ada' }, until: null };
      await vscode.commands.executeCommand('waygate.tryTool', { toolId: await toolId('customer_list'), args });
      await shows('Arguments are valid');
      await driver.clickInFrame('#run');
      await shows('Answered in');
      await driver.picture(`try-answered-${kind}`);
      if (kind === 'dark') await driver.picture('try');
      assert.deepEqual(await driver.axeInFrame(), []);
      await driver.fillInFrame('input[inputmode=decimal]', '70000');
      await shows('1 more to fill in or correct');
      await driver.clickInFrame('#run');
      await shows('1 problem');
      await driver.picture(`try-problems-${kind}`);
      assert.deepEqual(await driver.axeInFrame(), []);
    });
  }
});
