import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StateSeal } from '../../../src/mcp/modern/requestState.ts';
import { stateFolder } from '../../support/census.ts';
import { until } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { McpHttpClient, messages } from '../../support/mcpHttp.ts';
import { answering, askedIn, ELICITS, ModernHttp, ONCE, textOf } from '../../support/modernClient.ts';
import { MODERN, modernMeta } from '../../support/modernMeta.ts';
import { RoundGateway } from '../../support/roundGateway.ts';
import { testWorkspace } from '../../support/workspace.ts';

/** Revision 2026-07-28 over HTTP, with real hosts, workers and servers. */

interface Served {
  gateway: RoundGateway;
  process: HttpProcess;
  http: ModernHttp;
}

async function serving(gateway = new RoundGateway()): Promise<Served> {
  const process = HttpProcess.waygate(gateway.workspace, ['--no-token']);
  return { gateway, process, http: new ModernHttp(await process.url()) };
}

const list = (meta: Record<string, unknown> = modernMeta()) => ({ _meta: meta });

describe('a modern client over HTTP', () => {
  const served = shared(() => serving());
  const http = (): ModernHttp => served().http;

  it('discovers, lists and calls, each in a request of its own with a JSON answer', async () => {
    const discovered = await http().post('server/discover', list());
    expect(discovered).toMatchObject({ status: 200, type: 'application/json' });
    expect(discovered.messages[0]?.result).toMatchObject({ supportedVersions: [MODERN], cacheScope: 'private' });
    const listed = await http().post('tools/list', list());
    expect(listed.messages[0]?.result).toMatchObject({ resultType: 'complete', ttlMs: 300_000 });
    const client = http().caller();
    const id = await client.toolId('/asking/test_simple_text');
    expect(textOf(await client.call('tool_execute', { tool_id: id, args: {} }))).toContain('simple text');
  });

  it('gets progress before the answer, on a stream of events', async () => {
    const id = await http().caller().toolId('/asking/test_tool_with_progress');
    const params = { name: 'tool_execute', arguments: { tool_id: id, args: {} } };
    const { type, messages } = await http().post('tools/call', {
      ...params,
      _meta: modernMeta({}, { progressToken: 7 }),
    });
    expect(type).toBe('text/event-stream');
    expect(messages.map(({ method, params: given }) => given?.progressToken ?? method)).toEqual([7, 7, 7, undefined]);
    expect(messages.at(-1)?.result).toMatchObject({ resultType: 'complete' });
    expect(JSON.stringify(messages)).not.toContain('waygateRelated');
  });

  it.each([
    ['no version', { 'mcp-protocol-version': undefined }, 'MCP-Protocol-Version is missing'],
    ['another version', { 'mcp-protocol-version': '2027-01-01' }, 'MCP-Protocol-Version does not match'],
    ['a version of the other era', { 'mcp-protocol-version': '2025-11-25' }, 'MCP-Protocol-Version does not match'],
    ['no method', { 'mcp-method': undefined }, 'Mcp-Method is missing'],
    ['another method', { 'mcp-method': 'tools/list' }, 'Mcp-Method does not match'],
    ['no name', { 'mcp-name': undefined }, 'Mcp-Name is missing'],
    ['another name', { 'mcp-name': 'tool_view' }, 'Mcp-Name does not match'],
    ['an encoded name that differs', { 'mcp-name': `=?base64?${btoa('tool_view')}?=` }, 'Mcp-Name does not match'],
  ])('is refused with %s in the headers, and nothing runs', async (_, headers, why) => {
    const params = { name: 'tool_browse', arguments: { path: '/' }, _meta: modernMeta() };
    const { status, messages } = await http().post('tools/call', params, headers);
    expect(status).toBe(400);
    expect(messages[0]).toMatchObject({ id: expect.any(Number), error: { code: -32020 } });
    expect(messages[0]?.error?.message).toContain(why);
  });

  it('may encode the name', async () => {
    const params = { name: 'tool_browse', arguments: { path: '/' }, _meta: modernMeta() };
    const encoded = { 'mcp-name': `=?base64?${btoa('tool_browse')}?=` };
    expect((await http().post('tools/call', params, encoded)).messages[0]).toHaveProperty('result');
  });

  it.each([
    ['no _meta', {}, 400, -32602],
    ['no capabilities', list({ 'io.modelcontextprotocol/protocolVersion': MODERN }), 400, -32602],
    ['an unknown method', list(), 404, -32601, 'no/method'],
    ['a method of the legacy era', list(), 404, -32601, 'initialize'],
  ])('is refused with %s', async (_, params, status, code, method = 'tools/list') => {
    const answer = await http().post(method, params);
    expect(answer).toMatchObject({ status, messages: [{ id: expect.any(Number), error: { code } }] });
  });

  it('is refused with an unknown revision, and learns the known one', async () => {
    const meta = { ...modernMeta(), 'io.modelcontextprotocol/protocolVersion': '1900-01-01' };
    const answer = await http().post('tools/list', list(meta), { 'mcp-protocol-version': '1900-01-01' });
    expect(answer).toMatchObject({
      status: 400,
      messages: [{ error: { code: -32022, data: { supported: [MODERN] } } }],
    });
  });

  it('uses POST only, and sends no batches and no answers', async () => {
    const headers = { ...http().headers, 'mcp-protocol-version': MODERN };
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(http().url, { method, headers });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: list() };
    for (const body of [[request], { jsonrpc: '2.0', id: 1, result: {} }]) {
      const response = await fetch(http().url, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(response.status).toBe(400);
    }
    const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await fetch(http().url, { method: 'POST', headers, body: JSON.stringify(notification) })).status).toBe(202);
  });

  it('cancels a call by closing its stream', async () => {
    const client = http().caller();
    const cancelled = async (): Promise<number> => {
      const id = await client.toolId('/asking/test_cancelled_count');
      return Number(/\d+/.exec(textOf(await client.call('tool_execute', { tool_id: id, args: {} }))));
    };
    const id = await client.toolId('/asking/test_wait');
    const abort = new AbortController();
    const params = { name: 'tool_execute', arguments: { tool_id: id, args: {} } };
    const _meta = modernMeta({}, { progressToken: 'begun' });
    // The first event of the stream is the report that the call has begun.
    const response = await http().open('tools/call', { ...params, _meta }, {}, abort.signal);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    abort.abort();
    await until('the cancellation', async () => (await cancelled()) === 1);
  });

  it('lives beside legacy sessions, which keep their era', async () => {
    const legacy = await McpHttpClient.connect(http().url);
    expect((await legacy.request('tools/list')).result).toHaveProperty('tools');
    const changed = await messages(
      await legacy.post({ id: 'x', method: 'tools/list', params: list() }, { 'mcp-protocol-version': '2025-11-25' }),
    );
    expect(changed.at(-1)?.error?.message).toMatch(/^This session began with initialize/);
    expect((await legacy.request('tools/list')).result).toHaveProperty('tools');
  });
});

