import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const execute = async (host: StreamClient, path: string, args: object = {}): Promise<string> =>
  (await host.call('tool_execute', { tool_id: await host.toolId(path), args })).text;
const count = async (host: StreamClient): Promise<number> => Number(/\d+/.exec(await execute(host, '/one/count'))?.[0]);

/** Configures a server that counts its calls in memory, and returns the processes that it has started. */
function counting(sharing: string): { workspace: TestWorkspace; pids(): number[] } {
  const workspace = testWorkspace();
  const file = join(workspace.folder, 'pids');
  workspace.configure({ one: { ...servers.fixture('--counts', '--pid-file', file), sharing } });
  return { workspace, pids: () => readFileSync(file, 'utf8').trim().split('\n').map(Number) };
}

describe('a server that remembers its calls', () => {
  it('has one memory for all clients of the workspace', async () => {
    const { workspace } = counting('workspace');
    const [a, b] = [await GatewaySession.connect(workspace), await GatewaySession.connect(workspace)];
    expect([await count(a), await count(b), await count(a)]).toEqual([1, 2, 3]);
  });

  it('has a memory for each session if it is shared by session, and ends with the session', async () => {
    const { workspace, pids } = counting('session');
    const [a, b] = [await GatewaySession.connect(workspace), await GatewaySession.connect(workspace)];
    expect([await count(a), await count(b), await count(a), await count(b)]).toEqual([1, 1, 2, 2]);
    const [, ofA, ofB] = pids();
    a.end();
    await until('the end of its server', () => !isAlive(ofA as number));
    expect(isAlive(ofB as number)).toBe(true);
    expect(await count(b)).toBe(3);
    const c = await GatewaySession.connect(workspace, ['--mode', 'passthrough']);
    const answer = await c.request('tools/call', { name: 'count', arguments: {} });
    expect(JSON.stringify(answer.result)).toMatch(/"1\b/);
  });

  it('serves each session alone on the next worker too', async () => {
    const { workspace } = counting('session');
    const [a, b] = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)];
    expect([await count(a), await count(b), await count(a)]).toEqual([1, 1, 2]);
    process.kill((rendezvous(workspace) as { pid: number }).pid, 'SIGKILL');
    await until('the loss', () => a.stderr.includes('worker lost') && b.stderr.includes('worker lost'));
    expect([await count(a), await count(b), await count(a), await count(b)]).toEqual([1, 1, 2, 2]);
  });

  it('is sequential-thinking, whose thoughts of two clients stay apart', async () => {
    const workspace = testWorkspace();
    const program = resolve('node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js');
    workspace.configure({ thinking: { command: process.execPath, args: [program], sharing: 'session' } });
    const [a, b] = [await GatewaySession.connect(workspace), await GatewaySession.connect(workspace)];
    const think = async (host: StreamClient, thoughtNumber: number) => {
      const args = { thought: 'x', nextThoughtNeeded: true, thoughtNumber, totalThoughts: 3 };
      const text = await execute(host, '/thinking/sequentialthinking', args);
      return Number(/"?thoughtHistoryLength"?: (\d+)/.exec(text)?.[1]);
    };
    expect([await think(a, 1), await think(a, 2), await think(b, 1), await think(a, 3)]).toEqual([1, 2, 1, 3]);
  });
});
