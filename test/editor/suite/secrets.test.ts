import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { call, startedTools } from './agent.ts';
import { filesThatHold, scratchFolder } from './disk.ts';
import { fixture } from './gateway.ts';
import { anotherWorker, approveAll, configure, keptSecrets, toolsRow } from './person.ts';

const SECRET = 'correct-horse-battery-staple';
const OURS = /^waygate\.secret\./;
const INPUT = '.quick-input-widget .quick-input-box input';

/** VS Code asks for each configured input once, stores it, and passes it only to the server. */
describe('A server that waits for a secret', () => {
  let restore: () => Promise<void>;
  let keptBefore: string[] | undefined;

  before(async () => {
    keptBefore = await keptSecrets(OURS);
    restore = await configure((configuration) => {
      configuration.inputs = [
        { id: 'key', type: 'promptString', description: 'The key of the vault', password: true },
        { id: 'region', type: 'pickString', description: 'Where the vault stands', options: ['north', 'south'] },
      ];
      configuration.servers.vault = {
        command: 'node',
        args: [fixture('server.mjs'), '--wild'],
        env: { VAULT_KEY: '${input:key}', VAULT_REGION: '${input:region}' },
      };
    });
    await approveAll();
    await startedTools(3);
  });

  after(() => restore?.());

  /** The answer of a call may be stored, so it must not contain the secret. */
  async function expectIn(name: string, value: string): Promise<void> {
    const digest = createHash('sha256').update(value).digest('hex');
    assert.equal(await call('/vault/digest', { name }), `ok · data from vault\n${digest}\nend of data\n`);
  }

  it('names the secret, asks without showing it, and starts with it', async () => {
    await toolsRow('vault', ({ description }) => description === 'needs a secret: The key of the vault');
    await driver.clickRowAction('Tools', 'vault', 'Set Secret');
    await driver.waitFor(`${INPUT}[type="password"]`);
    await driver.type(SECRET);
    await driver.screenshot('set-secret');
    await driver.press('Enter');
    await toolsRow('vault', ({ description }) => description === 'needs a secret: Where the vault stands');
    await driver.clickRowAction('Tools', 'vault', 'Set Secret');
    await driver.click('.quick-input-list .monaco-list-row:has-text("south")');
    await toolsRow('vault', ({ description }) => / tools\b/.test(description));
    await expectIn('VAULT_KEY', SECRET);
    await expectIn('VAULT_REGION', 'south');
  });

  it('needs no second question for another worker, and no file contains the secret', async () => {
    await anotherWorker();
    await expectIn('VAULT_KEY', SECRET);
    assert.deepEqual(filesThatHold([SECRET], scratchFolder()), []);
    const kept = await keptSecrets(OURS);
    if (keptBefore) assert.equal(kept?.length, keptBefore.length + 2);
  });

  it('stays waiting if the user closes the question', async () => {
    const restoreHere = await configure(({ servers, inputs }) => {
      inputs?.push({ id: 'other', type: 'promptString', description: 'Another one' });
      servers.closed = { command: 'node', args: [fixture('server.mjs')], env: { OTHER: '${input:other}' } };
    });
    await approveAll();
    await toolsRow('closed', ({ description }) => description === 'needs a secret: Another one');
    await driver.clickRowAction('Tools', 'closed', 'Set Secret');
    await driver.waitFor(`${INPUT}[type="text"]`);
    await driver.press('Escape');
    await vscode.commands.executeCommand('waygate.refresh');
    await toolsRow('closed', ({ description }) => description === 'needs a secret: Another one');
    // VS Code runs a command without its row if it redraws the tree at the moment of the click.
    const asked = vscode.commands.executeCommand('waygate.setSecret', undefined);
    await driver.waitFor(`${INPUT}[type="text"]`);
    await driver.press('Escape');
    await asked;
    await restoreHere();
  });

  it('is asked for in its present state, and a command that applies to no server says so', async () => {
    const outdated = { kind: 'server', server: { name: 'vault', state: 'needs_secret' } };
    await vscode.commands.executeCommand('waygate.setSecret', outdated);
    await eventually('the message', driver.notifications, (texts) => texts.includes('No secret is needed.'));
    await vscode.commands.executeCommand('waygate.copyToolId', undefined);
    await eventually('the refusal', driver.notifications, (texts) =>
      texts.some((text) => text.startsWith('Copying the tool id failed: Use the menu of a row again')),
    );
    // The user chooses among several servers.
    const chosen = vscode.commands.executeCommand('waygate.quarantine', undefined);
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("vault")');
    await driver.press('Escape');
    await chosen;
  });
});
