import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RUN_MARKER } from '../../src/upstream/childEnvironment.ts';
import { processStart } from '../../src/upstream/processStart.ts';
import { endChild, groupExists, killMarked, markedProcesses } from '../../src/upstream/processTree.ts';
import { isAlive, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

/** A fixture server that leads its own group, as the gateway starts them, and the pids of all its processes. */
async function start(...flags: string[]): Promise<{ child: ChildProcess; pids: number[]; run: string }> {
  const pidFile = join(temporaryFolder('wg-tree-'), 'pids');
  const { command, args } = servers.fixture(...flags, '--pid-file', pidFile);
  const run = `test-${process.pid}-${performance.now()}`;
  const child = spawn(command, args, { detached: true, env: { ...process.env, [RUN_MARKER]: run } });
  child.stdin.on('error', () => undefined);
  const pids = await until('its pids', () => {
    try {
      return (
        readFileSync(pidFile, 'utf8').endsWith('\n') && readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
      );
    } catch {
      return false;
    }
  });
  onTestFinished(() => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { child, pids, run };
}

describe.skipIf(process.platform === 'win32')('ending a server', () => {
  it.each([
    ['goes at the end of its input', []],
    ['ignores it and goes at TERM', ['--ignore-eof']],
    ['ignores both', ['--ignore-eof', '--ignore-term']],
    ['never reads', ['--never-read']],
  ])('takes three seconds at most where it %s', async (_what, flags) => {
    const { child, pids } = await start(...flags);
    const asked = performance.now();
    await endChild(child);
    expect(performance.now() - asked).toBeLessThan(3_000);
    expect(groupExists(child.pid as number)).toBe(false);
    expect(pids.filter(isAlive)).toEqual([]);
    // Asking again costs nothing.
    await endChild(child);
  });

  it.runIf(process.platform === 'linux')('finds by their mark those that left its group, and nobody else', async () => {
    const { child, pids, run } = await start('--grandchild');
    const other = await start();
    expect((await markedProcesses(run)).sort()).toEqual([...pids].sort());
    await endChild(child);
    expect(pids.filter(isAlive)).toEqual([pids[1]]);
    await killMarked(run);
    await until('the grandchild to be gone', () => !isAlive(pids[1] as number));
    expect(other.pids.filter(isAlive)).toEqual(other.pids);
  });

  it('tells a process from a later one by when it started', async () => {
    const { child } = await start();
    const first = await processStart(child.pid as number);
    expect(first).toMatch(/\S/);
    expect(await processStart(child.pid as number)).toBe(first);
    expect(await processStart(process.pid)).not.toBe(first);
    await endChild(child);
    expect(await processStart(child.pid as number)).toBeUndefined();
  });
});
