import { expect, it } from 'vitest';
import { waygate } from '../../support/census.ts';
import { HostProcess } from '../../support/hostProcess.ts';
import { HttpProcess } from '../../support/httpProcess.ts';
import { answering, askedIn, ModernCaller, ModernHttp, textOf } from '../../support/modernClient.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';

/** Covers roots of clients of revision 2026-07-28, which declare them with each request. */

const ROOTS = { roots: {} };
const HERE = { roots: [{ uri: 'file:///here' }] };
const PASSTHROUGH = ['--mode', 'passthrough'];

it('count for the requests over HTTP that declare them, and for no other', async () => {
  const gateway = HttpProcess.waygate(testWorkspace({ modern: servers.modern() }), ['--no-token', ...PASSTHROUGH]);
  const http = new ModernHttp(await gateway.url());
  const lacking = { code: -32021, data: { requiredCapabilities: ROOTS } };
  // The first request begins the session, and the server.
  expect((await http.caller().call('roots', {})).error).toMatchObject(lacking);
  const asked = askedIn(await http.caller(ROOTS).call('roots', {}));
  expect(asked.inputRequests).toEqual({ folders: { method: 'roots/list', params: {} } });
  expect(textOf(await http.caller(ROOTS).call('roots', {}, answering(asked, HERE)))).toBe('file:///here');
  expect((await http.caller().call('roots', {})).error).toMatchObject(lacking);
});

it('of any request of a session are declared to a server of the older revisions that starts after it', async () => {
  const workspace = testWorkspace({ older: servers.conformance });
  const first = ModernCaller.on(new HostProcess(workspace));
  const args = { tool_id: await first.toolId('/older/test_roots'), args: {} };
  expect(textOf(await first.call('tool_execute', args))).toContain('this client has no roots');
  await waygate(workspace, ['stop']);
  const gateway = HttpProcess.waygate(workspace, ['--no-token']);
  const http = new ModernHttp(await gateway.url());
  // A worker that knows the tools starts no server for a list.
  expect(await http.caller().toolId('/older/test_roots')).toBe(args.tool_id);
  const asked = askedIn(await http.caller(ROOTS).call('tool_execute', args));
  expect(asked.inputRequests).toEqual({ question: { method: 'roots/list', params: {} } });
  expect(textOf(await http.caller(ROOTS).call('tool_execute', args, answering(asked, HERE)))).toContain('file:///here');
  // The running server may ask, and learns of no folder.
  expect(textOf(await http.caller().call('tool_execute', args))).toContain('[]');
});

it('never reach a server whose arguments name a folder', async () => {
  const { command, args } = servers.modern();
  const workspace = testWorkspace({ modern: { command, args: [...args, '/tmp'] } });
  const client = ModernCaller.on(new HostProcess(workspace, PASSTHROUGH), ROOTS);
  const answer = await client.call('roots', {});
  expect(textOf(answer)).toContain('The server requires roots of its client, which it was not offered');
});
