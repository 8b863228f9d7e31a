import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import { CatalogSnapshots } from '../../src/upstream/listing/catalogSnapshots.ts';
import { snapshotKey } from '../../src/upstream/listing/snapshotKey.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { connectStdio } from '../support/connection.ts';
import { isAlive, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };
const textOf = (result: Record<string, unknown>): string => (result.content as { text: string }[])[0]?.text as string;

/** Makes consecutive connections of one server over one folder of snapshots, like consecutive workers. */
function lazyServer(idleMs = 3_600_000) {
  const folder = temporaryFolder('wg-lazy-');
  const catalogs = join(folder, 'catalogs');
  const next = (given: Partial<StdioServerConfig>) => {
    const snapshots: CatalogSnapshots = new CatalogSnapshots(catalogs, (line) => void link.log.push(line));
    const link = connectStdio(given, new ChildJournal(folder), { snapshots, idleMs: () => idleMs });
    link.connection.begin();
    return link;
  };
  /** Runs the server once, so that it has a snapshot. */
  const known = async (given: Partial<StdioServerConfig>): Promise<void> => {
    const { connection } = next(given);
    await connection.start();
    await connection.stop();
  };
  const file = (): string => join(catalogs, readdirSync(catalogs)[0] as string);
  return { next, known, catalogs, file };
}

describe('a server with a known catalog', () => {
  it('does not start before a call, reports that it starts, and lists in the background', async () => {
    const { next, known, file } = lazyServer();
    await known(servers.fixture('--instructions', 'Be kind.'));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const { connection, states } = next(servers.fixture('--instructions', 'Be kind.'));
    expect(connection.state).toBe('not_started');
    expect(connection.catalog).toMatchObject({
      tools: [{ name: 'echo' }, {}, {}, {}, {}, {}],
      instructions: 'Be kind.',
      capabilities: { tools: { listChanged: true } },
    });
    const before = connection.catalog;
    const progress: unknown[] = [];
    const call = connection.call('echo', { text: 'hi' }, { ...WAIT, onProgress: (one) => void progress.push(one) });
    expect(textOf(await call)).toBe('hi');
    expect(progress).toEqual([{ progress: 0, message: 'starting one' }]);
    await connection.refresh();
    expect(states).toEqual(['starting', 'ready']);
    // An unchanged list keeps the same catalog object.
    expect(connection.catalog).toBe(before);
  });

  it.each([
    ['other arguments', { args: ['x'] }],
    ['another variable', { env: { A: '1' } }],
    ['another folder', { cwd: '/' }],
    ['another command', { command: '/bin/cat' }],
  ])('starts if it is configured with %s', async (_what, change) => {
    const { next, known } = lazyServer();
    await known(servers.fixture());
    expect(next({ ...servers.fixture(), ...change }).connection.state).toBe('starting');
  });

  it('stays known if the value of a variable changes', async () => {
    const { next, known } = lazyServer();
    await known({ ...servers.fixture(), env: { A: '1' } });
    expect(next({ ...servers.fixture(), env: { A: '2' } }).connection.state).toBe('not_started');
  });

  it('starts with the gateway if it is kept alive', async () => {
    const { next, known } = lazyServer(1);
    await known(servers.fixture());
    const { connection } = next({ ...servers.fixture(), keepAlive: true });
    await until('its start', () => connection.state === 'ready');
    await new Promise((done) => setTimeout(done, 100));
    expect(connection.state).toBe('ready');
  });

  it.each(['', '{', 'null', '{"format":1}', '[]', '{"format":1,"key":"KEY","catalog":{"tools":5}}'])(
    'starts if its snapshot is damaged, and replaces it: %s',
    async (damage) => {
      const { next, known, file } = lazyServer();
      await known(servers.fixture());
      const whole = readFileSync(file(), 'utf8');
      const { key } = JSON.parse(whole) as { key: string };
      writeFileSync(file(), damage.replace('KEY', key));
      const { connection } = next(servers.fixture());
      expect(connection.state).toBe('starting');
      await connection.start();
      expect(readFileSync(file(), 'utf8')).toBe(whole);
    },
  );

  it('works even if no snapshot can be written', async () => {
    const { next, catalogs } = lazyServer();
    writeFileSync(catalogs, 'a file where a folder should be');
    const { connection, log } = next(servers.fixture());
    await connection.start();
    expect(connection.state).toBe('ready');
    expect(log.join('\n')).toMatch(/one: its catalog could not be saved: /);
  });

  it('fails a call without time for the start as not dispatched, and is ready for the next call', async () => {
    const { next, known } = lazyServer();
    await known(servers.fixture('--start-delay', '700'));
    const { connection } = next(servers.fixture('--start-delay', '700'));
    await expect(connection.call('echo', { text: 'a' }, { timeoutMs: 100 })).rejects.toThrow(NotDispatchedError);
    const controller = new AbortController();
    const cancelled = connection.call('echo', { text: 'b' }, { ...WAIT, signal: controller.signal });
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ failure: 'aborted' });
    expect(textOf(await connection.call('echo', { text: 'c' }, WAIT))).toBe('c');
  });
});

