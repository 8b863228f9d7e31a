import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RUN_MARKER } from '../../src/upstream/process/childEnvironment.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { processStart } from '../../src/upstream/process/processStart.ts';
import { endChild, groupExists, killMarked, markedProcesses } from '../../src/upstream/process/processTree.ts';
import { connectStdio } from '../support/connection.ts';
import { isAlive, until } from '../support/hostProcess.ts';
import { waitedMs } from '../support/waitedMs.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

/** Starts a fixture server that leads its own group, as the gateway does, and returns the ids of all its processes. */
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

/** The gateway needs at most three seconds; the machine may need longer to remove the processes. */
const AT_MOST_MS = 6_000;

describe.skipIf(process.platform === 'win32')('ending a server', () => {
  it.each([
    ['ends at the end of its input', []],
    ['ignores that and ends at TERM', ['--ignore-eof']],
    ['ignores both', ['--ignore-eof', '--ignore-term']],
    ['never reads', ['--never-read']],
  ])('takes at most three seconds if it %s', async (_what, flags) => {
    const { child, pids } = await start(...flags);
    expect(await waitedMs(() => endChild(child))).toBeLessThan(AT_MOST_MS);
    expect(groupExists(child.pid as number)).toBe(false);
    expect(pids.filter(isAlive)).toEqual([]);
    // A second call has no effect.
    await endChild(child);
  });

  it.runIf(process.platform === 'linux')('finds processes outside its group by their mark, and no others', async () => {
    const { child, pids, run } = await start('--grandchild');
    const other = await start();
    expect((await markedProcesses(run)).sort()).toEqual([...pids].sort());
    await endChild(child);
    expect(pids.filter(isAlive)).toEqual([pids[1]]);
    await killMarked(run);
    await until('the grandchild to be gone', () => !isAlive(pids[1] as number));
    expect(other.pids.filter(isAlive)).toEqual(other.pids);
  });

  it('distinguishes a process from a later one by its start time', async () => {
    const { child } = await start();
    const first = await processStart(child.pid as number);
    expect(first).toMatch(/\S/);
    expect(await processStart(child.pid as number)).toBe(first);
    expect(await processStart(process.pid)).not.toBe(first);
    await endChild(child);
    expect(await processStart(child.pid as number)).toBeUndefined();
  });

  it('makes `ps` print the same start time for every caller, without variables of the editor', async () => {
    const folder = temporaryFolder('wg-ps-');
    writeFileSync(join(folder, 'ps'), `#!/bin/sh\nenv > '${folder}/seen'\necho "Wed Nov 18 21:00:00 2026"\n`, {
      mode: 0o755,
    });
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
    vi.stubEnv('TZ', 'Asia/Tokyo');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    vi.stubEnv('VSCODE_PID', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await processStart(process.pid, 'darwin')).toBe('Wed Nov 18 21:00:00 2026');
    const seen = readFileSync(join(folder, 'seen'), 'utf8').split('\n');
    expect(seen).toEqual(expect.arrayContaining(['LC_ALL=C', 'TZ=UTC']));
    expect(seen.filter((line) => /^(NODE_OPTIONS|VSCODE_)/.test(line))).toEqual([]);
  });
});

/** Makes a server that starts a process in its own session; the file `stray` has its id. */
function withStray(onTerm: string) {
  const file = join(temporaryFolder('wg-stray-'), 'pid');
  const stray = `trap '${onTerm}' TERM; echo $$ > '${file}'; while :; do sleep 0.1; done`;
  const { command, args } = servers.fixture();
  return {
    file,
    config: {
      command: '/bin/sh',
      args: ['-c', 'setsid sh -c "$1" & shift; exec "$@"', 'sh', stray, command, ...args],
    },
    stray: () =>
      until('the number of what it has started', () => existsSync(file) && Number(readFileSync(file, 'utf8'))),
  };
}

/** Connects servers of one run, and waits for their strays. */
async function running(...given: ReturnType<typeof withStray>[]) {
  const journal = new ChildJournal(temporaryFolder('wg-strays-'));
  onTestFinished(() => killMarked(journal.run));
  const connections = given.map(({ config }) => connectStdio(config, journal).connection);
  await Promise.all(connections.map((connection) => connection.start()));
  return { journal, connections, strays: await Promise.all(given.map(({ stray }) => stray())) };
}

describe.runIf(process.platform === 'linux')('a process outside the group of its server', () => {
  it('ends with its server, but not with another server of the run', async () => {
    const { connections, strays } = await running(withStray('exit'), withStray('exit'));
    await connections[0]?.stop();
    expect(strays.map(isAlive)).toEqual([false, true]);
    await connections[1]?.stop();
    expect(strays.map(isAlive)).toEqual([false, false]);
  });

  it('ends with a killed server, after any number of kills', async () => {
    const asked = join(temporaryFolder('wg-asked-'), 'asked');
    const one = withStray(`: > "${asked}"`);
    const { connections, journal } = await running(one);
    const connection = connections[0] as (typeof connections)[0];
    for (const generation of [1, 2, 3]) {
      const stray = await one.stray();
      rmSync(one.file);
      process.kill(connection.pid as number, 'SIGKILL');
      await until('the end of what it had started', () => !isAlive(stray));
      // The whole tree was to be killed, so TERM must not delay the next start.
      expect(existsSync(asked)).toBe(false);
      await until('its next start', () => connection.health.generation > generation && connection.state === 'ready');
    }
    await one.stray();
    await connection.stop();
    expect(await markedProcesses(journal.run)).toEqual([]);
  });

  it('gets TERM before KILL, like the server', async () => {
    const asked = join(temporaryFolder('wg-asked-'), 'asked');
    const { connections, strays } = await running(withStray(`: > "${asked}"; exit`));
    await connections[0]?.stop();
    expect(strays.map(isAlive)).toEqual([false]);
    expect(existsSync(asked)).toBe(true);
  });

  it('does not delay the next start', async () => {
    const one = withStray('');
    const { connections, strays } = await running(one);
    const connection = connections[0] as (typeof connections)[0];
    const { pid } = connection;
    await expect(connection.call('crash', {}, { timeoutMs: 5_000 })).rejects.toThrow();
    await until('its next process', () => connection.pid !== undefined && connection.pid !== pid);
    expect(strays.map(isAlive)).toEqual([true]);
    await until('the end of what it had started', () => !isAlive(strays[0] as number));
  });

  it('ends within three seconds, however much it and the server resist', async () => {
    const one = withStray('');
    // The leader ends at TERM, but slowly.
    one.config.args[1] = 'setsid sh -c "$1" & shift; trap "sleep 1.2; exit" TERM; "$@"; while :; do sleep 0.1; done';
    const { connections, strays } = await running(one);
    expect(await waitedMs(async () => connections[0]?.stop())).toBeLessThan(AT_MOST_MS);
    expect(strays.map(isAlive)).toEqual([false]);
  });
});