describe('a round over HTTP', () => {
  const params = (act: string, nonce: string, more: object = {}) => ({
    name: 'tool_execute',
    arguments: { tool_id: act, args: { nonce } },
    ...more,
  });

  it('is taken by a host that was started again, and the call runs once', async () => {
    const first = await serving();
    const { gateway } = first;
    const act = await first.http.caller().toolId('/faulty/act');
    const asked = askedIn(await first.http.caller(ELICITS).request('tools/call', params(act, 'again')));
    first.process.child.kill('SIGKILL');
    await first.process.exited;
    const second = await serving(gateway);
    const client = second.http.caller(ELICITS);
    expect(textOf(await client.request('tools/call', params(act, 'again', answering(asked, ONCE))))).toContain('again');
    expect(gateway.effectsOf('again')).toBe(1);
    // Neither this host nor the next takes the consent once more.
    const third = await serving(gateway);
    for (const { http } of [second, third]) {
      const { error } = await http.caller(ELICITS).request('tools/call', params(act, 'again', answering(asked, ONCE)));
      expect(error?.message).toContain('was used already');
    }
    expect(gateway.effectsOf('again')).toBe(1);
  });

  it('of a server is unknown to a host that was started again, and the call does not run twice', async () => {
    const first = await serving();
    const asks = await first.http.caller().toolId('/asking/test_elicitation');
    const call = { name: 'tool_execute', arguments: { tool_id: asks, args: { message: 'Your name?' } } };
    const asked = askedIn(await first.http.caller(ELICITS).request('tools/call', call));
    first.process.child.kill('SIGKILL');
    await first.process.exited;
    const second = await serving(first.gateway);
    const accepted = { action: 'accept', content: {} };
    const answer = await second.http.caller(ELICITS).request('tools/call', { ...call, ...answering(asked, accepted) });
    expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(answer)).toContain('Waygate ended during the call');
    expect(textOf(answer)).toContain('outcome');
  });

  it('ends with its time, and belongs to its client', async () => {
    const { gateway, http } = await serving();
    const act = await http.caller().toolId('/faulty/act');
    const asked = askedIn(await http.caller(ELICITS).request('tools/call', params(act, 'late')));
    const folder = stateFolder(gateway.workspace);
    expect(statSync(join(folder, 'round-key')).mode & 0o777).toBe(0o600);
    const seal = new StateSeal(Buffer.from(readFileSync(join(folder, 'round-key'), 'utf8'), 'base64url'));
    const state = seal.open(asked.requestState);
    if (!state) throw new Error('the state has another key');
    const expired = seal.seal({ ...state, expires: Date.now() - 1 });
    const late = answering({ ...asked, requestState: expired }, ONCE);
    const refused = await http.caller(ELICITS).request('tools/call', params(act, 'late', late));
    expect(refused.error).toEqual({ code: -32602, message: 'params.requestState has expired; call again without it.' });
    const other = { 'io.modelcontextprotocol/clientInfo': { name: 'another', version: '1' } };
    const foreign = await http
      .caller(ELICITS)
      .request('tools/call', params(act, 'late', answering(asked, ONCE)), other);
    expect(foreign.error?.message).toContain('belongs to another request');
    expect(gateway.effectsOf('late')).toBe(0);
    expect(readdirSync(join(folder, 'rounds-used'))).toEqual([]);
  });
});

it('a modern client needs the token too', async () => {
  const workspace = testWorkspace({});
  const process = HttpProcess.waygate(workspace);
  const url = await process.url();
  expect((await new ModernHttp(url).post('server/discover', list())).status).toBe(401);
  const client = new ModernHttp(url, await process.token());
  expect((await client.post('server/discover', list())).status).toBe(200);
});
