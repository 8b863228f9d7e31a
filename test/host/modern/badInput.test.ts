import { expect, it } from 'vitest';
import { HostProcess } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { ModernCaller, ModernHttp, textOf } from '../../support/modernClient.ts';
import { modernMeta } from '../../support/modernMeta.ts';
import { RoundGateway } from '../../support/roundGateway.ts';

/** Counts the effects of calls that a server must never get. The tool needs no approval here. */

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const unasked = (): RoundGateway => new RoundGateway({ policy: { rules: [{ action: 'allow', tool: 'act' }] } });
const callOf = (id: string, nonce: string, more: object = {}) => ({
  name: 'tool_execute',
  arguments: { tool_id: id, args: { nonce } },
  ...more,
});

it('a bad request on stdio gets one error, and its call never reaches the server', async () => {
  const gateway = unasked();
  const host = new HostProcess(gateway.workspace);
  const client = ModernCaller.on(host);
  const act = await client.toolId('/faulty/act');
  const { [VERSION]: _, ...versionless } = modernMeta();
  const bad: [object, number][] = [
    [{}, -32602],
    [{ _meta: versionless }, -32602],
    [{ _meta: modernMeta({}, { [VERSION]: '2027-01-01' }) }, -32022],
    [{ _meta: modernMeta({}, { 'io.modelcontextprotocol/clientCapabilities': 7 }) }, -32602],
    [{ _meta: modernMeta(), requestState: 'forged' }, -32602],
  ];
  for (const [more, code] of bad) {
    const { error } = await host.request('tools/call', callOf(act, 'bad', more));
    expect(error?.code, JSON.stringify(more)).toBe(code);
    expect(error?.message).not.toContain('\n');
  }
  expect(textOf(await client.call('tool_execute', callOf(act, 'good').arguments))).toContain('good');
  expect([gateway.effectsOf('bad'), gateway.effectsOf('good')]).toEqual([0, 1]);
});

it('a modern call in a session of an earlier revision gets one error, and never reaches the server', async () => {
  const gateway = unasked();
  const host = await HostProcess.connect(gateway.workspace);
  const act = await host.toolId('/faulty/act');
  const { error } = await host.request('tools/call', callOf(act, 'bad', { _meta: modernMeta() }));
  expect(error?.code).toBe(-32600);
  expect((await host.call('tool_execute', callOf(act, 'good').arguments)).text).toContain('good');
  expect([gateway.effectsOf('bad'), gateway.effectsOf('good')]).toEqual([0, 1]);
});

it('a request over HTTP that contradicts itself gets one error, and its call never reaches the server', async () => {
  const gateway = unasked();
  const http = new ModernHttp(await HttpProcess.waygate(gateway.workspace, ['--no-token']).url());
  const act = await http.caller().toolId('/faulty/act');
  const meta = { _meta: modernMeta() };
  const bad: [object, Record<string, string | undefined>, number][] = [
    [meta, { 'mcp-name': 'tool_view' }, -32020],
    [meta, { 'mcp-method': 'tools/list' }, -32020],
    [meta, { 'mcp-protocol-version': '2025-11-25' }, -32020],
    [meta, { 'mcp-protocol-version': undefined }, -32020],
    [{}, {}, -32602],
    [{ ...meta, requestState: 'forged' }, {}, -32602],
  ];
  for (const [more, headers, code] of bad) {
    const { messages } = await http.post('tools/call', callOf(act, 'bad', more), headers);
    expect(
      messages.map(({ error }) => error?.code),
      JSON.stringify([more, headers]),
    ).toEqual([code]);
  }
  expect(textOf(await http.caller().call('tool_execute', callOf(act, 'good').arguments))).toContain('good');
  expect([gateway.effectsOf('bad'), gateway.effectsOf('good')]).toEqual([0, 1]);
});
