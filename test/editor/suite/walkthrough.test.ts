import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, OUR_TOOLS, startedTools } from './agent.ts';
import { approveAll } from './person.ts';

const STEP = '.getting-started-step';

/** The first steps of a new user. */
describe('Walkthrough', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await approveAll();
    await startedTools(OUR_TOOLS.length);
  });

  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('has four steps, which are complete when the user has done them', async () => {
    await invoke('tool_browse', { path: '/' });
    const titles = await eventually(
      'the steps',
      async () => {
        // VS Code learns of walkthroughs some seconds after its start, and shows another until then.
        await vscode.commands.executeCommand('workbench.action.closeAllEditors');
        await vscode.commands.executeCommand('waygate.getStarted');
        await driver.waitFor(STEP);
        return driver.texts(`${STEP} .step-title`);
      },
      (seen) => seen.length === 4,
    );
    assert.deepEqual(titles, ['Import your MCP servers', 'Approve what may run', 'Ask the agent', 'Read a result']);
    await eventually(
      'the steps that are done',
      async () => (await driver.texts(`${STEP}:has(.complete) .step-title`)).join(),
      (done) => done.startsWith('Import your MCP servers,Approve what may run,Ask the agent'),
    );
    await driver.screenshot('walkthrough');
    await vscode.window.showTextDocument(vscode.Uri.parse('waygate://none/calls/1-1/answer.txt'));
    await vscode.commands.executeCommand('waygate.getStarted');
    await eventually(
      'the last step',
      async () => (await driver.texts(`${STEP}:has(.complete) .step-title`)).length === 4,
    );
  });
});
