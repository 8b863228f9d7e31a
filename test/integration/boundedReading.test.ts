import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationFile } from '../../src/extension/configuration/configurationFile.ts';
import { stopGateway, waygate } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const MIB = 1024 * 1024;
const many = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join();

/** Puts something hostile in place of a file. */
const HOSTILE: Record<string, (file: string) => void> = {
  'a link to /dev/zero': (file) => symlinkSync('/dev/zero', file),
  'a named pipe': (file) => void execFileSync('mkfifo', [file]),
  'a folder': (file) => mkdirSync(file),
  'a file of 60 MB': (file) => {
    writeFileSync(file, '');
    truncateSync(file, 60 * MIB);
  },
};
const CONFIGURATIONS: typeof HOSTILE = {
  ...HOSTILE,
  '100,000 servers': (file) => writeFileSync(file, `{"servers": {${many(100_000, (n) => `"${n}":{}`)}}}`),
  '100,000 unknown keys': (file) => writeFileSync(file, `{${many(100_000, (n) => `"${n}":1`)}}`),
  '1,000 servers': (file) => writeFileSync(file, `{"servers": {${many(1_000, (n) => `"s${n}":{"command":"x"}`)}}}`),
};

/** Workspace whose user has a server of his own. Its processes record what they read. */
function withOwnServer(): TestWorkspace & { reads(): { read: number; peak: number }[] } {
  const workspace = testWorkspace();
  writeFileSync(workspace.userConfigFile, JSON.stringify({ servers: { mine: servers.fixture() } }));
  rmSync(workspace.configFile, { force: true });
  const log = join(workspace.stateDir, '..', 'reads');
  workspace.env = {
    ...workspace.env,
    NODE_OPTIONS: `--require ${resolve('test/fixtures/readProbe.cjs')}`,
    WAYGATE_READS: log,
  };
  return {
    ...workspace,
    reads: () =>
      readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

/** Lists what would run, and runs a tool of the user's own server. Returns the list. */
async function useGateway(workspace: ReturnType<typeof withOwnServer>): Promise<string> {
  const listed = await waygate(workspace, ['approve']);
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/mine/echo');
  expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
  host.child.stdin.end();
  await host.exited;
  await stopGateway(workspace);
  const reads = workspace.reads();
  // The command, the host and the worker.
  expect(reads.length).toBeGreaterThanOrEqual(3);
  // Far below the size of the file, and enough for the programs themselves.
  expect(Math.max(...reads.map(({ read }) => read))).toBeLessThan(40 * MIB);
  expect(Math.max(...reads.map(({ peak }) => peak))).toBeLessThan(400 * MIB);
  return listed.stdout;
}

describe.skipIf(process.platform !== 'linux')('in a workspace whose file is hostile', () => {
  it.each(Object.keys(CONFIGURATIONS))('the own servers of the user work beside %s', async (kind) => {
    const workspace = withOwnServer();
    CONFIGURATIONS[kind]?.(workspace.configFile);
    expect(await useGateway(workspace)).toContain('"mine" (needs no approval)');
  });

  it.each(Object.keys(HOSTILE))('the own servers of the user work if envFile is %s', async (kind) => {
    const workspace = withOwnServer();
    writeFileSync(workspace.configFile, JSON.stringify({ servers: { theirs: { command: 'x', envFile: '.env' } } }));
    HOSTILE[kind]?.(join(workspace.folder, '.env'));
    expect(await useGateway(workspace)).not.toContain('"theirs"');
  });

  it('no file behind a link is read or shown', async () => {
    const workspace = withOwnServer();
    const secret = join(workspace.stateDir, '..', 'private');
    writeFileSync(secret, 'TOKEN=canary-31337\n');
    symlinkSync(secret, join(workspace.folder, '.env'));
    writeFileSync(workspace.configFile, JSON.stringify({ servers: { theirs: { command: 'x', envFile: '.env' } } }));
    expect(await useGateway(workspace)).not.toContain('canary');
    const status = await waygate(workspace, ['catalog', '--json']);
    expect(status.stdout + status.stderr).not.toContain('canary');
    symlinkSync(secret, join(workspace.folder, '.mcp.json'));
    const imported = await waygate(workspace, ['import', '--all', '--dry-run']);
    expect(imported.stderr).toContain('a link leads out of');
  });
});

describe('the extension', () => {
  const hashIn = async (isTrusted: boolean, write: (file: string) => void): Promise<string | undefined> => {
    const { folder, configFile } = testWorkspace();
    rmSync(configFile, { force: true });
    write(configFile);
    return (await new ConfigurationFile(configFile, { folder, isTrusted: () => isTrusted }).check()).hash;
  };

  it.skipIf(process.platform === 'win32').each(Object.keys(HOSTILE))('does not read %s', async (kind) => {
    expect(await hashIn(true, HOSTILE[kind] as (file: string) => void)).toBe('unreadable');
  });

  it('reads nothing of an untrusted workspace', async () => {
    expect(await hashIn(false, (file) => writeFileSync(file, '{}'))).toBe('unread');
    expect(await hashIn(false, () => undefined)).toBeUndefined();
    expect(await hashIn(true, (file) => writeFileSync(file, '{}'))).toMatch(/^[0-9a-f]{12}$/);
  });
});
