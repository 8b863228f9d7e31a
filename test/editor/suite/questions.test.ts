import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { fixture, settledGateway, withControl } from './gateway.ts';
import { approveAll, configure, toolsRow } from './person.ts';

const BADGE = '.activitybar .action-item:has(a[aria-label^="Waygate"]) .badge-content';
const LIST = '.quick-input-widget';
const SCRIPT = {
  tools: [
    { name: 'drop', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
    { name: 'erase', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
  ],
};

interface Call {
  answer: Promise<string>;
  /** Ends the client. */
  leave(): void;
}

const clients: Call[] = [];

/** Calls a tool of the server `erp`, about which the user is asked. */
async function call(name: string, args: object = {}): Promise<Call> {
  const left = Promise.withResolvers<void>();
  const answer = withControl(async (control) => {
    const { nodes } = await control.request('children', { path: '/erp' });
    const tool_id = nodes.find(({ label }) => label === name)?.toolId;
    const called = control.request('callTool', { name: 'tool_execute', args: { tool_id, args } });
    const text = called.then(({ content }) => content.map((part) => part.text ?? '').join());
    return Promise.race([text, left.promise.then(() => 'left')]);
  });
  const client = { answer, leave: () => left.resolve() };
  clients.push(client);
  return client;
}

/** Returns the number at the icon, which counts servers that need the user too. */
async function badge(): Promise<number> {
  const [text = '0'] = await driver.texts(BADGE);
  return Number(text);
}

async function waygateItem(): Promise<string> {
  return (await driver.statusBar()).find(({ text }) => text.includes('Waygate'))?.text ?? '';
}

/** Waits until as many questions are open as given. */
async function questions(amount: number): Promise<void> {
  const words = amount === 0 ? /^Waygate(?!.*question)/ : new RegExp(`Waygate: ${amount} question`);
  await eventually(`${amount} open questions`, waygateItem, (text) => words.test(text));
}

async function review(title: string): Promise<void> {
  void vscode.commands.executeCommand('waygate.reviewQuestions');
  await driver.waitFor(`${LIST} .quick-input-title:has-text(${JSON.stringify(title)})`);
}

const choose = (label: string): Promise<void> =>
  driver.click(`${LIST} .quick-input-list .monaco-list-row:has-text(${JSON.stringify(label)})`);

const isListOpen = async (): Promise<boolean> => (await driver.texts(`${LIST} .quick-input-title`)).length > 0;

/** Questions about calls, for clients that cannot ask. */
describe('Questions', () => {
  let restore: () => Promise<void>;

  before(async () => {
    await approveAll();
    restore = await configure(({ servers }) => {
      servers.erp = { command: 'node', args: [fixture('faultServer.mjs'), '--script', JSON.stringify(SCRIPT)] };
    });
    await approveAll();
    await settledGateway();
    await toolsRow('erp', ({ description }) => /^2 tools\b/.test(description));
  });

  afterEach(async () => {
    for (const { leave } of clients.splice(0)) leave();
    await questions(0);
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore();
  });

  it('wait in a notification, the status bar and the badge, and interrupt no typing', async () => {
    const document = await vscode.workspace.openTextDocument({ content: '' });
    await vscode.window.showTextDocument(document);
    await driver.click('.editor-instance .view-lines');
    const servers = await badge();
    const { answer } = await call('drop', { id: 7 });
    for (let i = 0; i < 10; i++) await driver.type('typed ');
    await questions(1);
    await driver.type('on');
    await eventually(
      'the typed text',
      () => document.getText(),
      (text) => text === `${'typed '.repeat(10)}on`,
    );
    assert.equal(await isListOpen(), false);
    await eventually('the badge', badge, (amount) => amount === servers + 1);
    const [notification = ''] = await driver.notifications();
    assert.match(notification, /^drop of erp waits for you\. Review…/);
    const row = (await driver.rows('Activity')).find(({ label }) => label === 'drop');
    assert.match(row?.description ?? '', /^erp · waits for you · \d+ s$/);
    await driver.screenshot('question-waits');

    await driver.click('#status\\.notifications');
    await driver.click('.notifications-center.visible .monaco-button:has-text("Cancel")');
    assert.match(await answer, /declined/);
    await questions(0);
    await eventually('the badge', badge, (amount) => amount === servers);
    if ((await driver.texts('.notifications-center.visible')).length > 0) await driver.click('#status\\.notifications');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('show the whole arguments, put aside by Escape, and run the call only by an answer that allows it', async () => {
    const args = { path: 'a\u202eb', body: 'x'.repeat(6_000) };
    const { answer } = await call('drop', args);
    await questions(1);
    await review('1 of 1: may drop of erp run');
    await eventually(
      'the harmless answer to be active',
      () => driver.texts(`${LIST} .quick-input-list .monaco-list-row.focused`),
      ([active = '']) => active.startsWith('Deny'),
    );
    await driver.screenshot('question-review');
    await driver.click(`${LIST} .action-label[aria-label="Show Arguments"]`);
    const shown = await eventually('the arguments', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'waygate' && uri.path.startsWith('/questions/')),
    );
    assert.deepEqual(JSON.parse(shown?.getText() ?? ''), args);
    assert.ok(shown?.getText().includes('a\\u202eb'), 'hidden characters are visible');
    await driver.waitFor('.codelens-decoration a:has-text("Answer…")');
    await driver.screenshot('question-arguments');
    assert.equal(await isListOpen(), false);
    await driver.click('.codelens-decoration a:has-text("Answer…")');
    await driver.waitFor(`${LIST} .quick-input-title:has-text("1 of 1")`);
    await driver.press('Escape');
    await eventually('the list to be put aside', async () => !(await isListOpen()));
    await questions(1);

    await review('1 of 1');
    await choose('Allow Once');
    assert.match(await answer, /^ok/);
    await questions(0);
    await eventually('its document to close', () =>
      vscode.window.tabGroups.all.every(({ tabs }) => tabs.every(({ label }) => !/^\d+\.json$/.test(label))),
    );
  });

  it('are opened anew, with the focus, while their list is open behind the work of the user', async () => {
    const { answer } = await call('drop');
    await questions(1);
    await review('1 of 1');
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: '' }));
    await driver.click('.editor-instance .view-lines');
    await driver.type('typed');
    await eventually('the typed text', () => vscode.window.activeTextEditor?.document.getText() === 'typed');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await review('1 of 1');
    await driver.waitFor(`${LIST} input:focus`);
    await driver.press('Enter');
    assert.match(await answer, /declined/);
    await eventually('the list to close', async () => !(await isListOpen()));
  });

  it('come one after the other', async () => {
    const servers = await badge();
    const calls = [await call('drop'), await call('erase')];
    await questions(2);
    await eventually('the badge', badge, (amount) => amount === servers + 2);
    await review('1 of 2: may drop of erp run');
    await choose('Deny');
    await driver.waitFor(`${LIST} .quick-input-title:has-text("2 of 2: may erase of erp run")`);
    await choose('Allow Once');
    const [denied, allowed] = await Promise.all(calls.map(({ answer }) => answer));
    assert.match(denied ?? '', /declined/);
    assert.match(allowed ?? '', /^ok/);
    await questions(0);
  });

  it('are gone within a second after their client has left, also while the user looks at them', async () => {
    const { answer, leave } = await call('drop');
    await questions(1);
    await review('1 of 1');
    leave();
    await answer;
    await eventually('the list to close', async () => !(await isListOpen()), Boolean, 1_000);
    await eventually('the question to go', waygateItem, (text) => !text.includes('question'), 1_000);
    await eventually(
      'the notification to go',
      () => driver.notifications(),
      (texts) => !texts.some((text) => text.includes('waits for you')),
      1_000,
    );
  });
});