describe('a server that has changed since its last run', () => {
  it('has its new catalog after its start, in memory and on disk, and reports one change', async () => {
    const { next, known, file } = lazyServer();
    // The command stays the same, but the lists differ.
    const folder = temporaryFolder('wg-');
    const script = join(folder, 'server.mjs');
    const write = (suffix: string): void =>
      writeFileSync(
        script,
        `process.argv.push('--name-suffix', '${suffix}'); await import(${JSON.stringify(servers.fixture().args[0])});`,
      );
    write('_a');
    const config = { command: process.execPath, args: [script] };
    await known(config);
    write('_b');
    const { connection, log } = next(config);
    const names = () => connection.tools.map((tool) => (tool as { name: string }).name);
    expect(names()).toContain('echo_a');
    await connection.refresh();
    expect(names()).toContain('echo_b');
    expect(readFileSync(file(), 'utf8')).toContain('echo_b');
    expect(log).toContain('one: its catalog has changed: tools (6 now)');
  });

  it('is detected by its package version, if that can be read', () => {
    const folder = temporaryFolder('wg-');
    const lay = (version: string): void => {
      mkdirSync(join(folder, 'node_modules/@a/b/dist'), { recursive: true });
      writeFileSync(join(folder, 'node_modules/@a/b/package.json'), JSON.stringify({ name: '@a/b', version }));
      writeFileSync(join(folder, 'node_modules/@a/b/dist/index.js'), '');
    };
    const keys = (): string[] =>
      [
        { command: 'npx', args: ['-y', '@a/b@latest', '--flag'] },
        { command: 'node', args: ['node_modules/@a/b/dist/index.js'] },
        { command: 'node', args: ['elsewhere'] },
      ].map((part) => snapshotKey({ ...part, type: 'stdio', env: {}, cwd: folder } as unknown as StdioServerConfig));
    lay('1.0.0');
    const before = keys();
    expect(keys()).toEqual(before);
    lay('1.0.1');
    expect(keys().map((key, i) => key === before[i])).toEqual([false, false, true]);
  });
});

describe('a server that cannot list', () => {
  const STALE = / The shown catalog \(6 tools\) is from its last good list\.$/;

  it('keeps its last lists if it does not start, and reports that', async () => {
    const { next, known } = lazyServer();
    const folder = temporaryFolder('wg-');
    const script = join(folder, 'server.mjs');
    writeFileSync(script, `await import(${JSON.stringify(servers.fixture().args[0])});`);
    const config = { command: process.execPath, args: [script] };
    await known(config);
    writeFileSync(script, 'console.error("Error: no network"); process.exit(1)');
    const { connection } = next(config);
    await connection.refresh();
    expect(connection.state).toBe('failed');
    expect(connection.reason).toMatch(STALE);
    expect(connection.tools).toHaveLength(6);
    // The next worker shows the same.
    expect(next(config).connection.tools).toHaveLength(6);
  });

  it.each(['--list-fails', '--list-hangs'])('serves calls if only its list fails: %s', async (flag) => {
    const { next, known } = lazyServer();
    const folder = temporaryFolder('wg-');
    const script = join(folder, 'server.mjs');
    const write = (more: string): void =>
      writeFileSync(
        script,
        `process.argv.push('${more}'); await import(${JSON.stringify(servers.fixture().args[0])});`,
      );
    write('--quiet');
    const config = { command: process.execPath, args: [script] };
    await known(config);
    write(flag);
    const { connection } = next(config);
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
    expect(connection.state).toBe('ready');
    expect(connection.tools).toHaveLength(6);
    if (flag === '--list-fails') {
      await until('the reason', () => connection.reason);
      expect(connection.reason).toMatch(
        /^It could not list its tools: It answered with an error: the list is broken\./,
      );
      expect(connection.reason).toMatch(STALE);
    }
  });
});

describe('an idle server', () => {
  it('stops with its process, and the next call starts it again', async () => {
    const { next } = lazyServer(300);
    const { connection, states } = next(servers.fixture());
    await connection.start();
    const pid = connection.pid as number;
    // A call that lasts longer than the idle time is not idleness.
    expect(textOf(await connection.call('wait', { ms: 900 }, WAIT))).toBe('waited 900 ms');
    expect(connection.pid).toBe(pid);
    await until('its end', () => connection.state === 'not_started' && !isAlive(pid));
    expect(connection.reason).toBeUndefined();
    expect(connection.tools).toHaveLength(6);
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
    expect(states.slice(0, 5)).toEqual(['starting', 'ready', 'not_started', 'starting', 'ready']);
  });
});
