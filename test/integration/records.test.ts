import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { httpServer, schemaOf } from '../records/fakes.ts';
import { stateFolder, status, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

const MAIL = 'mail-token-0123456789';
const CHAT = 'chat-token-0123456789';

async function setSecret({ env, folder: cwd }: TestWorkspace, name: string, value: string): Promise<void> {
  const child = spawn(process.execPath, [WAYGATE, 'secret', 'set', name], { env, cwd });
  child.stdin.end(`${value}\n`);
  await text(child.stdout);
}

/** Resource server with a mailbox and a chat, each for its own token. */
function provider(kind: string, seen: string[] = []): Promise<string> {
  return httpServer((request, response) => {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
    seen.push(`${token} ${request.url}`);
    const [key, id] = token === MAIL ? ['mail', 'cin_mail'] : ['chat', 'cin_chat'];
    const hit = { stream: 'messages', record_key: `${key}1`, snippet: { text: 'an <mark>invoice</mark>' } };
    const body = request.url?.startsWith('/v1/schema')
      ? { ...schemaOf({ key, streams: [{ name: 'messages', connections: [id] }] }), bearer: { token_kind: kind } }
      : request.url?.startsWith('/v1/search')
        ? { data: [hit], has_more: false, meta: { count: 1 } }
        : { object: 'record', id: `${key}1`, data: { text: `Invoice of ${key}` }, connection_id: id };
    response.end(JSON.stringify(body));
  });
}

async function workspaceWith(url: string): Promise<TestWorkspace> {
  const workspace = testWorkspace();
  const tokens = ['${secret:mail}', '${secret:chat}'];
  workspace.configure({ mine: { type: 'records', url, tokens } });
  await setSecret(workspace, 'mail', MAIL);
  await setSecret(workspace, 'chat', CHAT);
  return workspace;
}

describe('a server of the type "records"', () => {
  it('has its five tools under its namespace, and reads every grant with its own token (R6.6)', async () => {
    const seen: string[] = [];
    const workspace = await workspaceWith(await provider('client', seen));
    const host = await HostProcess.connect(workspace);
    const listed = await until('the tools', async () => {
      const { text: answer } = await host.call('tool_browse', { path: '/mine' });
      return answer.includes('query_records') ? answer : undefined;
    });
    for (const name of ['schema', 'query_records', 'aggregate', 'search', 'fetch']) expect(listed).toContain(name);
    const found = await host.call('tool_execute', {
      tool_id: await host.toolId('/mine/search'),
      args: { q: 'invoice' },
    });
    expect(found.text).toContain('cin_mail/messages:mail1');
    expect(found.text).toContain('cin_chat/messages:chat1');
    const id = 'cin_chat/messages:chat1';
    const document = await host.call('tool_execute', { tool_id: await host.toolId('/mine/fetch'), args: { id } });
    expect(document.text).toContain('Invoice of chat');
    const reads = seen.filter((one) => one.includes('/streams/'));
    expect(reads).toEqual([`${CHAT} /v1/streams/messages/records/chat1?connection_id=cin_chat`]);
    const told = JSON.stringify([found, document, await status(workspace)]);
    const log = readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
    for (const token of [MAIL, CHAT]) expect(told + log).not.toContain(token);
  });

  it('serves nothing with the token of an owner (R6.3)', async () => {
    const seen: string[] = [];
    const workspace = await workspaceWith(await provider('owner', seen));
    await HostProcess.connect(workspace);
    const failed = await until('the refusal', async () =>
      (await status(workspace)).servers.find(({ reason }) => reason?.includes('token of a grant')),
    );
    expect(failed.name).toBe('mine');
    expect(seen.filter((one) => !one.includes('/v1/schema'))).toEqual([]);
  });

  it('without an address reads the history of its own gateway, so that a call of another server is found', async () => {
    const workspace = testWorkspace();
    workspace.configure({ files: servers.fixture(), history: { type: 'records' } });
    const host = await HostProcess.connect(workspace);
    const text = 'a text that no record has';
    await host.call('tool_execute', { tool_id: await host.toolId('/files/echo'), args: { text } });
    const toolId = await host.toolId('/history/query_records');
    const filter = { server: 'files' };
    const page = await until('the call in the history', async () => {
      const answer = await host.call('tool_execute', { tool_id: toolId, args: { stream: 'calls', filter } });
      return answer.text.includes('1 record(s)') ? answer.text : undefined;
    });
    expect(page).toContain('"tool":"echo"');
    expect(page).toContain('"outcome":"ok"');
    // Logs of agents and folders need a grant.
    const index = await host.call('tool_execute', { tool_id: await host.toolId('/history/schema'), args: {} });
    expect(index.text).toContain('calls');
    expect(index.text).not.toContain('sessions');
    expect(page + index.text).not.toContain(text);
  });

  it('of a workspace names the history and the grants in its approval, where it has no address', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { history: { type: 'records' } } }));
    const { stdout } = await waygate(workspace, ['approve', '--json']);
    expect(stdout).toContain('reads the history of this workspace and the records of this machine that you granted');
  });

  it('is approved by its address and its secrets, as other servers of a workspace are', async () => {
    const url = await provider('client');
    const workspace = testWorkspace();
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ servers: { mine: { type: 'records', url, tokens: ['${secret:mail}'] } } }),
    );
    const { stdout, stderr } = await waygate(workspace, ['approve', '--json']);
    expect(stdout + stderr).toContain(`reads records at ${url}`);
    expect(stdout + stderr).toContain('with the token ${secret:mail}');
  });
});
