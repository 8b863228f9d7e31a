import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileSecrets } from '../../src/config/state/fileSecrets.ts';
import { stateFolder, stopGateway } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Covers secrets of one server in what is sent to another, with real gateways and servers. */

const SECRET = 'Zq7-secret-of-A-4411';

function configured(trust: object = {}): TestWorkspace & { log: string } {
  const workspace = testWorkspace();
  new FileSecrets(workspace.stateDir, workspace.folder).set('a', SECRET);
  const log = workspace.write('received.jsonl', '');
  const entries = {
    a: { ...servers.fixture(), env: { TOKEN: '${secret:a}' } },
    b: servers.fixture('--log', log),
    docs: servers.primitives('--log', `${log}.docs`),
  };
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...trust, servers: entries }));
  workspace.approve();
  return { ...workspace, log };
}

async function connected(workspace: TestWorkspace, args: readonly string[] = [], capabilities: object = {}) {
  const browsing = await GatewaySession.connect(workspace);
  const [a, b] = [await browsing.toolId('/a/echo'), await browsing.toolId('/b/echo')];
  const host =
    args.length === 0 && Object.keys(capabilities).length === 0
      ? browsing
      : await GatewaySession.connect(workspace, args, capabilities);
  return { host, a, b };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

it.each([
  ['gateway', []],
  ['transparent', ['--mode', 'transparent']],
  ['passthrough', ['--mode', 'passthrough']],
])('a call with a secret of another server is not sent, in %s mode', async (mode, args) => {
  const workspace = configured();
  const { host, a, b } = await connected(workspace, args);
  const call = (id: string, server: string, text: string) =>
    mode === 'gateway'
      ? host.call('tool_execute', { tool_id: id, args: { text } })
      : host.call(mode === 'transparent' ? id : `${server}__echo`, { text });
  for (const text of [
    SECRET,
    base64(SECRET),
    base64(`u:${SECRET}`),
    encodeURIComponent(`%${SECRET}`),
    `"Zq7\\u002dsecret-of-A-4411"`,
  ]) {
    const answer = await call(b, 'b', text);
    expect(answer.text).toMatch(
      /^Error POLICY_DENIED: .*The argument \/text contains a secret of the server a\. It was not sent to b/,
    );
    expect(JSON.stringify(answer)).not.toContain(SECRET);
  }
  expect(readFileSync(workspace.log, 'utf8')).not.toContain('tools/call');
  expect((await call(a, 'a', SECRET)).isError).toBe(false);
  expect((await call(b, 'b', 'ordinary text')).isError).toBe(false);
  const kept = (file: string): string => {
    const path = join(stateFolder(workspace), file);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  await until('the events', () => kept('events.jsonl').includes('POLICY_DENIED'));
  for (const file of ['worker.log', 'events.jsonl']) expect(kept(file)).not.toContain(SECRET);
});

it('a secret that an earlier worker gave to a server which has not started since is not sent', async () => {
  const workspace = configured();
  await connected(workspace);
  await stopGateway(workspace);
  const host = await HostProcess.connect(workspace);
  const b = await host.toolId('/b/echo');
  const { structured } = await host.call('tool_browse', { path: '/', render: 'json' });
  expect(structured?.servers).toContainEqual(expect.objectContaining({ name: 'a', state: 'not_started' }));
  const answer = await host.call('tool_execute', { tool_id: b, args: { text: SECRET } });
  expect(answer.text).toMatch(/^Error POLICY_DENIED/);
});

it('an address or a prompt with a secret of another server is not sent', async () => {
  const workspace = configured();
  const { host } = await connected(workspace);
  const address = `note://fixture/${SECRET}`;
  const read = await host.request('resources/read', { uri: address });
  expect(read.error?.message).toContain('contains a secret of the server a');
  const { text } = await host.call('resource_read', { resource_id: address });
  expect(text).toContain('contains a secret of the server a');
  const prompt = await host.request('prompts/get', { name: 'greet', arguments: { who: SECRET } });
  expect(prompt.error?.message).toContain('The argument /arguments/who contains');
  const complete = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: SECRET } };
  expect((await host.request('completion/complete', complete)).error?.message).toContain(
    'The argument /argument/value',
  );
});

