import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RUN_MARKER } from '../../src/upstream/process/childEnvironment.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { processStart } from '../../src/upstream/process/processStart.ts';
import { isAlive, until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

const journals = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('children-'));

async function sleeper(run = 'none'): Promise<ChildProcess> {
  const child = spawn('sleep', ['600'], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, [RUN_MARKER]: run },
  });
  await once(child, 'spawn');
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function plant(folder: string, content: unknown): string {
  const file = join(folder, 'children-planted.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return file;
}

/** A worker that has ended. */
const DEAD = { pid: 2 ** 22 - 3, started: '1' };

describe.skipIf(process.platform === 'win32')('the child journal', () => {
  it('names its run before the first child, and every child while it lives', async () => {
    const folder = temporaryFolder('wg-journal-');
    const journal = new ChildJournal(folder);
    await journal.ready;
    const [name] = journals(folder);
    const read = () => JSON.parse(readFileSync(join(folder, name as string), 'utf8')) as Record<string, unknown>;
    expect(read()).toEqual({
      run: journal.run,
      worker: { pid: process.pid, started: await processStart(process.pid) },
      children: [],
    });
    expect(statSync(join(folder, name as string)).mode & 0o777).toBe(0o600);
    const child = await sleeper();
    await journal.add(child.pid as number);
    expect(read().children).toEqual([{ pid: child.pid, started: await processStart(child.pid as number) }]);
    journal.remove(child.pid as number);
    expect(read().children).toEqual([]);
    await journal.close();
    expect(journals(folder)).toEqual([]);
  });

  it('does not end children of a living worker', async () => {
    const folder = temporaryFolder('wg-journal-');
    const first = new ChildJournal(folder);
    await first.ready;
    const child = await sleeper(first.run);
    await first.add(child.pid as number);
    const second = new ChildJournal(folder);
    expect(await second.orphansEnded).toBe(0);
    expect(isAlive(child.pid as number)).toBe(true);
    expect(journals(folder)).toHaveLength(1);
  });

  it('ends the children of a dead worker and deletes the journal', async () => {
    const folder = temporaryFolder('wg-journal-');
    const child = await sleeper('run-of-the-dead');
    const started = (await processStart(child.pid as number)) as string;
    plant(folder, { run: 'run-of-the-dead', worker: DEAD, children: [{ pid: child.pid, started }] });
    expect(await new ChildJournal(folder).orphansEnded).toBe(1);
    await until('the child to be gone', () => !isAlive(child.pid as number));
    expect(journals(folder).filter((name) => name.includes('planted'))).toEqual([]);
  });

  it.each([
    ['a server has to start', 0, (journal: ChildJournal) => journal.ready],
    ['the worker stops', 0, (journal: ChildJournal) => journal.close()],
    ['the first answers are given', 300, (journal: ChildJournal) => journal.orphansEnded],
  ])('searches for them only when %s', async (_when, afterMs, needed) => {
    const folder = temporaryFolder('wg-journal-');
    const child = await sleeper('run-of-the-dead');
    const started = (await processStart(child.pid as number)) as string;
    plant(folder, { run: 'run-of-the-dead', worker: DEAD, children: [{ pid: child.pid, started }] });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const journal = new ChildJournal(folder);
    for (let i = 0; i < 20; i++) await processStart(process.pid);
    expect(journals(folder)).toEqual(['children-planted.json']);
    expect(isAlive(child.pid as number)).toBe(true);
    const searched = needed(journal);
    vi.advanceTimersByTime(afterMs);
    vi.useRealTimers();
    await searched;
    await until('the child to be gone', () => !isAlive(child.pid as number));
    await journal.close();
  });

  it.skipIf(process.platform === 'win32')('does not believe a journal that another user may have written', async () => {
    const folder = temporaryFolder('wg-journal-');
    const stranger = await sleeper('planted-run');
    const started = (await processStart(stranger.pid as number)) as string;
    plant(folder, { run: 'planted-run', worker: DEAD, children: [{ pid: stranger.pid, started }] });
    for (const name of journals(folder)) chmodSync(join(folder, name), 0o666);
    expect(await new ChildJournal(folder).orphansEnded).toBe(0);
    expect(isAlive(stranger.pid as number)).toBe(true);
  });

  it.runIf(process.platform === 'linux')('ends a process that started just before the worker was killed', async () => {
    const folder = temporaryFolder('wg-journal-');
    const child = await sleeper('run-unlisted');
    plant(folder, { run: 'run-unlisted', worker: DEAD, children: [] });
    expect(await new ChildJournal(folder).orphansEnded).toBe(1);
    await until('the child to be gone', () => !isAlive(child.pid as number));
  });

  it('does not end another process that has received the id of a child', async () => {
    const folder = temporaryFolder('wg-journal-');
    const stranger = await sleeper('another-run');
    plant(folder, { run: 'run-x', worker: DEAD, children: [{ pid: stranger.pid, started: '1' }] });
    expect(await new ChildJournal(folder).orphansEnded).toBe(0);
    expect(isAlive(stranger.pid as number)).toBe(true);
  });

  it.each(['', '{"run": "x"', '[]', '{"run":"x","worker":{"pid":"7"},"children":[]}', 'null'])(
    'deletes the invalid journal %j',
    async (text) => {
      const folder = temporaryFolder('wg-journal-');
      plant(folder, text);
      const journal = new ChildJournal(folder);
      expect(await journal.orphansEnded).toBe(0);
      await journal.ready;
      expect(journals(folder)).toEqual([`children-${journal.run}.json`]);
    },
  );

  it('affects nothing else if the folder is missing', async () => {
    const journal = new ChildJournal('/nowhere/at/all');
    await journal.ready;
    await journal.add(process.pid);
    journal.remove(process.pid);
    await journal.close();
  });
});
