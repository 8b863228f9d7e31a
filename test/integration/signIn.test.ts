import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { AuthorizationServer, browse } from '../support/authorizationServer.ts';
import { stateFolder, status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer } from '../support/httpServer.ts';
import { type TestWorkspace, testWorkspace, WAYGATE, WORKER } from '../support/workspace.ts';

/** Starts `waygate login` and returns the address that it prints for the user to open. */
async function login(workspace: TestWorkspace, args: readonly string[] = []) {
  const child = spawn(process.execPath, [WAYGATE, 'login', ...args], { env: workspace.env, cwd: workspace.folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += chunk;
  });
  const failure = text(child.stderr);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await until('the address', () => /^ {2}(http\S+)$/m.exec(shown)?.[1]);
  return { url, exited, failure, shown: () => shown };
}

async function guarded(options = {}) {
  const issuer = await AuthorizationServer.start(options);
  onTestFinished(() => issuer.close());
  const { url } = await httpServer('--issuer', issuer.issuer);
  const workspace = testWorkspace({ one: { url } });
  return { issuer, url, workspace, host: await GatewaySession.connect(workspace) };
}

const stateOf = async (workspace: TestWorkspace): Promise<string | undefined> =>
  (await status(workspace)).servers[0]?.state;

describe('a server that requires a sign-in', () => {
  it('is reported, stays signed in over restarts, and is reported again when the sign-in is revoked', async () => {
    const { issuer, workspace, host } = await guarded();
    await until('the refusal', async () => (await stateOf(workspace)) === 'needs_sign_in');
    expect((await host.call('tool_browse', { path: '/' })).text).toContain(
      'Needs sign-in: one (ask the user: waygate login one).',
    );
    expect((await status(workspace)).servers[0]?.reason).toBe('It asks for a sign-in.');
    const { url, exited, shown } = await login(workspace);
    expect((await browse(url)).text).toContain('You are signed in.');
    expect(await exited).toBe(0);
    expect(shown()).toMatch(
      /^Open this address in your browser to sign in to "one":\n\n {2}http.*\n\nSigned in to "one"\.\n$/,
    );
    const id = await host.toolId('/one/echo');
    const echo = async () => host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
    expect((await echo()).text).toMatch(/hi\n$/);
    for (let restart = 0; restart < 2; restart++) {
      await stopGateway(workspace);
      expect((await echo()).text).toMatch(/hi\n$/);
    }
    expect(issuer.authorizations).toHaveLength(1);
    issuer.revokeAll();
    const refused = await echo();
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(
      /^Error AUTH_FAILED: one wants the user to sign in: "Its sign-in has expired or was revoked\. Sign in again"\. Ask the user/,
    );
    expect(await stateOf(workspace)).toBe('needs_sign_in');
    // A later call does not contact the issuer again.
    const asked = issuer.seen.length;
    const second = (await echo()).text;
    expect(second).toMatch(
      /^Error AUTH_FAILED: one wants the user to sign in: "Its sign-in has expired or was revoked\. Sign in again"\. Nothing was sent\./,
    );
    for (const text of [refused.text, second]) expect(text).toMatch(/\ncommand: waygate login one$/m);
    expect(issuer.seen).toHaveLength(asked);
    // No token appears in the status or in the log.
    const reported =
      JSON.stringify(await status(workspace)) + readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
    expect(issuer.issued.length).toBeGreaterThan(0);
    for (const token of issuer.issued) expect(reported).not.toContain(token);
  });

  it('is signed out locally and at the issuer', async () => {
    const { issuer, workspace } = await guarded();
    const { url, exited } = await login(workspace, ['one']);
    await browse(url);
    expect(await exited).toBe(0);
    expect((await waygate(workspace, ['logout', 'one'])).stdout).toBe('Signed out of "one".\n');
    expect(issuer.seen).toContain('POST /revoke');
    expect(await stateOf(workspace)).toBe('needs_sign_in');
    expect((await waygate(workspace, ['logout', 'one'])).stdout).toBe('Nobody was signed in to "one".\n');
  });

  it('gives no kept answer after the user has signed out', async () => {
    const { url: address, workspace, host } = await guarded();
    const cached = { servers: { one: { url: address } }, cache: { readOnly: true } };
    writeFileSync(workspace.configFile, JSON.stringify(cached));
    workspace.approve();
    const { url, exited } = await login(workspace, ['one']);
    await browse(url);
    expect(await exited).toBe(0);
    const id = await host.toolId('/one/headers');
    const ask = () => host.call('tool_execute', { tool_id: id, args: {}, render: 'json' });
    expect((await ask()).isError).toBeFalsy();
    const again = await ask();
    expect(again.text).toContain('authorization');
    await waygate(workspace, ['logout', 'one']);
    expect((await ask()).text).toContain('AUTH_FAILED');
  });

  it('reports why the sign-in failed', async () => {
    const { workspace } = await guarded({ refuse: 'access_denied' });
    const { url, exited, failure } = await login(workspace, ['one']);
    await browse(url);
    expect(await exited).toBe(1);
    expect(await failure).toBe('waygate: The sign-in was refused (access_denied).\n');
  });

  it('is signed in by an editor over the control channel', async () => {
    const { workspace } = await guarded();
    const runtime = {
      workspace: workspace.folder,
      nodePath: process.execPath,
      workerScript: WORKER,
      env: workspace.env,
    };
    const control = await attachControl(runtime, { start: true, holds: true });
    if (!control) throw new Error('no worker');
    onTestFinished(() => control.dispose());
    const states: (string | undefined)[] = [];
    control.onSnapshot(({ servers }) => states.push(servers[0]?.state));
    await control.request('watch', {});
    const answer = await control.request('signIn', { server: 'one' });
    if (!('url' in answer)) throw new Error(answer.reason);
    const end = control.request('signInEnd', { server: 'one' });
    await browse(answer.url);
    expect(await end).toEqual({});
    await until('the news', () => states.at(-1) === 'ready');
    expect(await control.request('signIn', { server: 'onee' })).toEqual({
      reason: 'There is no server "onee"; did you mean "one"?',
    });
  });

  it('has its tokens kept by the editor, and works as soon as the editor is attached', async () => {
    const { workspace } = await guarded();
    const kept = new Map<string, string>();
    const attachEditor = async () => {
      const runtime = { workspace: workspace.folder, nodePath: process.execPath, workerScript: WORKER };
      const editor = await attachControl(
        { ...runtime, stateDir: workspace.stateDir, env: workspace.env },
        { start: true, holds: true },
      );
      if (!editor) throw new Error('no worker');
      onTestFinished(() => editor.dispose());
      editor.onSecret(async (question) => {
        if (question.op === 'set') kept.set(question.key, question.value);
        return { kept: true, value: question.op === 'get' ? kept.get(question.key) : undefined };
      });
      await editor.request('watch', {});
      return editor;
    };
    await attachEditor();
    const { url, exited } = await login(workspace, ['one']);
    await browse(url);
    expect(await exited).toBe(0);
    expect([...kept.values()].join()).toContain('access_token');
    expect(readdirSync(join(workspace.stateDir, 'tokens'))).toEqual([]);
    await stopGateway(workspace);
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    const echo = async () => (await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text;
    expect(await echo()).toMatch(/^Error AUTH_FAILED/);
    const editor = await attachEditor();
    await until('the way in', async () => (await stateOf(workspace)) === 'ready');
    editor.dispose();
    expect(await echo()).toMatch(/hi\n$/);
  });
});

describe('login and logout', () => {
  it.each([
    [['login', 'two'], 1, /There is no server "two"; there is one\./],
    [['login', 'a', 'b'], 64, /waygate login takes the name of one server/],
    [['logout'], 64, /waygate logout needs the name of a server/],
  ])('reject wrong arguments with a sentence: %j', async (args, code, sentence) => {
    const workspace = testWorkspace({ one: { url: 'http://127.0.0.1:9/mcp' } });
    const result = await waygate(workspace, args);
    expect(result.stderr).toMatch(sentence);
    expect(result.code).toBe(code);
  });

  it('report that no server requires a sign-in, or that the server is unreachable', async () => {
    const { url, end } = await httpServer();
    await end();
    const workspace = testWorkspace({ one: { url } });
    expect((await waygate(workspace, ['login'])).stderr).toMatch(/no server asks for a sign-in/);
    expect((await waygate(workspace, ['login', 'one'])).stderr).toMatch(/could not be reached/);
  });
});
