import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import type { ConnectionServices, OpenLink } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { connectStdio, stdioConfig } from '../support/connection.ts';
import { isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };

/** Connects a real server, and records its states and its log. */
function connect(
  config: Partial<StdioServerConfig>,
  journal = new ChildJournal(temporaryFolder('wg-connection-')),
  services: Partial<ConnectionServices> = {},
) {
  return connectStdio(config, journal, services, scrubSecrets);
}

/** Opens links once the test lets the first one open. */
function heldLink() {
  const { promise, resolve: open } = deferred<void>();
  const journal = new ChildJournal(temporaryFolder('wg-held-'));
  onTestFinished(() => journal.close());
  let opened = 0;
  const openLink: OpenLink = async (config, events) => {
    opened += 1;
    await promise;
    return new StdioLink(config as StdioServerConfig, journal, events);
  };
  return { openLink, open, opened: () => opened };
}

const fixture = (...flags: string[]) => connect(servers.fixture(...flags));
const textOf = (result: Record<string, unknown>): string => (result.content as { text: string }[])[0]?.text as string;

describe('a connection to a server', () => {
  it('goes from starting to ready, lists, calls, and stops with its process', async () => {
    const { connection, states } = fixture();
    await connection.start();
    const pid = connection.pid as number;
    expect(connection.tools).toHaveLength(6);
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
    await connection.stop();
    expect(states).toEqual(['starting', 'ready', 'stopped']);
    expect(isAlive(pid)).toBe(false);
    expect(connection.pid).toBeUndefined();
    // A stopped connection stays stopped.
    await connection.start();
    expect(connection.state).toBe('stopped');
    await expect(connection.call('echo', {}, WAIT)).rejects.toThrow(NotDispatchedError);
  });

  it.each([
    [
      'an unknown command',
      { command: 'waygate-no-such-command' },
      /^The command "waygate-no-such-command" was not found; install it/,
    ],
    ['a folder for a command', { command: '/tmp' }, /^The command "\/tmp" cannot be run/],
    [
      'a missing folder',
      { cwd: '/no/such/folder' },
      /^Its folder \/no\/such\/folder does not exist or cannot be entered; correct "cwd"\.$/,
    ],
    [
      'a server that ends at once',
      servers.fixture('--say-and-exit', 'Error: API_KEY is missing'),
      /^It ended before it answered \(exit code 3\)\. It said: Error: API_KEY is missing$/,
    ],
    ['a program that is not an MCP server', { args: ['-e', ''] }, /^It ended before it answered \(exit code 0\)\.$/],
  ])('fails with the reason for %s', async (_what, config, reason) => {
    const { connection, states } = connect(config);
    await connection.start();
    expect(states).toEqual(['starting', 'failed']);
    expect(connection.reason).toMatch(reason);
    await expect(connection.call('echo', {}, WAIT)).rejects.toThrow(NotDispatchedError);
  });

  it('knows the exit of a server that ended before it sent anything', async () => {
    /** A journal on a slow disk. */
    class SlowJournal extends ChildJournal {
      override async add(pid: number): Promise<void> {
        await super.add(pid);
        await new Promise((done) => setTimeout(done, 400));
      }
    }
    const slow = new SlowJournal(temporaryFolder('wg-connection-'));
    const { connection } = connect(servers.fixture('--say-and-exit', 'Error: no key'), slow);
    await connection.start();
    expect(connection.reason).toBe('It ended before it answered (exit code 3). It said: Error: no key');
  });

  it('runs a command with spaces in its path', async () => {
    const folder = join(temporaryFolder('wg-'), 'my tools');
    mkdirSync(folder);
    const command = join(folder, 'the server');
    const { args } = servers.fixture();
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${args[0]}"\n`);
    chmodSync(command, 0o755);
    const { connection } = connect({ command, cwd: folder });
    await connection.start();
    expect(connection.state).toBe('ready');
  });

  it('gives the server a clean environment', async () => {
    process.env.VSCODE_TEST_LEAK = '1';
    process.env.ELECTRON_TEST_LEAK = '1';
    onTestFinished(() => {
      delete process.env.VSCODE_TEST_LEAK;
      delete process.env.ELECTRON_TEST_LEAK;
    });
    const { connection } = connect({ ...servers.fixture('--wild'), env: { OWN: 'yes' } });
    await connection.start();
    const names = Object.keys(JSON.parse(textOf(await connection.call('environment', {}, WAIT))) as object);
    expect(names).toEqual(expect.arrayContaining(['PATH', 'OWN', 'WAYGATE_RUN']));
    expect(names.filter((name) => /^(VSCODE_|ELECTRON_|NODE_OPTIONS|VITEST|WAYGATE_(?!RUN$))/.test(name))).toEqual([]);
  });

  it.each([
    ['floods stderr before its first message', ['--stderr-flood', '5000000']],
    ['writes its log to stdout', ['--banner', '--bom', '--garbage', '5000']],
    ['answers initialize twice', ['--init-twice']],
    ['lists invalid tools', ['--odd-items']],
    ['has an endlessly nested schema', ['--deep-schema']],
  ])('is ready with a server that %s', async (_what, flags) => {
    const { connection, log } = fixture(...flags);
    await connection.start();
    expect(connection.reason).toBeUndefined();
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
    expect(log.length).toBeLessThan(30);
  });

  it('restarts at once after an unexpected end; the next call succeeds', async () => {
    const { connection, states } = fixture();
    await connection.start();
    const first = connection.pid;
    await expect(connection.call('crash', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    await until('its successor', () => connection.health.restart_count === 1 && connection.state === 'ready');
    expect(connection.health.last_fault).toMatchObject({ class: 'process', code: 'exited', generation: 1 });
    expect(connection.health.last_fault?.detail).toBe('It exited unexpectedly (exit code 7).');
    // The server keeps its catalog.
    expect(connection.tools).toHaveLength(6);
    expect(textOf(await connection.call('echo', { text: 'again' }, WAIT))).toBe('again');
    expect(connection.pid).not.toBe(first);
    expect(states).toEqual(['starting', 'ready', 'starting', 'ready']);
  });

  it.each([
    ['a call comes at once', () => undefined],
    [
      'the event loop was blocked for longer than the wait',
      () => {
        for (const start = performance.now(); performance.now() - start < 700; );
      },
    ],
  ])('reports an exit that follows the end of the output, even if %s', async (_what, meanwhile) => {
    const { connection } = fixture('--close-stdout', '--exits-late', '40');
    await connection.start();
    await expect(connection.call('echo', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    meanwhile();
    const next = connection.call('echo', {}, WAIT).catch(() => undefined);
    await until('its successor', () => connection.health.restart_count === 1);
    expect(connection.health.last_fault).toMatchObject({ class: 'process', code: 'exited', generation: 1 });
    await next;
  });

  it('replaces a server that closes its output but lives', async () => {
    const { connection } = fixture('--close-stdout', '--ignore-eof');
    await connection.start();
    const first = connection.pid as number;
    await expect(connection.call('echo', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    // The successor closes its output too, and may be lost during the background list.
    expect(connection.health.last_fault).toMatchObject({ code: 'output_closed', generation: 1 });
    const next = connection.call('echo', {}, WAIT).catch((error: unknown) => error);
    await until('the first process to be gone', () => !isAlive(first));
    expect(await next).toMatchObject({ failure: 'closed' });
  });

  it.each([
    ['{"jsonrpc":"2.0","id":ID,"result":"text"}', 'protocol', /not an object/],
    ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"busy"}}', 'error', /^busy$/],
    ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"slow"}}', 'error', /^slow$/],
    ['{"jsonrpc":"2.0","id":ID,"error":7}', 'error', /without a message/],
  ])('fails only the call that was answered with %s, at once', async (frame, failure, words) => {
    const { connection } = fixture('--wild');
    await connection.start();
    await expect(connection.call('raw', { frame }, WAIT)).rejects.toMatchObject({
      failure,
      message: expect.stringMatching(words),
    });
    expect(connection.state).toBe('ready');
  });

  it('fails only the call with an oversized answer', async () => {
    const { connection } = fixture('--wild');
    await connection.start();
    await expect(connection.call('bytes', { n: 20_000_000 }, WAIT)).rejects.toThrow(/beyond the limit of 16777216/);
    expect(textOf(await connection.call('bytes', { n: 10_000_000 }, WAIT))).toHaveLength(10_000_000);
  });

  it('distinguishes a timeout from a cancellation, and notifies the server of both', async () => {
    const log = join(temporaryFolder('wg-'), 'log');
    const { connection } = fixture('--log', log);
    await connection.start();
    await expect(connection.call('wait', { ms: 60_000 }, { timeoutMs: 50 })).rejects.toMatchObject({
      failure: 'timeout',
    });
    const controller = new AbortController();
    const call = connection.call('wait', { ms: 60_000 }, { ...WAIT, signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    await until('both notifications', () => readFileSync(log, 'utf8').split('notifications/cancelled').length === 3);
    expect(connection.state).toBe('ready');
  });

  it('lists again after a change, one list at a time, whatever the number of announcements', async () => {
    const log = join(temporaryFolder('wg-'), 'log');
    const { connection } = fixture('--log', log, '--storm', '5000', '--slow-list', '300');
    const lists = (): number => readFileSync(log, 'utf8').split('"tools/list"').length - 1;
    const began = performance.now();
    await connection.start();
    // An answer arrives after the notifications that preceded it.
    await connection.call('echo', { text: 'hi' }, WAIT);
    const seconds = (performance.now() - began) / 1_000;
    await until('the second list', () => lists() >= 2);
    await new Promise((done) => setTimeout(done, 700));
    // On a busy machine the notifications may arrive over several seconds: one more list for the last, and one for each
    // second.
    expect(lists()).toBeLessThanOrEqual(3 + Math.floor(seconds));
  });

  it('does not list again if live refresh is disabled', async () => {
    const log = join(temporaryFolder('wg-'), 'log');
    const liveRefresh = () => ({ enabled: false, debounceSeconds: 0, maxRefreshesPerMinute: 1 });
    const { connection } = connect(servers.fixture('--log', log, '--storm', '3'), undefined, { liveRefresh });
    await connection.start();
    // An answer arrives after the notifications that preceded it.
    await connection.call('echo', { text: 'hi' }, WAIT);
    await new Promise((done) => setTimeout(done, 300));
    expect(readFileSync(log, 'utf8').split('"tools/list"')).toHaveLength(2);
  });

  it('uses the configured limit of a start', async () => {
    const { connection } = connect(servers.fixture('--start-delay', '60000'), undefined, {
      startTimeoutMs: () => 200,
    });
    await connection.start();
    expect([connection.state, connection.reason]).toEqual(['failed', 'It did not answer within 0.2 s.']);
  });

  it('shows and calls only the tools that the configuration exposes', async () => {
    const { connection } = connect({ ...servers.fixture(), tools: { include: ['e*', 'wait'], exclude: ['wait'] } });
    await connection.start();
    expect(connection.catalog.tools).toMatchObject([{ name: 'echo' }]);
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
    await expect(connection.call('wait', { ms: 1 }, WAIT)).rejects.toMatchObject({
      name: 'NotDispatchedError',
      message: 'the configuration of one excludes this tool ("tools")',
      fault: { code: 'tool_left_out' },
    });
  });

  it('ends when its approval is revoked, and begins when it is given', async () => {
    let isApproved = true;
    const { connection, states } = connect(servers.fixture(), undefined, { isApproved: () => isApproved });
    await connection.start();
    const pid = connection.pid as number;
    connection.recheckApproval();
    expect(connection.state).toBe('ready');
    isApproved = false;
    connection.recheckApproval();
    expect(connection.state).toBe('needs_approval');
    await until('its end', () => !isAlive(pid));
    isApproved = true;
    connection.recheckApproval();
    expect(states).toEqual(['starting', 'ready', 'needs_approval', 'not_started']);
    expect(textOf(await connection.call('echo', { text: 'hi' }, WAIT))).toBe('hi');
  });

  it('lists at its start although an earlier start was aborted and ends later', async () => {
    const { openLink, open, opened } = heldLink();
    let isApproved = true;
    const { connection } = connect(servers.fixture(), undefined, { openLink, isApproved: () => isApproved });
    void connection.start();
    await until('the first start', () => opened() === 1);
    for (isApproved of [false, true]) connection.recheckApproval();
    const started = connection.start();
    open();
    await started;
    expect([connection.state, opened(), connection.tools.length]).toEqual(['ready', 2, 6]);
  });

  it('starts only with an approval of exactly the entry that starts', async () => {
    const { openLink, open } = heldLink();
    let approved = '_a';
    const { connection } = connect(servers.fixture('--name-suffix', '_a'), undefined, {
      openLink,
      isApproved: (config) => (config as StdioServerConfig).args.includes(approved),
    });
    const started = connection.start();
    // The user revokes one approval and gives another during the lookup of secrets.
    connection.adopt(stdioConfig(servers.fixture('--name-suffix', '_b')));
    approved = '_b';
    open();
    await started;
    expect([connection.state, connection.tools]).toEqual(['failed', []]);
  });

  it('says what a server that has ended had written, until the next one is ready', async () => {
    const journal = new ChildJournal(temporaryFolder('wg-said-'));
    onTestFinished(() => journal.close());
    const talkative = stdioConfig(servers.fixture('--stderr-flood', '100'));
    let opened = 0;
    const openLink: OpenLink = async (config, events) =>
      new StdioLink(opened++ === 0 ? talkative : (config as StdioServerConfig), journal, events);
    const { connection } = connect(servers.fixture(), undefined, { openLink });
    await connection.start();
    await expect(connection.call('crash', {}, WAIT)).rejects.toThrow();
    expect(connection.stderr).toEqual(['e'.repeat(99)]);
    await until('the next start', () => opened === 2 && connection.state === 'ready');
    expect(connection.stderr).toEqual([]);
  });

  it('counts protocol violations over all starts', async () => {
    const { connection } = fixture('--wild', '--init-twice', '--banner', '--bom');
    await connection.start();
    await connection.call('raw', { frame: '{"jsonrpc":"2.0","id":ID,"result":7}' }, WAIT).catch(() => undefined);
    await connection.call('crash', {}, WAIT).catch(() => undefined);
    await connection.call('echo', { text: 'a' }, WAIT);
    expect(JSON.parse(JSON.stringify(connection.oddities))).toEqual({
      bad_result: 1,
      byte_order_mark: 2,
      duplicate_response: 2,
      garbage_line: 4,
    });
  });

  it('notes that its list was cut, as long as it is', async () => {
    const { connection } = fixture('--tools', '10001');
    await connection.start();
    expect(connection.tools).toHaveLength(10_000);
    expect(connection.reason).toBe('Its list of tools was cut: it has more than 10000 tools.');
    expect(connection.oddities.count('list_cut')).toBe(1);
    await connection.refresh();
    expect(connection).toMatchObject({ state: 'ready', reason: expect.stringContaining('was cut') });
  });

  it('can be stopped at any moment of its start', async () => {
    for (const delay of [0, 1, 5, 20, 60]) {
      const pids = join(temporaryFolder('wg-'), 'pids');
      writeFileSync(pids, '');
      const { connection, states } = fixture('--pid-file', pids, '--start-delay', '30');
      const started = connection.start();
      await new Promise((done) => setTimeout(done, delay));
      await connection.stop();
      await started;
      expect(states.at(-1)).toBe('stopped');
      expect(pidsIn(pids).filter(isAlive)).toEqual([]);
    }
  });
});
