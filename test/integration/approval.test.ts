import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { GatewaySnapshot } from '../../src/control/contract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { approveShown, status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WORKER } from '../support/workspace.ts';

/** Writes the file like a cloned repository: no server is approved. */
function write(workspace: TestWorkspace, entries: Record<string, unknown>): void {
  writeFileSync(workspace.configFile, JSON.stringify({ servers: entries }));
}

const stateOf = async (workspace: TestWorkspace, name: string): Promise<string | undefined> =>
  (await status(workspace)).servers.find((server) => server.name === name)?.state;

describe('a server that a repository configures', () => {
  it('does not start before the user approves it, and is listed as waiting for approval', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    write(workspace, {
      one: servers.fixture('--pid-file', pids),
      two: servers.fixture('--tools', '7', '--pid-file', pids),
    });
    const host = await GatewaySession.connect(workspace);
    expect((await host.call('tool_browse', { path: '/' })).text).toContain(
      'Needs approval: one, two (ask the user: waygate approve --all).',
    );
    const { servers: states, worker } = await status(workspace);
    expect(worker?.state).toBe('degraded');
    expect(states).toMatchObject([{ state: 'needs_approval' }, { state: 'needs_approval' }]);
    expect(states[0]?.reason).toMatch(/has not been approved for this workspace\.$/);
    const shown = await waygate(workspace, ['approve']);
    expect(shown.stdout).toMatch(/^"one" \(not approved, hash [0-9a-f]{8}\)\n {2}runs \S+node /);
    expect(shown.stdout).toContain(`--pid-file ${pids}\n  in ${workspace.folder}\n`);
    expect(await stateOf(workspace, 'one')).toBe('needs_approval');
    expect(readFileSync(pids, 'utf8')).toBe('');
    await approveShown(workspace, 'one');
    await host.toolId('/one/echo');
    expect(await stateOf(workspace, 'two')).toBe('needs_approval');
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
    await approveShown(workspace);
    await host.toolId('/two/echo');
  });

  it('needs approval again after a change, and runs again if the change is reverted', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids) });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    write(workspace, { one: servers.fixture('--pid-file', pids, '--wild') });
    await until('the change', async () => (await stateOf(workspace, 'one')) === 'needs_approval');
    // The approval still covers the earlier entry, and its catalog is known.
    write(workspace, { one: servers.fixture('--pid-file', pids) });
    await until('the way back', async () => (await stateOf(workspace, 'one')) === 'ready');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
  });

  it('can be browsed if its catalog is known, but its calls are refused', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    await waygate(workspace, ['catalog']);
    await stopGateway(workspace);
    // Clears the user's approvals.
    writeFileSync(`${workspace.stateDir}/approvals.json`, '{}');
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
    expect(answer.text).toMatch(
      /^Error PERMISSION_DENIED: one waits for the user's approval: .* Nothing was sent\. Ask the user to see what it runs/,
    );
    expect(answer.text).toMatch(/\ncommand: waygate approve one$/m);
    expect(await stateOf(workspace, 'one')).toBe('needs_approval');
    await approveShown(workspace);
    await until('an answer', async () => {
      const next = await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
      return next.text === 'ok\nhi\n';
    });
  });

  it('is approved over the control channel only with the hash that was shown', async () => {
    const workspace = testWorkspace();
    write(workspace, { one: servers.fixture() });
    const runtime = {
      workspace: workspace.folder,
      nodePath: process.execPath,
      workerScript: WORKER,
      stateDir: workspace.stateDir,
      env: workspace.env,
    };
    const control = await attachControl(runtime, { start: true, holds: true });
    if (!control) throw new Error('no worker');
    const [one] = (await control.request('status', {})).servers;
    expect(one?.approval?.lines[0]).toMatch(/^runs \S+node /);
    const stateAfter = async (hash: string): Promise<GatewaySnapshot['servers'][number] | undefined> =>
      (await control.request('approve', { hashes: [hash] })).servers[0];
    expect(await stateAfter('0'.repeat(64))).toMatchObject({ state: 'needs_approval' });
    expect((await stateAfter(one?.approval?.hash as string))?.state).toBe('starting');
    control.dispose();
  });

  it.each([
    [['approve', 'tow'], /configures no server "tow"; did you mean "two"\?/],
    [['approve', 'nothing-like-it'], /configures no server "nothing-like-it"; it has one, two\./],
  ])('is reported as unknown if its name is wrong: %j', async (args, sentence) => {
    const workspace = testWorkspace();
    write(workspace, { one: servers.fixture(), two: servers.fixture() });
    const { code, stderr } = await waygate(workspace, args);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
  });
});
