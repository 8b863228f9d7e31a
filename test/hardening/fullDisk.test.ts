import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rendezvous, status } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { atEnd } from '../support/lifetime.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Writes until the disk has no room left. */
function fill(file: string): void {
  for (const bytes of [4_096, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch {
      // The disk is full for writes of this size.
    }
  }
}

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

it.runIf(isRoot)('a killed worker returns on a full disk', async (context) => {
  const workspace = testWorkspace();
  mkdirSync(workspace.stateDir, { mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', workspace.stateDir], { stdio: 'ignore' });
  } catch {
    context.skip('mounts are not permitted');
  }
  atEnd(() => void execFileSync('umount', ['-l', workspace.stateDir]));
  workspace.configure({ one: servers.fixture() });
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/echo');
  fill(join(workspace.stateDir, 'filler'));
  const killed = rendezvous(workspace)?.pid as number;
  for (const text of ['first', 'second']) {
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    const answer = await host.call('tool_execute', { tool_id: id, args: { text } });
    expect(answer).toMatchObject({ isError: false, text: `ok\n${text}\n` });
  }
  expect((await status(workspace)).worker?.pid).not.toBe(killed);
});