it('the user is asked for each owner if "trust.egress" says so, and a workspace cannot say so', async () => {
  const ask = { trust: { egress: 'ask' } };
  const workspace = configured();
  workspace.write('../user/waygate.json', JSON.stringify(ask));
  const { host, b } = await connected(workspace, [], { elicitation: { form: {} } });
  host.answer('elicitation/create', () => ({ action: host.asked.length === 1 ? 'decline' : 'accept', content: {} }));
  const call = () => host.call('tool_execute', { tool_id: b, args: { text: `x ${SECRET}` } });
  expect((await call()).text).toMatch(/^Error POLICY_DENIED/);
  expect(await call()).toMatchObject({ isError: false });
  expect(host.asked).toHaveLength(2);
  const question = JSON.stringify(host.asked);
  expect(question).toContain('The argument /text contains a secret of the server a.');
  expect(question).not.toContain(SECRET);

  const loosened = configured({ trust: { egress: 'off' } });
  const other = await connected(loosened);
  const refused = await other.host.call('tool_execute', { tool_id: other.b, args: { text: SECRET } });
  expect(refused.text).toMatch(/^Error POLICY_DENIED/);
});

const TOKEN = `gh${'p_'}${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'}`;
const form = { elicitation: { form: {} } };

it('what looks like a secret is sent only if the user allows it, once or for the server', async () => {
  const workspace = configured();
  const { host, b } = await connected(workspace, [], form);
  const wait = await host.toolId('/b/wait');
  const call = (id = b, text = `x ${TOKEN}`) => host.call('tool_execute', { tool_id: id, args: { text, nonce: text } });
  const answers = ['decline', 'once', 'workspace'];
  host.answer('elicitation/create', () => {
    const answer = answers[host.asked.length - 1];
    return answer === 'decline' ? { action: 'decline' } : { action: 'accept', content: { remember: answer } };
  });
  expect((await call()).text).toMatch(/^Error POLICY_DENIED/);
  expect(readFileSync(workspace.log, 'utf8')).not.toContain('tools/call');
  expect(await call()).toMatchObject({ isError: false });
  expect(await call()).toMatchObject({ isError: false });
  expect(JSON.stringify(host.asked)).toContain('The argument /text contains what looks like a secret.');
  expect(JSON.stringify(host.asked)).not.toContain(TOKEN);
  // Always for the server: neither another tool nor another session asks again.
  expect(await call(wait)).toMatchObject({ isError: false });
  const other = await GatewaySession.connect(workspace, [], form);
  expect(await other.call('tool_execute', { tool_id: b, args: { text: TOKEN } })).toMatchObject({ isError: false });
  expect([host.asked.length, other.asked.length]).toEqual([3, 0]);
  const log = readFileSync(join(workspace.stateDir, 'trust.jsonl'), 'utf8');
  expect(log.match(/"what":"secret-egress","subject":"send form to b"/g)).toHaveLength(2);
  expect(log).not.toContain(TOKEN);
});

