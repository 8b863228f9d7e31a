import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { call, OUR_TOOLS, startedTools } from './agent.ts';
import { scratchFolder } from './disk.ts';
import { EXTENSION_ID, fixture } from './gateway.ts';
import { approveAll, configure } from './person.ts';

const RESOURCE = 'file:///shared/readme.md';
const PICKS = '.quick-input-list .monaco-list-row';
const CHAT = '.interactive-input-part';

/** Address of a server's resource in VS Code: its own name for the server in hex, `dylo78gyp` for no authority. */
const AS_A_FILE = vscode.Uri.from({
  scheme: 'mcp-resource',
  authority: Buffer.from(`${EXTENSION_ID}/Waygate`).toString('hex'),
  path: '/file/dylo78gyp/shared/readme.md',
});

/** Opens VS Code's list of resources, once Waygate's server runs there, and chooses from it. */
async function chooseResource(words: string, row: string): Promise<void> {
  await eventually('the resources', async () => {
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await startedTools(OUR_TOOLS.length);
    void vscode.commands.executeCommand('workbench.mcp.browseResources');
    return driver.waitFor(PICKS).then(
      () => true,
      () => false,
    );
  });
  await driver.type(words);
  await driver.click(`${PICKS}:has-text(${JSON.stringify(row)})`);
}

/** Resources and prompts of a server behind the gateway, where VS Code shows those of its own servers. */
describe('Resources and prompts', () => {
  let restore: () => Promise<void>;
  const log = (): string => join(scratchFolder(), 'library.log');

  before(async () => {
    restore = await configure(({ servers }) => {
      const args = [fixture('primitivesServer.mjs'), '--name', 'library', '--log', log()];
      servers.library = { command: 'node', args };
    });
    await approveAll();
    await startedTools(OUR_TOOLS.length);
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.chat.newChat');
    await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore?.();
  });

  it('are browsed and opened: a resource is a document', async () => {
    await chooseResource('README', RESOURCE);
    const document = await eventually('the document', () => vscode.window.activeTextEditor?.document);
    assert.equal(document?.uri.toString(), AS_A_FILE.toString());
    assert.equal(document?.getText(), `${RESOURCE} of library`);
  });

  it('are read as files by other extensions', async () => {
    const bytes = await vscode.workspace.fs.readFile(AS_A_FILE);
    assert.equal(new TextDecoder().decode(bytes), `${RESOURCE} of library`);
  });

  it('follow their server: an open document is reread when its resource has changed', async () => {
    let times = 0;
    const shown = await eventually(
      'the new text',
      async () => {
        // VS Code rereads a resource at most every three seconds.
        times += 1;
        await call('/library/touch', { uri: RESOURCE, text: `Edition ${times}` });
        return vscode.window.activeTextEditor?.document.getText();
      },
      (text) => text?.startsWith('Edition ') === true,
    );
    assert.match(shown ?? '', /^Edition \d+$/);
    assert.ok(readFileSync(log(), 'utf8').includes(`resources/subscribe ${RESOURCE}\n`));
  });

  it('are completed with the server’s suggestions where a template has variables', async () => {
    await chooseResource('daily', 'daily log');
    await driver.waitFor('.quick-input-widget input[placeholder*="day" i], .quick-input-title:has-text("day")');
    await driver.type('monday');
    await driver.click(`${PICKS}:has-text("monday-library")`);
    await driver.screenshot('resource-template');
    await driver.type('error');
    await driver.click(`${PICKS}:has-text("error-library")`);
    const document = await eventually(
      'the document',
      () => vscode.window.activeTextEditor?.document,
      (seen) => seen?.uri.path.startsWith('/log/') === true,
    );
    assert.equal(document?.getText(), 'log://library/monday-library/error-library of library');
  });

  it('are slash commands of the chat, with arguments that the server completes', async () => {
    await vscode.commands.executeCommand('workbench.action.chat.open');
    await driver.click(`${CHAT} .monaco-editor`);
    await driver.type('/mcp.Waygate.gre');
    await driver.click('.suggest-widget .monaco-list-row:has-text("/mcp.Waygate.greet")');
    await driver.waitFor(PICKS);
    await driver.type('ada');
    await driver.click(`${PICKS}:has-text("ada-library")`);
    await driver.waitFor('.quick-input-widget :has-text("tone")');
    await driver.type('warm');
    await driver.click(`${PICKS}:has-text("warm-library")`);
    await eventually(
      'the prompt, as the server fills it in',
      // The lines break at the width of the box.
      async () => (await driver.texts(`${CHAT} .view-lines`)).join('').replaceAll(' ', ''),
      (text) => text.includes('greet:greetada-library,warm-library,sayslibrary'),
    );
    await driver.screenshot('prompt');
  });
});
