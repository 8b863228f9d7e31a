import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import type { CallRecord } from '../../../src/control/activityContract.ts';
import { callPlace, logPlace, resultPlace } from '../../../src/extension/documents/addresses.ts';
import { driver, eventually } from '../harness/driver.ts';
import { gatewayStatus, withControl } from './gateway.ts';
import { tooltipText } from './person.ts';
import { acceptPlace } from './results.ts';
import { call, GATEWAY, lastCall, open, row, SECRET, toolId, withWorks } from './works.ts';

let restore: () => Promise<void>;

const ICON = '.activitybar .action-item:has(a[aria-label^="Waygate"])';
const MESSAGE = '.pane:has(.pane-header[aria-label^="Activity Section"]) .tree-explorer-viewlet-tree-view .message';

/** Presses a button in the title of the view, which is visible while the pointer is on it. */
async function pressInTitle(button: string): Promise<void> {
  const header = '.pane-header[aria-label^="Activity Section"]';
  await driver.hover(header);
  await driver.click(`${header} .action-label[aria-label="${button}"]`);
}

describe('Activity', () => {
  before(async () => {
    restore = await withWorks();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('waygate.activity.focus');
  });

  after(() => restore?.());

  it('lists calls as they happen, and the keyboard alone opens the fault of one', async () => {
    assert.match(await call('echo', { text: 'hello' }), /hello/);
    await row('echo', ({ description }) => /^works · [\d.]+ m?s · \d+ → \d+ tokens$/.test(description));
    await call('crash');
    await row('crash', ({ description }) => /^works · [A-Z_]+ · /.test(description));
    await driver.screenshot('activity');
    await vscode.commands.executeCommand('waygate.activity.focus');
    await driver.press('Home');
    await driver.press('ArrowDown');
    await driver.press('Enter');
    const editor = await eventually(
      'the fault',
      () => vscode.window.activeTextEditor,
      (seen) => seen?.document.uri.path.endsWith('/fault.md') === true,
    );
    const text = editor?.document.getText() ?? '';
    assert.match(text, /^# `crash` failed/);
    assert.match(text, /## What is known of the effect\n\n\*\*Unknown: check before you repeat\.\*\*/);
    assert.match(text, /e{99}/, 'stderr of that moment');
    await driver.waitFor('.codelens-decoration a:has-text("Try Again with These Arguments")');
    await driver.screenshot('fault');
    const labels = await driver.texts('.monaco-list-row[aria-label^="crash, works, failed, "]');
    assert.equal(labels.length, 1, 'the label for a screen reader');
  });

  it('opens the request as JSON and the answer as the model saw it, and typing changes nothing', async () => {
    const record = await lastCall('echo');
    const request = await open(callPlace(GATEWAY, record, 'request.json'));
    assert.equal(request.languageId, 'json');
    assert.deepEqual((JSON.parse(request.getText()) as { arguments: { args: unknown } }).arguments.args, {
      text: 'hello',
    });
    const before = request.getText();
    await driver.click('.editor-instance .view-lines');
    await driver.type('x');
    await driver.waitFor('.monaco-editor-overlaymessage:has-text("Save As")');
    assert.equal(request.getText(), before);
    assert.equal(request.isDirty, false);
    const answer = await open(callPlace(GATEWAY, record, 'answer.txt'));
    assert.equal(answer.getText(), 'ok · data from works\nhello\nend of data\n');
    const attempts = await open(callPlace(GATEWAY, record, 'attempts.md'));
    assert.match(attempts.getText(), /## Stages/);
  });

  it('copies, reveals and repeats a call from its row, and says why a browse found its tools', async () => {
    const id = toolId('echo');
    await call('echo', { text: 'once more' });
    await withControl((control) =>
      control.request('callTool', { name: 'tool_browse', args: { query: 'repeat a text' } }),
    );
    await row('tool_browse');
    const copied = (what: string, fits: (text: string) => boolean) =>
      eventually(what, () => vscode.env.clipboard.readText(), fits);
    await driver.chooseFromRowMenu('Activity', 'echo', 'Copy as Call');
    await copied('the call', (text) => text.includes(id) && text.includes('once more'));
    await driver.chooseFromRowMenu('Activity', 'echo', 'Copy Tool Id');
    await copied('the id', (text) => text === id);
    await driver.chooseFromRowMenu('Activity', 'echo', 'Reveal in Tools');
    await eventually('the tools of the server', async () =>
      (await driver.rows('Tools')).some(({ label, expanded }) => label === 'works' && expanded === true),
    );
    await driver.chooseFromRowMenu('Activity', 'echo', 'Try Again with These Arguments…');
    const label = () => vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';
    await eventually('the form', label, (seen) => seen.includes('echo'));
    await driver.chooseFromRowMenu('Activity', 'tool_browse', 'Why These Tools');
    await eventually('the explanation', label, (seen) => /^Preview .*repeat a text/.test(seen));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('has every document of a call below its row, and its request under the pointer', async () => {
    await call('large', { lines: 2_000 });
    await driver.expand('Activity', 'large');
    const below = async (): Promise<string[]> => {
      const rows = await driver.rows('Activity');
      const at = rows.findIndex(({ label, expanded }) => label === 'large' && expanded === true);
      const after = rows.slice(at + 1);
      const end = after.findIndex(({ depth }) => depth < 3);
      return after.slice(0, end < 0 ? after.length : end).map(({ label }) => label);
    };
    const labels = await eventually('the documents', below, (seen) => seen.length === 4);
    assert.deepEqual(
      labels.map((label) => label.replace(/\d+ KB/, 'KB')),
      ['Request', 'Answer as the model saw it', 'Result (text, KB)', 'Attempts'],
    );
    await driver.clickRow('Activity', labels[2] ?? '');
    const document = await eventually(
      'the result',
      () => vscode.window.activeTextEditor?.document,
      (seen) => seen?.uri.path.startsWith('/results/') === true,
    );
    assert.equal(document?.lineCount, 2_000);
    const called = '.pane:has(.pane-header[aria-label^="Activity Section"]) .monaco-list-row:has-text("large")';
    assert.match(await tooltipText(called, 'large: ok'), /\{"lines":2000\}/);
    await driver.screenshot('activity-tooltip');
    await driver.chooseFromRowMenu('Activity', 'large', 'Open Dashboard');
    await eventually(
      'the dashboard',
      () => driver.frameText().catch(() => ''),
      (seen) => seen.includes('Calls a minute'),
    );
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('forgets a call from its row and above its request, with its values in the worker and its documents', async () => {
    const details = ({ id }: CallRecord) => withControl((control) => control.request('call', { id }));
    const isOpen = ({ path }: { path: string }) =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .some(({ input }) => input instanceof vscode.TabInputText && input.uri.path === path);
    for (const from of ['its row', 'its request']) {
      await call('environment', { names: ['NOTHING'] });
      const record = await lastCall('environment');
      assert.match(JSON.stringify(await details(record)), /NOTHING/);
      const place = callPlace(GATEWAY, record, 'request.json');
      await open(place);
      await driver.waitFor('.codelens-decoration a:has-text("Forget Call")');
      if (from === 'its row') await driver.chooseFromRowMenu('Activity', 'environment', 'Forget Call');
      else await driver.click('.codelens-decoration a:has-text("Forget Call")');
      await eventually('the row to go', async () =>
        (await driver.rows('Activity')).every(({ label }) => label !== 'environment'),
      );
      assert.equal(await details(record), null);
      await eventually('its document to close', () => !isOpen(place));
    }
  });

  it('shows only the calls that a filter names, and all of them without it', async () => {
    await call('echo', { text: 'one of two' });
    await call('fails');
    await row('fails');
    const labels = async () =>
      (await driver.rows('Activity')).filter(({ depth }) => depth === 2).map(({ label }) => label);
    const all = await labels();
    await pressInTitle('Filter Calls…');
    await driver.waitFor('.quick-input-title:has-text("Show Only These Calls")');
    await driver.screenshot('filter-calls');
    await driver.click('.quick-input-list .monaco-list-row:has-text("fails")');
    await driver.press('Enter');
    await eventually('its rows alone', labels, (seen) => seen.length > 0 && seen.every((label) => label === 'fails'));
    assert.deepEqual(await driver.texts(MESSAGE), [`1 of ${all.length} calls: tool fails`]);
    // A call that does not fit is counted, and not listed.
    await call('echo', { text: 'unseen' });
    await eventually('the message', async () =>
      (await driver.texts(MESSAGE))[0]?.startsWith(`1 of ${all.length + 1} `),
    );
    assert.deepEqual(await labels(), ['fails']);
    await pressInTitle('Clear Filter');
    await eventually('all rows', labels, (seen) => seen.length === all.length + 1);
    assert.deepEqual(await driver.texts(MESSAGE), []);
  });

  it('counts failed calls on the icon until the view is seen, and clears all calls that have ended', async () => {
    const badge = (): Promise<string[]> => driver.texts(`${ICON} .badge-content`);
    const before = Number((await badge())[0] ?? 0);
    const notifications = await driver.notifications();
    await vscode.commands.executeCommand('workbench.view.explorer');
    await call('fails');
    await call('fails');
    await call('echo', { text: 'not counted' });
    await eventually('the number', badge, ([seen]) => Number(seen) === before + 2);
    await driver.waitFor(`${ICON} a[aria-label*="2 calls failed"]`);
    assert.deepEqual(await driver.notifications(), notifications, 'a failed call interrupts nobody');
    await vscode.commands.executeCommand('waygate.activity.focus');
    await eventually('the number before', badge, ([seen]) => Number(seen ?? 0) === before);
    await pressInTitle('Clear Calls');
    await eventually('no rows', async () => (await driver.rows('Activity')).length === 0);
    assert.deepEqual(await driver.texts(MESSAGE), ['No calls yet. They appear here as agents make them.']);
    assert.deepEqual((await withControl((control) => control.request('calls', { limit: 9 }))).calls, []);
    await call('crash');
    await row('crash');
  });

  it('counts the seconds of a running call, and cancels it from its row', async () => {
    const waiting = call('wait', { ms: 60_000 });
    await vscode.commands.executeCommand('waygate.activity.focus');
    const seen = new Set<string>();
    await eventually(
      'the seconds to pass',
      async () => {
        const { description } = await row('wait', (one) => /^works · running · \d+ s$/.test(one.description));
        return seen.add(description);
      },
      ({ size }) => size >= 3,
    );
    await driver.clickRowAction('Activity', 'wait', 'Cancel Call');
    await waiting;
    await row('wait', ({ description }) => /CANCELLED/.test(description));
  });

  it('keeps the focus and the selection while calls come in', async () => {
    await vscode.commands.executeCommand('waygate.activity.focus');
    await driver.clickRow('Activity', 'crash');
    await vscode.commands.executeCommand('waygate.activity.focus');
    const selected = '.pane-body .monaco-list-row.selected .label-name';
    assert.deepEqual(await driver.texts(selected), ['crash']);
    await withControl((control) =>
      Promise.all(
        Array.from({ length: 100 }, () => control.request('callTool', { name: 'tool_browse', args: { path: '/' } })),
      ),
    );
    await row('tool_browse');
    // The new rows are above, and only visible rows are drawn: a move of the focus brings its row into sight.
    await driver.press('ArrowDown');
    await driver.press('ArrowUp');
    await eventually(
      'the selected row',
      () => driver.texts(selected),
      (seen) => seen.includes('crash'),
    );
  });

  it('exports the calls as JSON, with arguments and without secrets', async () => {
    await call('echo', { text: `exported, with the token ${SECRET}` });
    await lastCall('echo');
    const exported = vscode.commands.executeCommand('waygate.exportCalls');
    const file = await acceptPlace('Export Calls', 'waygate-calls.json');
    await exported;
    const written = readFileSync(file, 'utf8');
    const { exportedAt, calls } = JSON.parse(written) as {
      exportedAt: string;
      calls: { record: CallRecord; arguments?: { args?: { text?: string } } }[];
    };
    assert.ok(Date.parse(exportedAt) > 0);
    assert.deepEqual([calls[0]?.record.toolId, calls[0]?.record.outcome], [toolId('echo'), 'ok']);
    assert.match(calls[0]?.arguments?.args?.text ?? '', /^exported, with the token /);
    assert.ok(calls.some(({ record }) => record.toolId === toolId('crash')));
    assert.ok(!written.includes(SECRET));
    rmSync(file);
  });

  it('never shows a known secret', async () => {
    await call('echo', { text: `the token is ${SECRET}` });
    await call('environment', { names: ['WORKS_TOKEN'] }, { render: 'json' });
    const records = [await lastCall('echo'), await lastCall('environment')];
    const places = records.flatMap((record) => [
      ...(['request.json', 'answer.txt', 'fault.md', 'attempts.md'] as const).map((part) =>
        callPlace(GATEWAY, record, part),
      ),
      ...record.handles.map((handle) => resultPlace(GATEWAY, { handle, extension: 'txt' })),
    ]);
    assert.ok(places.length > 8);
    for (const place of [...places, logPlace(GATEWAY, 'works')]) {
      const bytes = await vscode.workspace.fs.readFile(vscode.Uri.from(place));
      assert.ok(!Buffer.from(bytes).toString().includes(SECRET), place.path);
    }
  });

  it('keeps the rows of a killed worker, and marks what ran as lost', async () => {
    await vscode.commands.executeCommand('waygate.activity.focus');
    // Only visible rows are drawn.
    await driver.press('Home');
    const waiting = call('wait', { ms: 60_000 }).catch(() => undefined);
    await row('wait', ({ description }) => /running/.test(description));
    const { worker } = await gatewayStatus();
    process.kill(worker.pid, 'SIGKILL');
    await row('wait', ({ description }) => description === 'works · lost');
    await row('environment');
    await waiting;
    await driver.clickRow('Activity', 'wait');
    const editor = await eventually(
      'the fault',
      () => vscode.window.activeTextEditor,
      (seen) => seen?.document.getText().startsWith('# `wait` was lost') === true,
    );
    assert.match(editor?.document.getText() ?? '', /Unknown: check before you repeat/);
    await driver.screenshot('lost-call');
  });
});
