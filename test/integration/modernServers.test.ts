import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, type RpcMessage, type StreamClient, until, withoutFence } from '../support/hostProcess.ts';
import { modernHttpServer } from '../support/httpServer.ts';
import { shared } from '../support/lifetime.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Covers clients of the older revisions and servers that speak only 2026-07-28, with real gateways and servers. */

const PASSTHROUGH = ['--mode', 'passthrough'];
const ELICITATION = { elicitation: { form: {}, url: {} } };

const textOf = ({ result, error }: RpcMessage): string =>
  error ? error.message : withoutFence((result?.content as { text: string }[] | undefined)?.[0]?.text ?? '');
const call = (host: StreamClient, name: string, args: object = {}): Promise<RpcMessage> =>
  host.request('tools/call', { name, arguments: args });

interface Served {
  workspace: TestWorkspace;
  file: string;
}

async function served(way: string, entry: object = {}, capabilities: object = {}): Promise<Served> {
  const file = join(temporaryFolder('wg-wire-'), 'wire.log');
  writeFileSync(file, '');
  const server =
    way === 'stdio'
      ? servers.modern('--log', file)
      : { type: 'http', url: (await modernHttpServer('--log', file)).url };
  const workspace = testWorkspace({ modern: { ...server, ...entry } });
  const browsing = await GatewaySession.connect(workspace, [], capabilities);
  await browsing.toolId('/modern/echo');
  return { workspace, file };
}
const callsIn = (file: string, tool: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`call ${tool} `)).length;

describe.each(['stdio', 'HTTP'])('a question within a call of a server over %s', (way) => {
  const open = shared(() => served(way));
  const sampler = shared(() => served(way, { sampling: true }, { roots: {} }));

  it('reaches the client of the call as elicitation, and the state of the server returns verbatim', async () => {
    const host = await GatewaySession.connect(open().workspace, PASSTHROUGH, ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: { who: 'Ada' } }));
    const idle = await GatewaySession.connect(open().workspace, PASSTHROUGH, ELICITATION);
    await call(idle, 'echo', { text: 'before' });
    expect((await call(host, 'ask')).result).toEqual({ content: [{ type: 'text', text: 'Hello Ada' }] });
    expect(host.asked).toMatchObject([
      { method: 'elicitation/create', params: { message: 'Server "modern" asks: Whom to greet?' } },
    ]);
    expect(idle.asked).toEqual([]);
  });

  it('reaches the right client while another one has a call at the same server', async () => {
    const { workspace, file } = open();
    const busy = await GatewaySession.connect(workspace, PASSTHROUGH, ELICITATION);
    const slow = callsIn(file, 'slow');
    void call(busy, 'slow', { ms: 60_000 });
    await until('the call of the other client', () => callsIn(file, 'slow') > slow);
    const host = await GatewaySession.connect(workspace, [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    const answer = await host.call('tool_execute', { tool_id: await host.toolId('/modern/ask'), args: {} });
    expect(answer.text).toContain('It was a decline.');
    expect(busy.asked).toEqual([]);
  });

  it('by URL has the id that clients of the older revisions know', async () => {
    const host = await GatewaySession.connect(open().workspace, PASSTHROUGH, ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept' }));
    expect(textOf(await call(host, 'open'))).toBe('visited');
    expect(host.asked).toMatchObject([
      { params: { mode: 'url', url: 'https://example.com/in', elicitationId: expect.any(String) } },
    ]);
  });

  it('fails the call of a client without elicitation, in one sentence that says what to do', async () => {
    const { workspace, file } = open();
    const host = await GatewaySession.connect(workspace, PASSTHROUGH);
    const before = callsIn(file, 'ask');
    expect(textOf(await call(host, 'ask'))).toContain(
      'The server requires elicitation of its client, which it was not offered; call it from a client that supports elicitation.',
    );
    expect(callsIn(file, 'ask')).toBe(before + 1);
  });

  it('fails the call if sampling is off for the server, and names the key that allows it', async () => {
    const host = await GatewaySession.connect(open().workspace, PASSTHROUGH, { sampling: {} });
    expect(textOf(await call(host, 'sample'))).toBe(
      'The server requires sampling of its client, which it was not offered; set "sampling": true in its entry.',
    );
  });

  it('fails the call of a client without sampling, although the server may ask for it', async () => {
    const host = await GatewaySession.connect(sampler().workspace, PASSTHROUGH, ELICITATION);
    expect(textOf(await call(host, 'sample'))).toContain('call it from a client that supports sampling.');
  });

  it('reaches the model of the client as sampling, and its workspace as roots', async () => {
    const host = await GatewaySession.connect(sampler().workspace, PASSTHROUGH, { sampling: {}, roots: {} });
    host.answer('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'said' },
      model: 'm',
    }));
    host.answer('roots/list', () => ({ roots: [{ uri: 'file:///here' }] }));
    expect(textOf(await call(host, 'sample'))).toContain('said');
    expect(textOf(await call(host, 'roots'))).toBe('file:///here');
  });

  it('may be none but a pause, and is bounded', async () => {
    const { workspace, file } = open();
    const host = await GatewaySession.connect(workspace, PASSTHROUGH);
    expect(textOf(await call(host, 'pause'))).toBe('resumed');
    const before = callsIn(file, 'endless');
    expect(textOf(await call(host, 'endless'))).toContain('still asked for input after 10 rounds');
    expect(callsIn(file, 'endless')).toBe(before + 11);
  });

  it('is withdrawn when the client cancels its call, which the server does not get again', async () => {
    const { workspace, file } = open();
    const host = await GatewaySession.connect(workspace, PASSTHROUGH, ELICITATION);
    const before = callsIn(file, 'ask');
    void host.request('tools/call', { name: 'ask', arguments: {} }, 'given-up');
    await until('the question', () => host.asked.length > 0);
    host.notify('notifications/cancelled', { requestId: 'given-up' });
    await until('the withdrawal', () =>
      host.notifications.some(
        ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === host.asked[0]?.id,
      ),
    );
    expect(textOf(await call(host, 'echo', { text: 'after' }))).toBe('after');
    expect(callsIn(file, 'ask')).toBe(before + 1);
  });

  it('does not repeat a call whose server ends between two rounds', async () => {
    const { workspace, file } = await served(way);
    const host = await GatewaySession.connect(workspace, PASSTHROUGH);
    expect(textOf(await call(host, 'lost'))).toMatch(/unknown|may have|lost/i);
    expect(callsIn(file, 'lost')).toBe(1);
  });
});

it('reports the revision of each server in waygate status, as text and as JSON', async () => {
  const workspace = testWorkspace({
    new: { type: 'http', url: (await modernHttpServer()).url },
    old: servers.fixture(),
  });
  const host = await HostProcess.connect(workspace);
  await host.toolId('/new/echo');
  await host.toolId('/old/echo');
  const { stdout } = await waygate(workspace, ['status']);
  expect(stdout).toMatch(/\n {2}new {2}ready, 12 tools, MCP 2026-07-28\n/);
  expect(stdout).toMatch(/\n {2}old {2}ready, [^\n]*, MCP 2025-11-25\n/);
  const { servers: told } = JSON.parse((await waygate(workspace, ['status', '--json'])).stdout);
  expect(told).toMatchObject([
    { name: 'new', protocol: { era: 'modern', version: '2026-07-28', at: expect.any(Number) } },
    { name: 'old', protocol: { era: 'legacy', version: '2025-11-25', at: expect.any(Number) } },
  ]);
});
