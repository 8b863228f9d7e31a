import { describe, expect, it } from 'vitest';
import type { HealthReport, TelemetryReport } from '../../src/control/healthContract.ts';
import { rendezvous, waygate } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** A real gateway with one server that has a standby, and the processes of that server that were started. */
async function gateway(...flags: string[]) {
  const workspace = testWorkspace();
  const pids = workspace.write('pids.txt', '');
  const effects = workspace.write('effects.txt', '');
  const given = servers.fixture('--pid-file', pids, '--effects', effects, ...flags);
  workspace.configure({ one: { ...given, standby: true } });
  const host = await HostProcess.connect(workspace);
  await host.toolId('/one/wait');
  return {
    workspace,
    host,
    started: () => pidsIn(pids),
    effects: () => linesOf(effects),
  };
}

async function healthOf(workspace: TestWorkspace): Promise<HealthReport['servers'][number]> {
  const { stdout } = await waygate(workspace, ['health', '--json']);
  return (JSON.parse(stdout) as HealthReport).servers[0] as HealthReport['servers'][number];
}

const standbyOf = (workspace: TestWorkspace): Promise<number> =>
  until('a standby', async () => {
    const { standby } = await healthOf(workspace);
    return standby?.state === 'ready' ? standby.pid : undefined;
  });

describe('a server with a standby behind a gateway', () => {
  it('is killed in the middle of a call: one answer that tells, one effect, and the next call goes to the one in reserve', async () => {
    const { workspace, host, started, effects } = await gateway();
    const reserve = await standbyOf(workspace);
    const [serving] = started() as [number];
    expect((await waygate(workspace, ['health'])).stdout).toMatch(/^one: ready, up \d+ s, standby ready$/m);
    const lost = host.call('tool_execute', { tool_id: 'one:wait', args: { ms: 60_000, nonce: 'a' } });
    await until('the effect', () => effects().length === 1);
    process.kill(serving, 'SIGKILL');
    expect(await lost).toMatchObject({ isError: true, text: expect.stringContaining('outcome: unknown') });
    const next = await host.call('tool_execute', { tool_id: 'one:wait', args: { ms: 0, nonce: 'b' } });
    expect(next).toMatchObject({ isError: false });
    expect(started().slice(0, 2)).toEqual([serving, reserve]);
    expect(isAlive(reserve)).toBe(true);
    expect(effects()).toEqual(['a', 'b']);
    expect(await standbyOf(workspace)).not.toBe(reserve);
  });

  it('leaves neither of its processes when the gateway is stopped', async () => {
    const { workspace, started } = await gateway('--ignore-eof');
    await standbyOf(workspace);
    expect((await waygate(workspace, ['stop'])).code).toBe(0);
    await until('their end', () => started().every((pid) => !isAlive(pid)));
    expect(started()).toHaveLength(2);
  });

  it('leaves neither to the successor of a killed worker', async () => {
    const { workspace, host, started } = await gateway('--ignore-eof');
    await standbyOf(workspace);
    const before = started();
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await until('a successor that serves', async () => {
      const answer = await host.call('tool_execute', { tool_id: 'one:wait', args: { ms: 0 } });
      return !answer.isError;
    });
    // It starts nothing before what was left has been ended.
    expect(before).toHaveLength(2);
    expect(before.filter(isAlive)).toEqual([]);
    await standbyOf(workspace);
  });

  it('has both replaced when another gateway takes over', async () => {
    const { workspace, host, started } = await gateway();
    await standbyOf(workspace);
    const before = started();
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    await until('their end', () => before.every((pid) => !isAlive(pid)));
    expect(await host.call('tool_execute', { tool_id: 'one:wait', args: { ms: 0 } })).toMatchObject({ isError: false });
  });
});

describe('what servers do that none should', () => {
  it('is told by health and telemetry, on the command line and as resources', async () => {
    const workspace = testWorkspace({ one: servers.fixture('--banner') });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const words = 'lines on stdout that are no messages';
    expect((await healthOf(workspace)).oddities).toEqual([{ kind: 'garbage_line', count: 2, words }]);
    expect((await waygate(workspace, ['health'])).stdout).toContain(`\n  odd: ${words} (2)\n`);
    const { stdout } = await waygate(workspace, ['telemetry', '--json']);
    expect((JSON.parse(stdout) as TelemetryReport).oddities).toEqual([
      { server: 'one', kind: 'garbage_line', count: 2, words },
    ]);
    const read = async (uri: string) => {
      const { result } = await host.request('resources/read', { uri });
      return JSON.stringify(result?.contents);
    };
    expect(await read('waygate://health')).toContain(`odd: ${words} (2)`);
    expect(await read('waygate://telemetry')).toMatch(new RegExp(`one +2 +${words}`));
  });
});
