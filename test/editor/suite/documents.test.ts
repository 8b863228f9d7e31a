import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { callPlace, logPlace, resultPlace, toolPlace } from '../../../src/extension/documents/addresses.ts';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, startedTools } from './agent.ts';
import { approveAll, configure } from './person.ts';
import { acceptPlace, keep } from './results.ts';
import { call, GATEWAY, lastCall, open, row, toolId, withWorks, works } from './works.ts';

const LARGE_LINES = 570_000;

const tabInput = (): unknown => vscode.window.tabGroups.activeTabGroup.activeTab?.input;
const tabLabel = (): string => vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '';

const button = (title: string): string => `.codelens-decoration a:has-text("${title}")`;

/** Documents of calls, results, definitions and logs, and the buttons above them. */
describe('Documents', () => {
  let restore: () => Promise<void>;

  before(async () => {
    restore = await withWorks();
    await startedTools(3);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('waygate.activity.focus');
  });

  after(() => restore?.());

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

  it('opens definitions and logs, and a log follows what its server writes', async () => {
    await call('echo', { text: 'awake' });
    const tool = await open(toolPlace(GATEWAY, toolId('echo')));
    assert.equal((JSON.parse(tool.getText()) as { name: string }).name, 'echo');
    const unchanged = await open(toolPlace(GATEWAY, toolId('echo'), 'before'));
    assert.match(unchanged.getText(), /has not changed/);
    const log = await open(logPlace(GATEWAY, 'works'));
    assert.match(log.getText(), /^e{99}$/m);
    assert.equal(log.languageId, 'log');
    for (const say of ['first words', 'more words']) {
      await call('fails', { say });
      await eventually('the new line', () => log.getText().trimEnd().endsWith(`\n${say}`));
    }
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
    await driver.waitFor(button('Next part'));
    await driver.screenshot('large-result');
    await driver.click(button('Next part'));
    const next = await eventually(
      'the next part',
      () => vscode.window.activeTextEditor?.document.getText() ?? '',
      (seen) => seen.startsWith('line ') && !seen.startsWith('line 0: '),
    );
    const lastOfHead = Number(/line (\d+): x+\n$/.exec(text)?.[1]);
    assert.ok(next.startsWith(`line ${lastOfHead + 1}: `), 'goes on where the head ends');
    await driver.click(button('Copy Handle'));
    await eventually('the handle', async () => (await vscode.env.clipboard.readText()) === handle);
    await driver.click(button('Last part'));
    await eventually(
      'the last part',
      () => vscode.window.activeTextEditor?.document.getText() ?? '',
      (seen) => seen.includes(`line ${LARGE_LINES - 1}: `) && seen.startsWith('line '),
    );
    await driver.click(button('Find in all of it'));
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
    await driver.fillInFrame('#contains', 'name 79');
    await eventually('the rows that contain it', driver.frameText, (seen) => seen.includes('rows 1 to 11 of 11'));
  });

  it('filters a result by its columns, and copies the call that reads it', async () => {
    const rows = Array.from({ length: 900 }, (_, i) => `${i},name ${i},${i % 7}`);
    await call('echo', { text: ['id,name,kind', ...rows].join('\n') });
    const [handle = ''] = (await lastCall('echo')).handles;
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    await driver.waitFor(button('Copy tool_view call'));
    await driver.click(button('Copy tool_view call'));
    const copied = await eventually(
      'the call',
      () => vscode.env.clipboard.readText(),
      (text) => text.includes(handle),
    );
    assert.match(copied, /^tool_view \{/);
    const args = JSON.parse(copied.slice('tool_view '.length)) as object;
    assert.match(await invoke('tool_view', args), /name 0/);
    await driver.click(button('View as Table'));
    await eventually(
      'the table',
      () => driver.frameText().catch(() => ''),
      (seen) => seen.includes('of 900'),
    );
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    await driver.waitFor(button('Save As…'));
    await driver.click(button('Save As…'));
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("Save Result")');
    await driver.press('Escape');
    await driver.click(button('Filter…'));
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("Filter the Result")');
    await driver.type('kind, name');
    await driver.press('Enter');
    const found = await eventually(
      'the columns',
      () => vscode.window.activeTextEditor?.document,
      (seen) => seen?.uri.path.startsWith('/found/') === true && seen.getText().includes('name 5'),
    );
    assert.ok(!found?.getText().includes('id'), found?.getText().slice(0, 200));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
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
    await driver.waitFor(button('Save As…'));
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

  it('leads from a fault to the form, the log, the approval and the secret that a call needs', async () => {
    const press = async (title: string): Promise<void> => {
      const record = await lastCall('echo');
      await open(callPlace(GATEWAY, record, 'fault.md'));
      await driver.waitFor(button(title));
      await driver.click(button(title));
    };
    const entry = works();
    const undo = await configure(({ servers }) => {
      servers.works = { ...entry, env: { ...entry.env, NEEDED: '${secret:NEEDED_BY_WORKS}' } };
    });
    await vscode.commands.executeCommand('waygate.activity.focus');
    await call('echo', { text: 'not yet' });
    await row('echo', ({ description }) => /PERMISSION_DENIED/.test(description));
    await press('Approve…');
    await eventually('what would run', () =>
      vscode.window.activeTextEditor?.document.uri.path.includes('What Waygate would run'),
    );
    await press('Try Again with These Arguments…');
    await eventually('the form', tabLabel, (seen) => seen.includes('echo'));
    await eventually('its arguments', driver.frameHtml, (seen) => seen.includes('not yet'));
    await press('Show Server Log');
    await eventually('the log', () => vscode.window.activeTextEditor?.document.uri.path === '/logs/works.log');
    await open(callPlace(GATEWAY, await lastCall('echo'), 'fault.md'));
    await driver.waitFor(button('Approve…'));
    await approveAll();
    // The open document follows what its server needs.
    await driver.waitFor(button('Set Secret…'));
    assert.deepEqual(await driver.texts(button('Approve…')), []);
    await driver.click(button('Set Secret…'));
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("NEEDED_BY_WORKS")');
    await driver.press('Escape');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await undo();
    await approveAll();
  });
});