it('without anybody to ask, the error has the rule that allows it, which a workspace cannot set', async () => {
  const refused = configured();
  const { host, b } = await connected(refused);
  const answer = await host.call('tool_execute', { tool_id: b, args: { text: TOKEN }, render: 'json' });
  const rule = { action: 'allow', metaTool: 'egress', server: 'b', origin: 'workspace' };
  expect(answer.text).toContain('AUTH_REQUIRED');
  expect(JSON.stringify(answer)).toContain(JSON.stringify(JSON.stringify(rule)).slice(1, -1));
  const dry = await host.call('tool_execute', { tool_id: b, args: { text: TOKEN }, dry_run: true });
  expect(dry.text).toContain('would not be sent');
  // A rule for calls allows no secret.
  for (const [where, policy, isSent] of [
    ['user', { rules: [rule] }, true],
    ['user', { rules: [{ action: 'allow', server: 'b', origin: 'workspace' }] }, false],
    ['workspace', { rules: [rule] }, false],
  ] as const) {
    const workspace = configured(where === 'workspace' ? { policy } : {});
    if (where === 'user') workspace.write('../user/waygate.json', JSON.stringify({ policy }));
    const { host: other, b: id } = await connected(workspace);
    for (const text of [TOKEN, SECRET]) {
      expect((await other.call('tool_execute', { tool_id: id, args: { text } })).isError).toBe(!isSent);
    }
  }
});

it.each([
  ['gateway', []],
  ['transparent', ['--mode', 'transparent']],
  ['passthrough', ['--mode', 'passthrough']],
])('a secret in "_meta" is not sent, in %s mode', async (mode, args) => {
  const workspace = configured();
  const { host, b } = await connected(workspace, args);
  const name = mode === 'gateway' ? 'tool_execute' : mode === 'transparent' ? b : 'b__echo';
  const plain = { text: 'ordinary' };
  const params = { name, arguments: mode === 'gateway' ? { tool_id: b, args: plain } : plain };
  const { result } = await host.request('tools/call', { ...params, _meta: { note: { by: SECRET } } });
  expect(JSON.stringify(result)).toContain('The argument /_meta/note/by contains a secret of the server a.');
  expect(readFileSync(workspace.log, 'utf8')).not.toContain('tools/call');
});

it('a value that was masked in a result of one server is not sent to another', async () => {
  const workspace = configured({ artifacts: { maskSecrets: 'always' } });
  const { host, a, b } = await connected(workspace);
  const value = 'Tr0ub4dor-Xk29';
  const call = (id: string, text: string) => host.call('tool_execute', { tool_id: id, args: { text } });
  expect((await call(b, value)).isError).toBe(false);
  expect((await call(a, `password=${value}`)).text).toContain('[REDACTED-SECRET]');
  const refused = await call(b, base64(value));
  expect(refused.text).toContain('contains a secret that Waygate masked in a text of the server a.');
  expect((await call(a, value)).isError).toBe(false);
});

it('an answer of the client with a secret of another server does not reach the server that asks', async () => {
  const workspace = configured();
  workspace.write(
    '.vscode/waygate.json',
    JSON.stringify({
      servers: {
        a: { ...servers.fixture(), env: { TOKEN: '${secret:a}' } },
        asker: { ...servers.conformance, sampling: true },
      },
    }),
  );
  workspace.approve();
  const browsing = await GatewaySession.connect(workspace);
  const [, ask] = [await browsing.toolId('/a/echo'), await browsing.toolId('/asker/test_ask')];
  const host = await GatewaySession.connect(workspace, [], { elicitation: { form: {} }, sampling: {} });
  host.answer('elicitation/create', () => ({ action: 'accept', content: { note: SECRET } }));
  host.answer('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: base64(`is ${SECRET}`) },
    model: 'x',
  }));
  const asking = async (method: string, request: object) =>
    (await host.call('tool_execute', { tool_id: ask, args: { method, requests: [request], atOnce: false } })).text;
  const question = {
    message: 'Which note?',
    requestedSchema: { type: 'object', properties: { note: { type: 'string' } } },
  };
  const sampled = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 10 };
  for (const [method, request] of [
    ['elicitation/create', question],
    ['sampling/createMessage', sampled],
  ] as const) {
    const text = await asking(method, request);
    expect(text).toContain('Waygate did not send the answer, because it contains a secret.');
    expect(text).not.toContain(SECRET);
  }
  expect(host.asked).toHaveLength(2);
});
