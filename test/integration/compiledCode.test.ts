import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { status, waygate } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('the compile cache of a worker', () => {
  it('is kept for the next worker, and not passed to servers', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    expect(await host.toolId('/one/echo')).toContain('echo');
    const { worker, servers: running } = await status(workspace);
    const environmentOf = (pid: number | undefined) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const variable = environmentOf(worker?.pid).find((entry) => entry.startsWith('NODE_COMPILE_CACHE='));
    const parent = join(workspace.stateDir, 'compile-cache');
    expect(variable?.slice('NODE_COMPILE_CACHE='.length).startsWith(`${parent}/`)).toBe(true);
    expect(environmentOf(running[0]?.pid).join('\n')).not.toContain('NODE_COMPILE_CACHE');
    await waygate(workspace, ['stop']);
    // Node writes one file for each compiled module, including the worker's own.
    const files = globSync('*/*/*', { cwd: parent }).map((name) => readFileSync(join(parent, name)).length);
    expect(Math.max(...files)).toBeGreaterThan(100_000);
  });

  it.each([
    [
      'is damaged',
      (parent: string) => {
        for (const name of globSync('*/*/*', { cwd: parent })) writeFileSync(join(parent, name), 'no code of ours');
      },
    ],
    [
      'cannot be written',
      (parent: string) => {
        rmSync(parent, { recursive: true });
        writeFileSync(parent, '');
      },
    ],
    [
      'is empty',
      (parent: string) => {
        rmSync(parent, { recursive: true });
        mkdirSync(parent);
      },
    ],
  ])('is not needed: a worker starts if it %s', async (_, spoil) => {
    const workspace = testWorkspace({ one: servers.fixture() });
    await HostProcess.connect(workspace);
    await waygate(workspace, ['stop']);
    spoil(join(workspace.stateDir, 'compile-cache'));
    const host = await HostProcess.connect(workspace);
    expect(await host.toolId('/one/echo')).toContain('echo');
  });
});
