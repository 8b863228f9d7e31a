import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { rendezvous, stateFolder, status, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';
import { servers, temporaryFolder, testWorkspace } from '../support/workspace.ts';

describe('kills at any moment', () => {
  it('of worker, server and other hosts lose no session, repeat no call and leave no process behind', {
    timeout: 120_000,
  }, async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids, '--effects', effects, '--grandchild') });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    // A fixed seed gives the same moments in every run.
    const random = new PseudoRandom(11);
    const outcomes = new Map<string, Awaited<ReturnType<HostProcess['call']>>>();
    for (let round = 0; round < 12; round++) {
      const calls = Array.from({ length: 5 }, async (_, i) => {
        const nonce = `${round}-${i}`;
        outcomes.set(nonce, await host.call('tool_execute', { tool_id: id, args: { ms: 30, nonce } }));
      });
      const browse = host.call('tool_browse', { path: '/one' });
      const bystander = new HostProcess(workspace);
      void bystander.initialize();
      await new Promise((done) => setTimeout(done, random.below(120)));
      // Each server writes its own id, then its grandchild's.
      const victim = round % 3 === 2 ? pidsIn(pids).at(-2) : rendezvous(workspace)?.pid;
      if (victim !== undefined && isAlive(victim)) process.kill(victim, 'SIGKILL');
      bystander.child.kill('SIGKILL');
      expect((await browse).isError).toBe(false);
      await Promise.all(calls);
      await host.toolId('/one/wait');
    }
    const ran = linesOf(effects);
    expect(new Set(ran).size).toBe(ran.length);
    expect(outcomes.size).toBe(60);
    for (const [nonce, { isError, text }] of outcomes) {
      if (!isError) expect(ran).toContain(nonce);
      else if (text.includes('not_dispatched')) expect(ran).not.toContain(nonce);
      else expect(text).toMatch(/outcome: unknown|There is no tool/);
    }
    // Exactly one reply per id, and no other message.
    const ids = host.lines.map((line) => (JSON.parse(line) as { id: number }).id);
    expect(new Set(ids).size).toBe(ids.length);
    host.end();
    expect(await host.exited).toBe(0);
    await until('the last worker to exit', async () => (await workersOf(workspace)).length === 0);
    const started = pidsIn(pids);
    expect(started.length).toBeGreaterThan(10);
    // The worker waits for the server's own end. The rest of the group was killed with it, and is gone a moment later.
    await until('all processes to end', () => !started.some(isAlive));
  });
});

describe('files left behind by a kill', () => {
  it('an empty lock does not stop the next host from starting a worker', async () => {
    const workspace = testWorkspace({});
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
    // The host was killed between creating the file and writing its process id.
    writeFileSync(join(folder, 'start.lock'), '');
    const host = await HostProcess.connect(workspace);
    // test/host/startLock.test.ts checks how long such a lock is respected.
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
  });

  it('a half-written rendezvous file, journal and lock of dead processes are replaced', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
    writeFileSync(join(folder, 'worker.json'), '{"link":1,"pid":12,"socket":"/tmp/x","tok');
    writeFileSync(join(folder, 'start.lock'), String(2 ** 22 - 3));
    writeFileSync(join(folder, 'children-0123.json'), '{"run":"01');
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    expect(rendezvous(workspace)?.pid).toBeGreaterThan(0);
  });

  it('the socket of a killed worker is deleted by its successor', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const { pid, socket } = rendezvous(workspace) as { pid: number; socket: string };
    process.kill(pid, 'SIGKILL');
    await until('a successor', () => rendezvous(workspace)?.pid !== pid);
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
    const { existsSync } = await import('node:fs');
    expect(existsSync(socket)).toBe(false);
  });
});

/** Mounts a disk of one megabyte, if this user may. */
function smallDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folder = temporaryFolder('wg-disk-');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

function fill(folder: string): void {
  for (const [name, size] of [
    ['large', 65_536],
    ['small', 1],
  ] as const) {
    try {
      for (;;) writeFileSync(join(folder, name), 'x'.repeat(size), { flag: 'a' });
    } catch {
      // No chunk of this size fits any more.
    }
  }
}

describe('a full disk', () => {
  it('affects neither a running worker nor its successor', async (context) => {
    const disk = smallDisk();
    if (!disk) return context.skip('a small disk can only be mounted by root on Linux');
    const stateDir = join(disk, 'state');
    const workspace = testWorkspace();
    const there = { ...workspace, stateDir, env: { ...workspace.env, WAYGATE_STATE_DIR: stateDir } };
    mkdirSync(stateDir);
    // Workers keep no compiled code, which is as large as the disk: it would take the room that is made at the end.
    writeFileSync(join(stateDir, 'compile-cache'), '');
    const pids = workspace.write('pids.txt', '');
    // Each server writes to the log and the journal. Approve both configurations while there is room.
    const some = {
      one: servers.fixture(),
      two: { command: 'waygate-no-such-command' },
      three: servers.fixture('--garbage', '500', '--pid-file', pids),
    };
    const changed = { one: servers.fixture(), four: servers.fixture() };
    there.configure(changed);
    there.configure(some);
    const host = await HostProcess.connect(there);
    const id = await host.toolId('/one/echo');
    const third = await host.toolId('/three/echo');
    fill(disk);
    const [pid] = pidsIn(pids);
    process.kill(pid as number, 'SIGKILL');
    for (const tool_id of [id, third]) {
      await until('the answer', async () => {
        const { text } = await host.call('tool_execute', { tool_id, args: { text: 'fine' } });
        return text === 'ok\nfine\n';
      });
    }
    // Applying an edit needs no room, but a new server is not offered before its tools are pinned.
    there.configure(changed);
    const four = await until('the new server', async () =>
      (await status(there)).servers.find(({ name, reason }) => name === 'four' && reason !== undefined),
    );
    expect(four).toMatchObject({ toolCount: 0, reason: expect.stringMatching(/^Its tools could not be pinned/) });
    expect(await host.call('tool_execute', { tool_id: id, args: { text: 'fine' } })).toMatchObject({
      text: 'ok\nfine\n',
    });
    expect(host.stderr).toBe('');
    const worker = (await status(there)).worker?.pid as number;
    process.kill(worker, 'SIGKILL');
    const answer = await host.call('tool_browse', { path: '/' });
    expect(answer).toMatchObject({ isError: false });
    // The successor has listed the new server in vain too, before there is room.
    await until('the new server in the successor', async () => {
      const now = await status(there);
      const isHeld = now.servers.some(({ name, reason }) => name === 'four' && reason?.includes('could not be pinned'));
      return now.worker?.pid !== worker && isHeld;
    });
    // With free space the new server is pinned.
    execFileSync('rm', ['-f', join(disk, 'large'), join(disk, 'small')]);
    await until('an answer', async () => !(await host.call('tool_browse', { path: '/' })).isError);
    await host.toolId('/four/echo');
    expect(readFileSync(join(stateFolder(there), 'worker.json'), 'utf8')).toContain('token');
  });
});
