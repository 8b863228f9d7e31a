import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { applyEdits, type EditResult, modify } from 'jsonc-parser';
import * as vscode from 'vscode';
import { AuthorizationServer } from '../../support/authorizationServer.ts';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, startedTools, toolId } from './agent.ts';
import { configurationFile, fixture, gatewayStatus, settledGateway } from './gateway.ts';
import { approveAll, toolsRow } from './person.ts';
import { startProgram } from './program.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const SECRET = 'EDITOR_TOKEN';

/** waygate.json in an editor of the window: what it shows, and what its buttons write. */
describe('Configuration file', () => {
  let original: string;
  let document: vscode.TextDocument;

  before(async () => {
    await approveAll();
    await startedTools(3);
    original = readFileSync(configurationFile(), 'utf8');
    await open();
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    writeFileSync(configurationFile(), original);
    await vscode.commands.executeCommand('waygate.refresh');
  });

  async function open(): Promise<void> {
    document = await vscode.workspace.openTextDocument(configurationFile());
    await vscode.window.showTextDocument(document);
  }

  /** Replaces the whole text and saves it, as a user would. */
  async function write(text: string): Promise<void> {
    await open();
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    assert.ok(await vscode.workspace.applyEdit(edit));
    await document.save();
    await eventually('the file to be saved', () => !document.isDirty);
    await vscode.commands.executeCommand('waygate.refresh');
    await settledGateway();
  }

  /** Sets a value in the original text. */
  function withValue(path: (string | number)[], value: unknown, text = original): string {
    const edits = modify(text, path, value, { formattingOptions: { insertSpaces: true, tabSize: 2 } });
    return applyEdits(text, edits as EditResult);
  }

  const at = (text: string, shift = 1): vscode.Position =>
    document.positionAt(document.getText().indexOf(text) + shift);
  const shownText = (range: vscode.Range): string => document.getText(range);

  async function problems(willDo: (seen: vscode.Diagnostic[]) => boolean): Promise<vscode.Diagnostic[]> {
    return eventually('the problems', () => vscode.languages.getDiagnostics(document.uri), willDo);
  }

  /** VS Code cancels a question during which another extension registers: it is asked again. */
  async function fixes(problem: vscode.Diagnostic, first: string): Promise<vscode.CodeAction[]> {
    const { QuickFix } = vscode.CodeActionKind;
    const ask = (): Thenable<vscode.CodeAction[]> =>
      vscode.commands
        .executeCommand<vscode.CodeAction[]>(
          'vscode.executeCodeActionProvider',
          document.uri,
          problem.range,
          QuickFix.value,
        )
        .then(
          (seen) => seen,
          () => [],
        );
    return eventually(`${first} for ${problem.message}`, ask, (seen) => seen.some(({ title }) => title === first));
  }

  async function fix(problem: vscode.Diagnostic, title: string): Promise<vscode.CodeAction> {
    const action = (await fixes(problem, title)).find((one) => one.title === title);
    assert.ok(action);
    return action;
  }

  async function run({ command }: vscode.CodeAction | vscode.CodeLens): Promise<void> {
    assert.ok(command);
    await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
  }

  async function hover(position: vscode.Position): Promise<string> {
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      document.uri,
      position,
    );
    const texts = hovers.flatMap(({ contents }) => contents as vscode.MarkdownString[]).map(({ value }) => value);
    return texts.join('\n').replaceAll('\\', '');
  }

  async function completions(position: vscode.Position): Promise<string[]> {
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      position,
    );
    return items.map(({ label }) => (typeof label === 'string' ? label : label.label));
  }

  async function lenses(): Promise<{ line: string; lens: vscode.CodeLens }[]> {
    const all = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
      100,
    );
    return all.map((lens) => ({ line: shownText(lens.range), lens }));
  }

  const titlesAbove = async (name: string): Promise<string[]> =>
    (await lenses()).filter(({ line }) => line === JSON.stringify(name)).map(({ lens }) => lens.command?.title ?? '');

  it('has one problem for each mistake, with the wrong word, a code that leads to its section, and the correction', async () => {
    let text = withValue(['servers', 'memory', 'agrs'], ['-y']);
    text = withValue(['servers', 'memory', 'tools'], { include: 'x' }, text);
    text = withValue(['policy'], { rules: [{ action: 'alow' }, { action: 'allow', server: 'memry' }] }, text);
    await write(text);
    const found = await problems((seen) => seen.length === 4);
    // Not more later on.
    await startedTools(3);
    assert.equal(vscode.languages.getDiagnostics(document.uri).length, 4);
    assert.deepEqual(found.map(({ range }) => shownText(range)).sort(), ['"agrs"', '"alow"', '"memry"', '"x"']);
    assert.deepEqual(new Set(found.map(({ source }) => source)), new Set(['Waygate']));
    const unknown = found.find(({ range }) => shownText(range) === '"agrs"') as vscode.Diagnostic;
    const { value, target } = unknown.code as { value: string; target: vscode.Uri };
    assert.equal(value, 'unknown_key');
    const page = await vscode.workspace.openTextDocument(target.with({ fragment: '' }));
    assert.equal(page.lineAt(Number(target.fragment.slice(1)) - 1).text, '## unknown_key');
    await driver.screenshot('configuration-problems');
    for (const [wrong, right] of [
      ['agrs', 'args'],
      ['alow', 'allow'],
      ['memry', 'memory'],
    ]) {
      const problem = found.find(({ range }) => shownText(range) === `"${wrong}"`);
      assert.ok(problem);
      const rename = await fix(problem, `Change to "${right}"`);
      assert.ok(rename.edit && rename.isPreferred);
      assert.ok(await vscode.workspace.applyEdit(rename.edit));
    }
    assert.match(document.getText(), /"args": \[\s*"-y"\s*\]/);
    assert.match(document.getText(), /"action": "allow"[\s\S]*"server": "memory"/);
    await document.save();
    await problems((seen) => seen.every(({ range }) => !['"agrs"', '"alow"', '"memry"'].includes(shownText(range))));
  });

  it('shows an error of syntax once, and lets the lines above servers go after two seconds', async () => {
    await write(original);
    await eventually('the lines', lenses, (seen) => seen.length > 0);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(1, 0), '!');
    await vscode.workspace.applyEdit(edit);
    assert.ok((await lenses()).length > 0, 'while the user types');
    await eventually('no lines', lenses, (seen) => seen.length === 0);
    await document.save();
    // VS Code marks it at once; ours came with the saved file.
    await vscode.commands.executeCommand('waygate.refresh');
    const found = await problems((seen) => seen.length > 0);
    assert.ok(found.every(({ source }) => source !== 'Waygate'));
    await write(original);
    await problems((seen) => seen.length === 0);
  });

  it('moves a literal secret into the store, under a name that the user chooses, and undoes that as a whole', async () => {
    await write(withValue(['servers', 'memory', 'env'], { EDITOR_TOKEN: TOKEN }));
    const before = document.getText();
    const [problem] = await problems((seen) => seen.some(({ range }) => shownText(range) === `"${TOKEN}"`));
    assert.ok(problem);
    const moving = run(await fix(problem, `Use \${secret:…}…`));
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("Name of the Secret")');
    await driver.screenshot('configuration-secret');
    await driver.press('Enter');
    await moving;
    assert.match(document.getText(), new RegExp(`"EDITOR_TOKEN": "\\$\\{secret:${SECRET}\\}"`));
    await eventually('the file to be saved', () => !document.isDirty);
    await problems((seen) => seen.every(({ range }) => shownText(range) !== `"${TOKEN}"`));
    assert.match(await hover(at(`secret:${SECRET}`)), /The secret \*\*EDITOR_TOKEN\*\* is set\./);
    assert.deepEqual(
      (await completions(at(`secret:${SECRET}`, 7))).filter((one) => one === SECRET),
      [SECRET],
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), before);
  });

  it('says of a secret that it is not set, and sets it', async () => {
    await write(withValue(['servers', 'memory', 'env'], { A: `\${secret:NOT_SET}` }));
    const text = await hover(at('secret:NOT_SET'));
    assert.match(text, /is not set/);
    assert.match(text, /\[Set Secret…\]\(command:waygate\.keepSecret\?/);
  });

  it('shows above each server how it is, beside its buttons, and above a new one that it is not read yet', async () => {
    await write(original);
    await invoke('tool_execute', { tool_id: await toolId('/memory/read-graph'), args: {} });
    const titles = await eventually(
      'the line above memory',
      () => titlesAbove('memory'),
      ([summary]) => /^\$\(pass\)\u00a0ready · \d+ tools · \d+\.\d+k tokens$/.test(summary ?? ''),
    );
    assert.deepEqual(titles.slice(1), ['Restart', 'Log']);
    await driver.screenshot('configuration-lenses');
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, at('"memory"', 0), '"new \\"one\\"": { "command": "node" }, ');
    await vscode.workspace.applyEdit(edit);
    assert.deepEqual(await titlesAbove('new "one"'), ['not read yet: save']);
    assert.deepEqual((await titlesAbove('memory')).length, 3);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.window.showTextDocument(document);
    await driver.click('.codelens-decoration a:has-text("tools")');
    await driver.waitFor('.pane:has(h3:text-is("Tools")) .monaco-list-row.selected');
  });

  it('describes the server under the pointer, with its last call', async () => {
    const text = await hover(at('"memory"'));
    assert.match(text, /\*\*memory\*\*: ready · \d+ tools/);
    assert.match(text, /In this state for \d+ s\./);
    assert.match(text, /Last call: memory:\S+ succeeded after [\d.]+ m?s, \d+ s ago\./);
    assert.match(text, /\[Restart\]\(command:waygate\.restartServer\?/);
  });

  it('says what is left of a limit, and adds limits where there are none', async () => {
    await vscode.commands.executeCommand('waygate.addLimits');
    await open();
    assert.ok(document.isDirty, 'the example is not in force yet');
    assert.equal(shownText(vscode.window.activeTextEditor?.selection ?? new vscode.Range(0, 0, 0, 0)), '60');
    await document.save();
    await settledGateway();
    await invoke('tool_execute', { tool_id: await toolId('/memory/read-graph'), args: {} });
    const text = await eventually(
      'what is left',
      () => hover(at('"maxCallsPerMinute"')),
      (seen) => / of 60 calls left/.test(seen),
    );
    assert.match(text, /\d+ of 60 calls left in this minute/);
    const tool = await toolId('/memory/read-graph');
    await write(withValue(['rateLimits', 'perTool'], {}, document.getText()));
    assert.ok((await completions(at('"perTool": {', 12))).includes(tool));
    await write(withValue(['policy'], { rules: [{ action: 'allow', server: '' }] }));
    assert.ok((await completions(at('"server": ""', 11))).includes('memory'));
    await write(original);
  });

  it('approves, sets a secret and signs in by the correction at the server that waits for it', async () => {
    const issuer = await AuthorizationServer.start();
    const says = JSON.stringify({ resource: '{here}/mcp', authorization_servers: [issuer.issuer] });
    const program = await startProgram('httpServer.mjs', '--issuer', issuer.issuer, '--says', says);
    const env = { KEY: '${secret:KEY_OF_KEYED}' };
    const keyed = { command: 'node', args: [fixture('server.mjs'), '--tools', '7'], env };
    const guarded = { url: `http://127.0.0.1:${program.port}/mcp` };
    await write(withValue(['servers', 'guarded'], guarded, withValue(['servers', 'keyed'], keyed)));
    const waiting = async (name: string, words: string): Promise<vscode.Diagnostic> => {
      const fits = ({ range, message }: vscode.Diagnostic): boolean =>
        shownText(range) === JSON.stringify(name) && message.includes(words);
      const found = (await problems((seen) => seen.some(fits))).filter(fits);
      assert.equal(found.length, 1);
      return found[0] as vscode.Diagnostic;
    };
    for (const name of ['keyed', 'guarded']) {
      await run(await fix(await waiting(name, 'waits for your approval'), 'Approve…'));
      await driver.waitFor(`.codelens-decoration a:has-text('Approve "${name}"')`);
      await driver.click(`.codelens-decoration a:has-text('Approve "${name}"')`);
      await open();
    }
    const setting = run(await fix(await waiting('keyed', 'needs the secret "KEY_OF_KEYED"'), 'Set Secret…'));
    await driver.waitFor('.quick-input-widget .quick-input-box input[type="password"]');
    await driver.type('a value for the key');
    await driver.press('Enter');
    await setting;
    await run(await fix(await waiting('guarded', 'needs you to sign in'), 'Sign In'));
    await problems((seen) => seen.length === 0);
    assert.deepEqual(
      (await gatewayStatus()).servers.flatMap(({ name, state }) => (name in { keyed, guarded } ? [state] : [])),
      ['ready', 'ready'],
    );
    // No other test finds the tokens.
    await vscode.commands.executeCommand('waygate.signOut', { kind: 'server', server: { name: 'guarded' } });
    await waiting('guarded', 'needs you to sign in');
    await write(original);
    program.end();
    issuer.close();
    await driver.closeBrowserPages();
  });

  it('marks a failed server once, with its last lines on stderr, and switches it off', async () => {
    const failing = { command: 'node', args: [fixture('server.mjs'), '--say-and-exit', 'out of luck'] };
    await write(withValue(['servers', 'failing'], failing));
    const [waiting] = await problems((seen) => seen.some(({ message }) => message.includes('waits for your approval')));
    assert.ok(waiting);
    assert.equal(waiting.severity, vscode.DiagnosticSeverity.Information);
    assert.deepEqual(
      (await fixes(waiting, 'Approve…')).map(({ title }) => title).filter((title) => !/^(Fix|Explain)$/.test(title)),
      ['Approve…', 'Log', 'Switch Off'],
    );
    await approveAll();
    await toolsRow('failing', ({ description }) => description.startsWith('failed'));
    await open();
    // The last lines arrive with the end of the process.
    const [failed, ...more] = await problems((seen) => seen.some((one) => (one.relatedInformation ?? []).length > 0));
    assert.deepEqual(more, []);
    assert.equal(failed?.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(shownText(failed.range), '"failing"');
    assert.deepEqual(
      failed.relatedInformation?.map(({ message, location }) => [message, location.uri.scheme]),
      [['out of luck', 'waygate']],
    );
    await driver.screenshot('configuration-failed');
    const before = document.getText();
    await run(await fix(failed, 'Switch Off'));
    assert.match(document.getText(), /"disabled": true/);
    await problems((seen) => seen.length === 0);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), before);
  });
});
