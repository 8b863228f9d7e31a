import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous, stateFolder, waygate } from '../support/census.ts';
import { HostProcess, type RpcMessage, until } from '../support/hostProcess.ts';
import { linesOf, recordsOf } from '../support/lines.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

const pidOf = (workspace: TestWorkspace): number => rendezvous(workspace)?.pid as number;

async function killed(workspace: TestWorkspace): Promise<void> {
  const pid = pidOf(workspace);
  process.kill(pid, 'SIGKILL');
  await until('another worker', () => pidOf(workspace) !== pid);
}

/** Configures a server that logs every message it receives. `configure` edits its configuration. */
function watched(policy: object = {}, ...flags: string[]) {
  const workspace = testWorkspace();
  const log = workspace.write('received.jsonl', '');
  const configure = (more: object = {}): void => {
    const one = servers.fixture('--log', log, ...flags);
    writeFileSync(workspace.configFile, JSON.stringify({ policy, ...more, servers: { one } }));
  };
  configure();
  workspace.approve();
  const calls = (): number => linesOf(log).filter((line) => line.includes('tools/call')).length;
  const begins = (): number => linesOf(log).filter((line) => line.includes('"initialize"')).length;
  return { workspace, configure, calls, begins };
}

const textIn = ({ result }: RpcMessage): string => JSON.stringify(result ?? {});

/** Calls that may not be repeated; sending one elsewhere is its first dispatch (O3.2). */
describe('a call that has not reached its server', () => {
  it.each<[string, string[]]>([
    ['gateway', []],
    ['transparent', ['--mode', 'transparent']],
    ['passthrough', ['--mode', 'passthrough']],
  ])('because the server is starting is sent once by the next worker: %s', async (mode, args) => {
    const held = join(temporaryFolder('wg-held-'), 'held');
    const { workspace, calls, begins } = watched({}, '--start-held-by', held);
    const host = await HostProcess.connect(workspace, args);
    const nameIn = ({ result }: RpcMessage): string | undefined => {
      const { tools } = result as { tools: { name: string }[] };
      return tools.find((tool) => tool.name.endsWith('wait'))?.name;
    };
    const list = async (): Promise<string | undefined> => nameIn(await host.request('tools/list'));
    const id = mode === 'gateway' ? await host.toolId('/one/wait') : await until('its tools', list);
    // From now on the worker has a snapshot of its tools: the call starts the server.
    await killed(workspace);
    await host.request('tools/list');
    const starts = begins();
    writeFileSync(held, '');
    const execute = { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 0 } } };
    const direct = { name: id, arguments: { ms: 0 } };
    const call = host.request('tools/call', mode === 'passthrough' ? direct : execute);
    await until('its start', () => begins() > starts);
    expect(calls()).toBe(0);
    await killed(workspace);
    rmSync(held);
    expect(textIn(await call)).toContain('waited 0 ms');
    expect(calls()).toBe(1);
  });

  it('because it waits for the user survives configuration edits, and the user is asked once', async () => {
    const { workspace, configure, calls } = watched({ rules: [{ action: 'require_approval', tool: 'wait' }] });
    const host = await HostProcess.connect(workspace, [], { elicitation: {} });
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 0 } });
    const question = await until('the question', () => host.asked[0]);
    const log = join(stateFolder(workspace), 'worker.log');
    const applied = (): number => readFileSync(log, 'utf8').split('the edited configuration is in force').length - 1;
    for (let saved = 1; saved <= 4; saved++) {
      configure({ idleMinutes: saved });
      await until('the edit', () => applied() === saved);
    }
    expect(calls()).toBe(0);
    host.write(JSON.stringify({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: {} } }));
    expect(await call).toMatchObject({ isError: false, text: 'ok\nwaited 0 ms\n' });
    expect([calls(), host.asked.length]).toEqual([1, 1]);
    const events = (): string[] =>
      recordsOf(join(stateFolder(workspace), 'events.jsonl')).map(({ event }) => String(event));
    await until('its event', () => events().includes('execute.completed'));
    expect(events()).not.toContain('execute.failed');
  });

  it('because it waits for the user moves to the next worker together with the question', async () => {
    const { workspace, calls } = watched({ rules: [{ action: 'require_approval', tool: 'wait' }] });
    workspace.env.WAYGATE_DRAIN_MS = '300';
    const host = await HostProcess.connect(workspace, [], { elicitation: {} });
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 0 } });
    // Several reloads: the call ends none of the workers.
    for (let reloads = 1; reloads <= 3; reloads++) {
      const question = await until('the question', () => host.asked[reloads - 1]);
      expect((await waygate(workspace, ['reload'])).code).toBe(0);
      const isWithdrawn = ({ method, params }: RpcMessage): boolean =>
        method === 'notifications/cancelled' && params?.requestId === question.id;
      await until('its withdrawal', () => host.notifications.some(isWithdrawn));
    }
    expect(calls()).toBe(0);
    const last = await until('the last question', () => host.asked[3]);
    host.write(JSON.stringify({ jsonrpc: '2.0', id: last.id, result: { action: 'accept', content: {} } }));
    expect(await call).toMatchObject({ isError: false, text: 'ok\nwaited 0 ms\n' });
    expect(calls()).toBe(1);
    // The earlier workers log no event for the call.
    const events = (): string[] =>
      recordsOf(join(stateFolder(workspace), 'events.jsonl')).map(({ event }) => String(event));
    const ends = (): number => events().filter((event) => event === 'worker.stopped').length;
    await until('their ends', () => ends() === 3);
    await until('its event', () => events().includes('execute.completed'));
    expect(events()).not.toContain('execute.failed');
  });

  it('because it waits for the user is asked about again by the next worker after a kill', async () => {
    const { workspace, calls } = watched({ rules: [{ action: 'require_approval', tool: 'wait' }] });
    const host = await HostProcess.connect(workspace, [], { elicitation: {} });
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 0 } });
    await until('the question', () => host.asked.length === 1);
    host.answer('elicitation/create', () => ({ action: 'accept', content: {} }));
    await killed(workspace);
    expect(await call).toMatchObject({ isError: false, text: 'ok\nwaited 0 ms\n' });
    expect([calls(), host.asked.length]).toEqual([1, 2]);
  });
});
