import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { AuthorizationServer, browse } from '../support/authorizationServer.ts';
import { runtimeOf, status, stopGateway } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer } from '../support/httpServer.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const write = (file: string, content: object): void => writeFileSync(file, JSON.stringify(content));
const stateOf = async (workspace: TestWorkspace): Promise<string | undefined> =>
  (await status(workspace)).servers[0]?.state;

it('a rule that allows a server of the user allows none of a workspace with its name', async () => {
  const workspace = testWorkspace();
  const rule = { action: 'allow', server: 'github' };
  write(workspace.userConfigFile, { policy: { default: 'require_approval', rules: [rule] } });
  workspace.configure({ github: servers.fixture() });
  const host = await GatewaySession.connect(workspace);
  const id = await host.toolId('/github/echo');
  const run = async () => (await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text;
  expect(await run()).toMatch(/^Error AUTH_REQUIRED/);
  write(workspace.userConfigFile, {
    policy: { default: 'require_approval', rules: [{ ...rule, origin: 'workspace' }] },
  });
  await until('the new rule', async () => (await run()) === 'ok\nhi\n');
});

it('a rule that forbids a tool holds for names that look like it', async () => {
  const workspace = testWorkspace();
  // The scan holds names with hidden characters or of several scripts back.
  const names = ['delete_row', 'Delete_Row', 'DELETE_ROW', 'deIete_row', 'read_row'];
  write(workspace.userConfigFile, {
    servers: { db: servers.fixture('--names', JSON.stringify(names)) },
    policy: { rules: [{ action: 'deny', tool: 'delete_row' }] },
  });
  const host = await GatewaySession.connect(workspace);
  await host.toolId('/db');
  const { structured } = await host.call('tool_browse', { query: 'called', top_k: 50, render: 'json' });
  const ran: string[] = [];
  const denied: string[] = [];
  for (const { id } of (structured?.cards ?? []) as { id: string }[]) {
    const { text } = await host.call('tool_execute', { tool_id: id, args: {} });
    if (text.startsWith('Error POLICY_DENIED')) denied.push(id);
    else if (/^ok\ncalled /.test(text)) ran.push(text);
  }
  expect(denied).toHaveLength(4);
  expect(ran).toEqual(['ok\ncalled read_row\n']);
});

it('a server of a workspace gets no sign-in of a server of the user with its name and address', async () => {
  const issuer = await AuthorizationServer.start();
  onTestFinished(() => issuer.close());
  const { url } = await httpServer('--issuer', issuer.issuer);
  const workspace = testWorkspace();
  write(workspace.userConfigFile, { servers: { one: { url } } });
  const host = await GatewaySession.connect(workspace);
  await until('the refusal', async () => (await stateOf(workspace)) === 'needs_sign_in');
  const control = await attachControl(runtimeOf(workspace), { start: false, holds: false });
  const begun = await control?.request('signIn', { server: 'one' });
  await browse((begun as { url: string }).url);
  expect(await control?.request('signInEnd', { server: 'one' })).toEqual({});
  control?.dispose();
  await host.toolId('/one/echo');
  await stopGateway(workspace);
  write(workspace.userConfigFile, {});
  workspace.configure({ one: { url } });
  const later = await GatewaySession.connect(workspace);
  await later.call('tool_browse', { path: '/' });
  await until('the refusal', async () => (await stateOf(workspace)) === 'needs_sign_in');
  expect(issuer.authorizations).toHaveLength(1);
});
