import { expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { ModernCaller, ModernHttp } from '../support/modernClient.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

it('reports the revision that each client speaks in waygate status, as text and as JSON', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  await HostProcess.connect(workspace);
  await ModernCaller.on(new HostProcess(workspace)).toolId('/one/echo');
  const gateway = HttpProcess.waygate(workspace, ['--no-token', '--mode', 'passthrough']);
  await new ModernHttp(await gateway.url()).caller().request('tools/list');
  const told = await until('three sessions', async () => {
    const { sessions } = JSON.parse((await waygate(workspace, ['status', '--json'])).stdout);
    return sessions.length === 3 ? sessions : undefined;
  });
  expect(
    told.map(({ client, protocolVersion, mode }: Record<string, string>) => [client, protocolVersion, mode]).sort(),
  ).toEqual([
    ['modern-client', '2026-07-28', 'gateway'],
    ['modern-client', '2026-07-28', 'passthrough'],
    ['test-client', '2025-11-25', 'gateway'],
  ]);
  const { stdout } = await waygate(workspace, ['status']);
  expect(stdout).toMatch(/\n {2}modern-client 2\.0\.0, MCP 2026-07-28, gateway mode, for /);
  expect(stdout).toMatch(/\n {2}modern-client 2\.0\.0, MCP 2026-07-28, passthrough mode, for /);
});
