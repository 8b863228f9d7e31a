import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { type Rendezvous, readRendezvous } from '../../src/link/rendezvous.ts';
import { stateFolder, status, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE, WORKER } from '../support/workspace.ts';

/** Sets a secret like `echo value | waygate secret set NAME`. */
async function setSecret(workspace: TestWorkspace, name: string, value: string): Promise<string> {
  const { env, folder: cwd } = workspace;
  const child = spawn(process.execPath, [WAYGATE, 'secret', 'set', name], { env, cwd });
  child.stdin.end(`${value}\n`);
  return `${await text(child.stdout)}${await text(child.stderr)}`;
}

describe('a server whose secret is not set', () => {
  it('reports the missing secret, starts as soon as it is set, and has it only in its environment', async () => {
    const workspace = testWorkspace({ one: { ...servers.fixture('--wild'), env: { API_KEY: '${secret:demo}' } } });
    const host = await HostProcess.connect(workspace);
    const failed = await until('the failure', async () =>
      (await status(workspace)).servers.find((server) => server.state === 'needs_secret'),
    );
    expect(failed.reason).toBe('It needs the secret "demo", which is not set.');
    expect((await host.call('tool_browse', { path: '/' })).text).toContain(failed.reason);
    expect(await setSecret(workspace, 'demo', 'hunter22')).toMatch(
      /^Set demo in \S+secrets\.json\.\nNext: waygate status /,
    );
    const id = await host.toolId('/one/environment');
    const answer = await host.call('tool_execute', { tool_id: id, args: {} });
    expect(JSON.parse(answer.text.replace('ok\n', ''))).toMatchObject({ API_KEY: 'hunter22' });
    expect(JSON.stringify(await status(workspace))).not.toContain('hunter22');
    expect(readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8')).not.toContain('hunter22');
    expect((await waygate(workspace, ['secret', 'list'])).stdout).toBe('demo\n');
    expect((await waygate(workspace, ['secret', 'delete', 'demo'])).stdout).toBe('Deleted demo.\n');
    expect((await waygate(workspace, ['secret', 'list'])).stdout).toBe('No secret is set.\n');
  });

  it('gets it from the editor as soon as one is attached', async () => {
    const workspace = testWorkspace();
    const reference = { API_KEY: '${input:key}' };
    const inputs = [{ id: 'key', type: 'promptString', description: 'The key', password: true }];
    const one = { ...servers.fixture('--wild'), env: reference };
    workspace.write('.vscode/waygate.json', JSON.stringify({ inputs, servers: { one } }));
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    const waiting = await until('the server to wait for it', async () =>
      (await status(workspace)).servers.find((server) => server.state === 'needs_secret'),
    );
    expect(waiting.secret).toMatchObject({ name: 'input:key', description: 'The key', password: true, options: [] });
    const kept = new Map([[waiting.secret?.key, 'from-the-editor']]);
    const { folder, stateDir } = workspace;
    const runtime = { workspace: folder, stateDir, nodePath: process.execPath, workerScript: WORKER };
    const editor = await attachControl(runtime, { start: false, holds: true });
    onTestFinished(() => editor?.dispose());
    editor?.onSecret(async (request) =>
      request.op === 'get' ? { kept: true, value: kept.get(request.key) } : { kept: true },
    );
    await editor?.request('watch', {});
    const id = await host.toolId('/one/environment');
    const answer = await host.call('tool_execute', { tool_id: id, args: {} });
    expect(JSON.parse(answer.text.replace('ok\n', ''))).toMatchObject({ API_KEY: 'from-the-editor' });
    expect(existsSync(join(workspace.stateDir, 'secrets.json'))).toBe(false);
  });

  it('gets it from an editor that attaches after a crash of the worker, and then answers the waiting call', async () => {
    const workspace = testWorkspace();
    const one = { ...servers.fixture('--wild'), env: { API_KEY: '${input:key}' } };
    const inputs = [{ id: 'key', type: 'promptString', description: 'The key' }];
    workspace.write('.vscode/waygate.json', JSON.stringify({ inputs, servers: { one } }));
    workspace.approve();
    const { folder, stateDir, env } = workspace;
    const attachEditor = async () => {
      const runtime = { workspace: folder, stateDir, nodePath: process.execPath, workerScript: WORKER, env };
      const editor = await attachControl(runtime, { start: true, holds: true });
      onTestFinished(() => editor?.dispose());
      editor?.onSecret(async ({ op }) => (op === 'get' ? { kept: true, value: 'kept' } : { kept: true }));
      await editor?.request('watch', {});
    };
    await attachEditor();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/environment');
    const environment = async () =>
      (await host.call('tool_execute', { tool_id: id, args: { names: ['API_KEY'] } })).text;
    expect(await environment()).toBe('ok\n{"API_KEY":"kept"}\n');
    const { pid } = readRendezvous(stateFolder(workspace)) as Rendezvous;
    process.kill(pid, 'SIGKILL');
    await until('the next worker', () => readRendezvous(stateFolder(workspace))?.pid !== pid);
    // The call has to start the server, and no editor with the secret is attached yet.
    const answer = environment();
    await attachEditor();
    expect(await answer).toBe('ok\n{"API_KEY":"kept"}\n');
  });
});

describe('waygate secret', () => {
  it.each([
    [['secret'], 64, /needs an action: set NAME, list, or delete NAME\./],
    [['secret', 'set', 'a', 'value'], 64, /takes one name and no value; the value is read from stdin\./],
    [['secret', 'set', 'a$b'], 64, /needs a name of letters/],
    [['secret', 'delete', 'none'], 1, /there is no secret "none"; see waygate secret list\./],
  ])('refuses wrong arguments with a sentence: %j', async (args, code, sentence) => {
    const result = await waygate(testWorkspace(), args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(sentence);
  });

  it('refuses an empty value', async () => {
    const workspace = testWorkspace({ one: { ...servers.fixture(), env: { A: '${secret:a}' } } });
    expect(await setSecret(workspace, 'a', '')).toMatch(/the value of "a" is empty; give it on stdin\./);
  });
});
