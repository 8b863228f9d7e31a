import { expect, it } from 'vitest';
import { HostProcess } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { INITIALIZE, McpHttpClient } from '../support/mcpHttp.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/**
 * Every byte that a client of an earlier revision gets in a conversation, apart from versions, random ids and the
 * instructions: a change of the golden files is a change for clients that exist.
 */

const ELICITS = { capabilities: { elicitation: { form: {} } } };
const APPROVED = { action: 'accept', content: { remember: 'once' } };
/** Requests of the conversation after its beginning, in order. */
const REQUESTS: readonly [method: string, params: object][] = [
  ['ping', {}],
  ['initialize', INITIALIZE],
  ['server/discover', {}],
  ['subscriptions/listen', { notifications: {} }],
  ['no/method', {}],
  ['resources/read', { uri: 'file:///nowhere' }],
  ['resources/subscribe', { uri: 'file:///nowhere' }],
  ['prompts/get', { name: 'nothing' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'nothing' }, argument: { name: 'a', value: '' } }],
  ['logging/setLevel', { level: 'loud' }],
  ['logging/setLevel', { level: 'error' }],
  ['tasks/get', { taskId: 'none' }],
  ['tools/call', { name: 'no_tool', arguments: {} }],
  ['tools/call', { name: 'tool_execute', arguments: { tool_id: 'one:nothing', args: {} } }],
  ['tools/call', { name: 'tool_execute', arguments: { tool_id: 'ID' }, _meta: { progressToken: 'mine' } }],
  ['tools/call', { name: 'tool_execute', arguments: { tool_id: 'APPROVED', args: {} }, inputResponses: {} }],
];

async function prepared(): Promise<{ workspace: TestWorkspace; params: (given: object) => object }> {
  const workspace = testWorkspace();
  const policy = { rules: [{ action: 'require_approval', tool: 'test_simple_text' }] };
  workspace.write('.vscode/waygate.json', JSON.stringify({ policy, servers: { one: servers.conformance } }));
  workspace.approve();
  const host = await HostProcess.connect(workspace);
  const progress = await host.toolId('/one/test_tool_with_progress');
  const approved = await host.toolId('/one/test_simple_text');
  const params = (given: object): object =>
    JSON.parse(JSON.stringify(given).replace('"ID"', `"${progress}"`).replace('"APPROVED"', `"${approved}"`)) as object;
  return { workspace, params };
}

/** Masks what differs between two runs, and leaves out news that come at any time. */
const golden = (lines: readonly string[]): string =>
  lines
    .filter((line) => !line.includes('/list_changed"'))
    .map((line) =>
      line
        .replace(/waygate:[\da-f-]{36}:/g, 'waygate:UUID:')
        .replace(/for token \d+/, 'for token TOKEN')
        .replace(/^: \n\n/gm, '')
        .replace(/"version":"\d+\.\d+\.\d+"/g, '"version":"VERSION"')
        .replace(/"instructions":"(?:[^"\\]|\\.)*"/g, '"instructions":"TEXT"'),
    )
    .join('\n');

it('a legacy conversation on stdio has the same bytes as ever', async () => {
  const { workspace, params } = await prepared();
  const host = new HostProcess(workspace);
  host.answer('elicitation/create', () => APPROVED);
  await host.request('ping');
  for (const line of ['no json', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '{"jsonrpc":"2.0","id":7}'])
    host.write(line);
  await host.initialize(ELICITS);
  for (const [method, given] of REQUESTS) await host.request(method, params(given));
  await expect(`${golden(host.lines)}\n`).toMatchFileSnapshot('golden/legacy-stdio.txt');
});

it('a legacy conversation over HTTP has the same bytes as ever', async () => {
  const { workspace, params } = await prepared();
  const process = HttpProcess.waygate(workspace, ['--no-token']);
  const lines: string[] = [];
  const stranger = new McpHttpClient(await process.url());
  const record = async (response: Response): Promise<void> => {
    const headers = ['content-type', 'mcp-session-id', 'allow'].map((name) => {
      const value = response.headers.get(name);
      return name === 'mcp-session-id' && value !== null ? 'SESSION' : (value ?? '-');
    });
    lines.push(`${response.status} ${headers.join(' ')}`, (await response.text()).trim());
  };
  for (const body of ['no json', '[]', '{"jsonrpc":"2.0","id":1,"method":"ping"}'])
    await record(await stranger.post(body));
  await record(await stranger.get());
  await record(await stranger.post({ id: 0, method: 'server/discover', params: {} }));
  const response = await stranger.post({ id: 1, method: 'initialize', params: INITIALIZE });
  const session = response.headers.get('mcp-session-id') ?? '';
  await record(response);
  const client = new McpHttpClient(stranger.url, { 'mcp-session-id': session });
  await record(await client.post({ method: 'notifications/initialized' }));
  await record(await client.post({ id: 2, method: 'ping' }, { 'mcp-protocol-version': '1999-01-01' }));
  for (const [i, [method, given]] of REQUESTS.entries()) {
    await record(await client.post({ id: i + 10, method, params: params(given) }));
  }
  await record(await client.delete());
  await record(await client.post({ id: 3, method: 'ping' }));
  await expect(`${golden(lines)}\n`).toMatchFileSnapshot('golden/legacy-http.txt');
});
