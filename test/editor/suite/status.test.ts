import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { LinkState } from '../../../src/extension/gateway/gatewayLink.ts';
import { summarize } from '../../../src/extension/status/health.ts';
import { journal } from '../../../src/extension/status/journal.ts';
import { statusBarModel } from '../../../src/extension/status/statusBarModel.ts';
import { rootElements, toolRow, tooltipOf, treeMessage } from '../../../src/extension/tree/toolRows.ts';
import { driver, eventually } from '../harness/driver.ts';
import { call, startedTools } from './agent.ts';
import { fixture, gatewayStatus, settledGateway } from './gateway.ts';
import { anotherWorker, approveAll, configure, toolsRow, tooltipText } from './person.ts';

const ROW = '.pane-body .monaco-list-row';
const MESSAGE = '.tree-explorer-viewlet-tree-view .message';
/** Command lines, which a user of the editor cannot run. */
const COMMAND_LINE = /waygate (approve|secret|login|reload|deny|trust)/;

/** Returns all texts of data. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** State of servers in the tree, the status bar, the log and the dashboard. */
describe('Status', () => {
  before(async () => {
    await approveAll();
    await vscode.commands.executeCommand('waygate.tools.focus');
    // Rows that do not fit are not drawn.
    await vscode.commands.executeCommand('workbench.actions.treeView.waygate.tools.collapseAll');
  });

  it('has one row per server in the order of the names at each moment of a start', async () => {
    const restore = await configure(({ servers }) => {
      for (let index = 0; index < 9; index++) {
        servers[`many${index}`] = { command: 'node', args: [fixture('server.mjs'), '--tools', String(index + 1)] };
      }
    });
    await approveAll();
    await settledGateway();
    const seen = new Set<string>();
    let isLooking = true;
    const looked = (async () => {
      while (isLooking) {
        const labels = (await driver.rows('Tools')).map(({ label }) => label);
        const expected = [...new Set(labels)].sort((a, b) => a.localeCompare(b, 'en'));
        if (JSON.stringify(labels) !== JSON.stringify(expected)) seen.add(labels.join());
      }
    })();
    await vscode.commands.executeCommand('waygate.tools.focus');
    await anotherWorker();
    await vscode.commands.executeCommand('waygate.refresh');
    await eventually(
      'all servers',
      () => driver.rows('Tools'),
      (rows) => rows.length === 12 && rows.every(({ description }) => /^\d+ tools?\b/.test(description)),
    );
    isLooking = false;
    await looked;
    assert.deepEqual([...seen], []);
    await restore();
  });

  it('shows the restarts of a server, when it starts again, and more under the pointer', async () => {
    const restore = await configure(({ servers }) => {
      servers.crashing = { command: 'node', args: ['-e', 'console.error("out of paper"); process.exit(3)'] };
    });
    await approveAll();
    await toolsRow('crashing', ({ description }) =>
      /^failed · \d+ restarts? · next try at \d\d:\d\d:\d\d: /.test(description),
    );
    await driver.screenshot('restarts');
    // The line above the rows says for some seconds what came of the refresh, and its end moves the rows.
    await eventually(
      'its end',
      () => driver.texts(MESSAGE),
      (texts) => !texts.some((text) => text.includes('changed')),
    );
    const tooltip = async (name: string): Promise<string> => {
      const text = await tooltipText(`${ROW}:has-text("${name}")`, `${name}: `);
      await driver.screenshot(`tooltip-${name}`);
      return text;
    };
    const place = /Configured in \S+waygate\.json, line \d+\./;
    const failed = await tooltip('crashing');
    for (const words of [/In this state since \d\d:\d\d:\d\d\./, place, /out of paper/]) assert.match(failed, words);
    const well = await tooltip('memory');
    for (const words of [/: ready /, /Calls itself memory-server \S+\d\./, place]) assert.match(well, words);
    await restore();
  });

  it('refreshes a server from its row, ends at once, and says what came of it', async () => {
    // The second and the third list of its tools take some time.
    const steps = [2, 3].map((nth) => ({ on: 'tools/list', nth, do: [{ delay: 3_000 }, 'reply'] }));
    const restore = await configure(({ servers }) => {
      const args = [fixture('faultServer.mjs'), '--script', JSON.stringify({ steps })];
      servers.slow = { command: 'node', args };
    });
    await approveAll();
    await toolsRow('slow', ({ description }) => /^2 tools\b/.test(description));
    await driver.clickRowAction('Tools', 'slow', 'Refresh');
    await driver.waitFor(`${ROW}:has-text("slow") .codicon-loading`);
    await driver.screenshot('refreshing');
    await eventually(
      'the result',
      () => driver.texts(MESSAGE),
      (texts) => texts.includes('slow: nothing changed.'),
    );
    await eventually(
      'the icon to stop',
      () => driver.texts(`${ROW}:has-text("slow") .codicon-loading`),
      (icons) => icons.length === 0,
    );
    await vscode.commands.executeCommand('waygate.refresh');
    await driver.waitFor(`${ROW}:has-text("slow") .codicon-loading`);
    await eventually(
      'the result for all',
      () => driver.texts(MESSAGE),
      (texts) => texts.some((text) => /\d servers?: nothing changed\.$/.test(text)),
    );
    await eventually(
      'the end of the result',
      () => driver.texts(MESSAGE),
      (texts) => !texts.some((text) => text.includes('nothing changed')),
    );
    await restore();
  });

  it('turns in the status bar while a call runs for a second or longer', async () => {
    await startedTools(3);
    const running = call('/everything/trigger-long-running-operation', { duration: 4, steps: 1 });
    await driver.waitFor('.statusbar-item:has-text("Waygate") .codicon-sync');
    await running;
    await driver.waitFor('.statusbar-item:has-text("Waygate") .codicon-pass');
  });

  it('names no command line in any text, whatever a server needs', async () => {
    const restore = await configure(({ servers }) => {
      servers.waiting = { command: 'node', args: [fixture('server.mjs')] };
      servers.keyed = { command: 'node', args: [fixture('server.mjs')], env: { KEY: '${secret:KEY}' } };
      servers.broken = { command: 'no-such-program' };
      servers.clear = {
        command: 'node',
        args: [fixture('server.mjs')],
        env: { API_TOKEN: 'ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2' },
      };
      servers.wrong = { command: 5 as unknown as string };
    });
    await vscode.commands.executeCommand('waygate.approveServers');
    for (const name of ['keyed', 'broken', 'clear']) {
      const button = `.codelens-decoration a:has-text('Approve "${name}"')`;
      await driver.click(button);
      // The document then shows the other servers.
      await eventually(
        'the button to go',
        () => driver.texts(button),
        (texts) => texts.length === 0,
      );
    }
    const reported = await eventually('each need', gatewayStatus, ({ servers }) => {
      const states = new Map(servers.map(({ name, state }) => [name, state]));
      return (
        [states.get('waiting'), states.get('keyed'), states.get('broken'), states.get('wrong')].join() ===
        'needs_approval,needs_secret,failed,failed'
      );
    });
    assert.ok(reported.configuration.problems.length > 0);
    // The command of a server is for the command line, which has the same report. What the window shows is read below.
    const snapshot = { ...reported, servers: reported.servers.map(({ command: _, ...shown }) => shown) };
    const link: LinkState = { kind: 'attached', attachment: 1, snapshot };
    const view = { link, policy: undefined };
    const elements = rootElements([], { attachment: 1, snapshot });
    const words = [
      snapshot,
      summarize(view),
      statusBarModel([{ name: 'waygate', title: 'workspace', view }]),
      journal({ kind: 'attaching' }, link),
      treeMessage(view, true),
      ...elements.flatMap((element) => [toolRow(element), tooltipOf(element)]),
      await driver.rows('Tools'),
      await driver.statusBar(),
      await driver.notifications(),
      vscode.languages.getDiagnostics().flatMap(([, problems]) => problems.map(({ message }) => message)),
    ].flatMap(textsIn);
    assert.deepEqual(
      words.filter((text) => COMMAND_LINE.test(text)),
      [],
    );
    assert.ok(words.some((text) => /\d need you/.test(text)));

    const tooltip = await tooltipText('.statusbar-item:has-text("Waygate")', 'Needs you');
    await driver.screenshot('status-tooltip');
    assert.match(tooltip, /Context: about [\d,]+ → [\d,]+ tokens a request/);
    assert.match(tooltip, /keyed needs a secret.* Set Secret…/);
    assert.doesNotMatch(tooltip, COMMAND_LINE);
    await driver.click('.monaco-hover a:has-text("Set Secret…")');
    await driver.waitFor('.quick-input-widget .quick-input-title:has-text("Secret KEY of the server keyed")');
    assert.match((await driver.texts('.quick-input-message')).join(), /Kept in the secret storage of this editor/);
    await driver.screenshot('secret-box');
    await driver.press('Escape');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore();
  });

  it('opens one dashboard, also beside the tab that an earlier window left', async () => {
    // VS Code gives such a tab to its extension only when the user sees it.
    const left = vscode.window.createWebviewPanel('waygate.dashboard', 'Waygate', {
      viewColumn: vscode.ViewColumn.Active,
      preserveFocus: true,
    });
    const tabs = () =>
      vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ label }) => label === 'Waygate').length;
    await eventually('the tab', tabs, (amount) => amount === 1);
    await vscode.commands.executeCommand('waygate.openDashboard');
    await eventually('the other tab to go', tabs, (amount) => amount === 1);
    await eventually(
      'the dashboard',
      () => driver.frameText().catch(() => ''),
      (text) => / tools/.test(text),
    );
    left.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
});
