import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { call } from './agent.ts';
import { filesThatHold, scratchFolder } from './disk.ts';
import { approveAll } from './person.ts';

const TOKEN = 'records-token-of-a-client-0123456789';
const SETTING = 'waygate.records.providerUrl';
/** Id of a call in the history of a gateway. */
const CALL = /history\/calls:[\w.-]+/;
const INPUT = '.quick-input-widget .quick-input-box input';

/** The editor offers a second server while a record provider is configured. */
describe('The server Waygate Records', () => {
  const seen: string[] = [];
  let server: Server;

  before(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.headers.authorization} ${request.url}`);
      const hit = { stream: 'messages', record_key: 'm1', connection_id: 'cin_1', snippet: { text: 'invoice' } };
      const record = {
        object: 'record',
        id: 'm1',
        stream: 'messages',
        connection_id: 'cin_1',
        data: { text: 'Paid.' },
      };
      const schema = { object: 'schema', bearer: { token_kind: 'client' }, connectors: [] };
      const { url = '' } = request;
      const body = url.startsWith('/v1/schema')
        ? schema
        : url.startsWith('/v1/search')
          ? { data: [hit], has_more: false }
          : record;
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await set(url);
    await eventually('the setting', () => vscode.workspace.getConfiguration().get(SETTING) === url);
  });

  after(async () => {
    await set(undefined);
    await eventually('no tools of records', tools, (names) => names.length === 0);
    server.closeAllConnections();
    server.close();
  });

  it('asks for its token, and lists five tools', async () => {
    // The editor reads the definitions a moment after the setting.
    await eventually('the question', async () => {
      void vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return (await driver.texts(`${INPUT}[type="password"]`)).length > 0;
    });
    await driver.type(TOKEN);
    await driver.press('Enter');
    const names = await eventually('the tools', tools, (found) => found.length >= 5);
    assert.equal(names.length, 5);
    for (const end of ['schema', 'query_records', 'aggregate', 'search', 'fetch']) assert.ok(named(end), end);
  });

  it('finds a record and reads it, with the token of the provider', async () => {
    const found = await invoke('search', { q: 'invoice' });
    const id = 'cin_1/messages:m1';
    assert.ok(found.includes(id), found);
    assert.equal(JSON.parse(await invoke('fetch', { id })).text, 'Paid.');
    assert.ok(seen.length >= 3 && seen.every((one) => one.startsWith(`Bearer ${TOKEN} `)));
  });

  it('leaves the token in no file', () => {
    assert.deepEqual(filesThatHold([TOKEN], scratchFolder()), []);
  });
});

describe('The server Waygate Records of this machine', () => {
  before(async () => {
    await approveAll();
    await set('embedded');
  });

  after(async () => {
    await set(undefined);
    await eventually('no tools of records', tools, (names) => names.length === 0);
  });

  it('finds a call of this gateway and reads it, with no token', async () => {
    await eventually('the tools', async () => {
      void vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return tools().length === 5;
    });
    assert.match(await call('/everything/echo', { message: 'recorded' }), /recorded/);
    const found = await eventually(
      'the record',
      () => invoke('search', { q: 'everything', streams: ['calls'] }),
      (text) => CALL.test(text),
    );
    const { text } = JSON.parse(await invoke('fetch', { id: CALL.exec(found)?.[0] })) as { text: string };
    assert.match(text, /"server": "everything"/);
  });
});

function set(value: string | undefined): Thenable<void> {
  return vscode.workspace.getConfiguration().update(SETTING, value, vscode.ConfigurationTarget.Global);
}

const tools = (): string[] =>
  vscode.lm.tools.map(({ name }) => name).filter((name) => /^mcp_waygate-?_?rec/.test(name));
const named = (end: string): string | undefined => tools().find((name) => name.endsWith(`_${end}`));

async function invoke(end: string, input: object): Promise<string> {
  const result = await vscode.lm.invokeTool(named(end) ?? end, { input, toolInvocationToken: undefined });
  return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}
