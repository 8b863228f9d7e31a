import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import type { CallRecord } from '../../../src/control/activityContract.ts';
import { callPlace, logPlace, resultPlace, toolPlace } from '../../../src/extension/documents/addresses.ts';
import { driver, eventually } from '../harness/driver.ts';
import { gatewayStatus, withControl } from './gateway.ts';
import { acceptPlace, keep } from './results.ts';
import { call, GATEWAY, lastCall, open, row, SECRET, toolId, withWorks } from './works.ts';

const LARGE_LINES = 570_000;

let restore: () => Promise<void>;

const tabInput = (): unknown => vscode.window.tabGroups.activeTabGroup.activeTab?.input;

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

  it('opens a picture as a picture, and says in words that a result is no longer kept', async () => {
    await call('picture', {}, { render: 'json' });
    const { handles } = await lastCall('picture');
    const handle = handles.find((one) => one.includes('image')) ?? handles[0];
    assert.ok(handle, JSON.stringify(handles));
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    await eventually(
      'the picture',
      tabInput,
      (input) => input instanceof vscode.TabInputCustom && input.viewType === 'imagePreview.previewEditor',
    );
    await driver.screenshot('picture');
    const gone = await open(
      resultPlace(GATEWAY, { handle: 'text:works:echo#00000000:0000000000000000', extension: 'txt' }),
    );
    assert.match(gone.getText(), /no longer kept/);
    const forgotten = await open(callPlace(GATEWAY, { run: 1, id: 1 }, 'request.json'));
    assert.match(forgotten.getText(), /"unavailable": "This call is no longer kept/);
  });

  it('opens definitions and logs', async () => {
    const tool = await open(toolPlace(GATEWAY, toolId('echo')));
    assert.equal((JSON.parse(tool.getText()) as { name: string }).name, 'echo');
    const unchanged = await open(toolPlace(GATEWAY, toolId('echo'), 'before'));
    assert.match(unchanged.getText(), /has not changed/);
    const log = await open(logPlace(GATEWAY, 'works'));
    assert.match(log.getText(), /^e{99}$/m);
    assert.equal(log.languageId, 'log');
  });

  it('opens the head of a result of 40 MB at once, its next and its last part, and finds in all of it', async () => {
    const lines = `Array.from({ length: ${LARGE_LINES} }, (_, i) => 'line ' + i + ': ' + 'x'.repeat(60))`;
    const handle = keep('large', `textContent(${lines}.join('\\n'))`, 'text/plain');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const before = process.memoryUsage().rss;
    const startedAt = performance.now();
    const head = resultPlace(GATEWAY, { handle, extension: 'txt' });
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    const editor = await eventually(
      'the head',
      () => vscode.window.activeTextEditor,
      (seen) => seen?.document.uri.path === head.path && seen.document.lineCount > 1_000,
    );
    const tookMs = performance.now() - startedAt;
    const grown = (process.memoryUsage().rss - before) / 1_048_576;
    await driver.log(`the head of 40 MB opened in ${tookMs.toFixed(0)} ms, extension host RSS +${grown.toFixed(1)} MB`);
    const text = editor?.document.getText() ?? '';
    assert.ok(text.length <= 1_048_576 && text.startsWith('line 0: '));
    assert.ok(text.endsWith('x\n'), 'cut at a line');
    await driver.waitFor('.codelens-decoration a:has-text("Next part")');
    await driver.screenshot('large-result');
    await driver.click('.codelens-decoration a:has-text("Last part")');
    await eventually(
      'the last part',
      () => vscode.window.activeTextEditor?.document.getText() ?? '',
      (seen) => seen.includes(`line ${LARGE_LINES - 1}: `) && seen.startsWith('line '),
    );
    await driver.click('.codelens-decoration a:has-text("Find in all of it")');
    await driver.waitFor('.quick-input-widget .quick-input-box input');
    await driver.type('line 49999\\d:');
    await driver.press('Enter');
    const found = await eventually(
      'the lines',
      () => vscode.window.activeTextEditor?.document,
      (seen) => seen?.uri.path.startsWith('/found/') === true,
    );
    assert.match(found?.getText() ?? '', /line 499995: /);
  });

  it('shows a table, whose rows the worker sorts and filters', async () => {
    const rows = Array.from({ length: 800 }, (_, i) => `${i},name ${i},${(i * 7) % 800}`);
    await call('echo', { text: ['id,name,amount', ...rows].join('\n') });
    const [handle = ''] = (await lastCall('echo')).handles;
    assert.notEqual(handle, '');
    await vscode.commands.executeCommand('waygate.viewTable', { folder: GATEWAY, handle });
    await eventually('the first page', driver.frameText, (seen) => seen.includes('rows 1 to 100 of 800'));
    await driver.screenshot('table');
    await driver.clickInFrame('#sort-2');
    await eventually('the order', driver.frameText, (seen) => /1\s+0\s+name 0\s+0\s+2\s+343\s+name 343\s+1/.test(seen));
    await driver.clickInFrame('#last');
    await eventually('the last page', driver.frameText, (seen) => seen.includes('rows 701 to 800 of 800'));
  });

  it('saves a whole result at the place that the user accepts', async () => {
    const text = Array.from({ length: 4_000 }, (_, i) => `row ${i}`).join('\n');
    await call('echo', { text });
    const [handle = ''] = (await lastCall('echo')).handles;
    const saved = vscode.commands.executeCommand('waygate.saveResult', { folder: GATEWAY, handle });
    const file = await acceptPlace('Save Result', 'echo.txt');
    await driver.screenshot('save-result');
    await saved;
    assert.equal(readFileSync(file, 'utf8'), text);
    rmSync(file);
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

  it('shows other bytes as a hexdump where no hex editor is installed', async () => {
    const bytes = Buffer.from([0, 1, 2, 255, ...Buffer.from('Waygate')]);
    const handle = keep('bytes', `base64Content('${bytes.toString('base64')}')`, 'application/octet-stream');
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    const editor = await eventually(
      'the hexdump',
      () => vscode.window.activeTextEditor,
      (seen) => seen?.document.uri.path.endsWith('.hex') === true,
    );
    assert.match(editor?.document.getText() ?? '', /^00000000 {2}00 01 02 ff 57 61 79 67 61 74 65 +\.{4}Waygate$/m);
    await driver.waitFor('.codelens-decoration a:has-text("Save As…")');
  });

  it('lists results by their call, with the use of the bounds, and a row leads to its call', async () => {
    await vscode.commands.executeCommand('waygate.results.focus');
    const rows = await eventually(
      'the results',
      () => driver.rows('Results'),
      (seen) => seen.some(({ label }) => label === 'echo'),
    );
    assert.ok(
      rows.some(({ description }) => /^text · 13 KB · /.test(description)),
      JSON.stringify(rows),
    );
    await driver.screenshot('results');
    await driver.chooseFromRowMenu('Results', 'echo', 'Reveal Call');
    await eventually(
      'the row of the call',
      () => driver.texts('.monaco-list-row.selected .label-name'),
      (seen) => seen.includes('echo'),
    );
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
