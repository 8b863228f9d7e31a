import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { RESTART_LIMITS } from '../../src/supervision/restartPolicy.ts';
import { OWN_BUSINESS } from '../../src/upstream/connection/callOrigin.ts';
import { type ConnectionServices, ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };
const textOf = (result: Record<string, unknown>): string => (result.content as { text: string }[])[0]?.text as string;

/** A connection with a standby to a real server, whose processes write down that they were started. */
function connect({ args = [], ...config }: Partial<StdioServerConfig>, services: Partial<ConnectionServices> = {}) {
  const pidFile = join(temporaryFolder('wg-standby-'), 'pids');
  writeFileSync(pidFile, '');
  const log: string[] = [];
  const journalFolder = temporaryFolder('wg-standby-');
  const journal = new ChildJournal(journalFolder);
  const connection = new ServerConnection(
    {
      name: 'one',
      type: 'stdio',
      command: process.execPath,
      args: [...args, '--pid-file', pidFile],
      env: {},
      cwd: process.cwd(),
      disabled: false,
      keepAlive: false,
      standby: true,
      location: { file: 'waygate.json', line: 1, column: 1 },
      ...config,
    },
    { openLink: async (written, events) => new StdioLink(written as StdioServerConfig, journal, events), ...services },
    { onChange: () => undefined, log: (line) => void log.push(line), scrubSecrets: (text) => text },
  );
  onTestFinished(() => connection.stop());
  const started = (): number[] => pidsIn(pidFile);
  const ready = (): Promise<number> =>
    until('a standby', () => (connection.standby?.state === 'ready' ? connection.standby.pid : undefined));
  const journalled = (): string => readFileSync(join(journalFolder, `children-${journal.run}.json`), 'utf8');
  return { connection, started, ready, log, journalled };
}

const fixture = (...flags: string[]) => connect(servers.fixture(...flags));
const faults = (steps: object[], services: Partial<ConnectionServices> = {}) =>
  connect({ args: [resolve('test/fixtures/faultServer.mjs'), '--script', JSON.stringify({ steps })] }, services);

describe('a server with a standby', () => {
  it('that is killed in the middle of a call loses that call alone: the next is answered by the one in reserve', async () => {
    const { connection, started, ready, journalled } = fixture();
    await connection.start();
    const first = connection.pid as number;
    const second = await ready();
    expect(started()).toEqual([first, second]);
    // Whoever comes after a killed worker ends them both.
    expect(journalled()).toContain(`"pid":${first}`);
    expect(journalled()).toContain(`"pid":${second}`);
    const call = connection.call('wait', { ms: 60_000 }, WAIT).catch((error: unknown) => error);
    process.kill(first, 'SIGKILL');
    expect(await call).toMatchObject({ failure: 'closed' });
    expect(textOf(await connection.call('echo', { text: 'here' }, WAIT))).toBe('here');
    expect(connection.pid).toBe(second);
    // Nothing had to be started for that.
    expect(started()).toEqual([first, second]);
    expect(connection.health).toMatchObject({ restart_count: 1, last_fault: { generation: 1 } });
    const third = await ready();
    expect(started()).toEqual([first, second, third]);
    expect(connection.pid).toBe(second);
  });

  it('leaves no process behind when it is stopped, at whatever moment', async () => {
    for (const delay of [0, 100, 205, 230, 400]) {
      const { connection, started } = fixture('--start-delay', '30', '--ignore-eof');
      await connection.start();
      await new Promise((done) => setTimeout(done, delay));
      await connection.stop();
      expect(started().filter(isAlive)).toEqual([]);
      expect(connection.standby).toEqual({ state: 'absent' });
    }
  });

  it('that is stopped as idle takes the one in reserve with it, and comes back with it', async () => {
    let idleMs = 60_000;
    const { connection, started, ready } = connect(servers.fixture(), { idleMs: () => idleMs });
    await connection.start();
    await ready();
    idleMs = 20;
    await connection.call('echo', { text: 'a' }, WAIT);
    await until('both to end', () => started().every((pid) => !isAlive(pid)));
    expect([connection.state, connection.standby?.state]).toEqual(['not_started', 'absent']);
    idleMs = 60_000;
    await connection.call('echo', { text: 'a' }, WAIT);
    await ready();
    expect(started()).toHaveLength(4);
  });

  it('does not notice when the one in reserve ends: there is another', async () => {
    const { connection, ready, log } = fixture();
    await connection.start();
    const first = connection.pid;
    const second = await ready();
    process.kill(second, 'SIGKILL');
    const third = await until('another', () => {
      const { state, pid } = connection.standby ?? {};
      return state === 'ready' && pid !== second ? pid : undefined;
    });
    expect(third).not.toBe(first);
    expect([connection.pid, connection.health.restart_count]).toEqual([first, 0]);
    expect(log).toContain('one: standby: lost: It ended by itself (SIGKILL).');
  });

  it('has one in reserve that hangs replaced before it is needed', async () => {
    const { connection, started, ready } = faults([{ on: 'initialize', life: 2, do: ['reply', 'block'] }], {
      standbyCheckMs: 100,
    });
    await connection.start();
    const hanging = await ready();
    await until('another', () => started().length === 3 && connection.standby?.state === 'ready');
    await until('the end of the one that hangs', () => !isAlive(hanging));
    process.kill(connection.pid as number, 'SIGKILL');
    await until('its successor', () => connection.health.restart_count === 1 && connection.state === 'ready');
    expect(connection.pid).toBe(started()[2]);
    // Asked no more: what serves is watched by its calls.
    await connection.call('echo', {}, WAIT);
  });

  it('hears nothing of what the one in reserve says by itself, until it takes over', async () => {
    const noise = [
      { flood: 'log', count: 3 },
      { flood: 'list_changed', count: 3 },
      { flood: 'garbage', count: 2 },
    ];
    const { connection, ready, log } = faults([
      { on: 'initialize', life: 2, do: ['reply', ...noise] },
      { on: 'tools/call', life: 2, do: [{ flood: 'log', count: 1 }, 'reply'] },
    ]);
    const heard: unknown[] = [];
    connection.onNotification('notifications/message', ({ data }) => void heard.push(data));
    connection.onNotification('notifications/tools/list_changed', () => void heard.push('list'));
    await connection.start();
    await ready();
    // All that it says is read before it takes over, and what of it is held back for a tenth of a second is told to nobody.
    await until('its noise', () => log.filter((line) => line.includes('standby: not a message')).length === 2);
    await new Promise((done) => setTimeout(done, 150));
    expect(connection.oddities.count('garbage_line')).toBe(0);
    process.kill(connection.pid as number, 'SIGKILL');
    await until('its successor', () => connection.health.restart_count === 1 && connection.state === 'ready');
    expect(heard).toEqual([]);
    await connection.call('echo', {}, WAIT);
    expect(heard).toEqual(['line 0']);
    // Its oddities are the server's own from then on.
    expect(connection.oddities.count('garbage_line')).toBe(2);
  });

  it('answers what the one in reserve asks without asking any client, and has it ask again when it takes over', async () => {
    const received = join(temporaryFolder('wg-'), 'received');
    const { connection, ready } = connect({
      args: [
        resolve('test/fixtures/faultServer.mjs'),
        ...['--log', received, '--script'],
        JSON.stringify({ steps: [{ on: 'initialize', life: 2, do: ['reply', { flood: 'ask', count: 1 }] }] }),
      ],
    });
    const origins: unknown[] = [];
    connection.setRequestHandler(
      'roots/list',
      async (_params, _signal, origin) => {
        origins.push(origin);
        return { roots: [] };
      },
      { roots: { listChanged: true } },
    );
    await connection.start();
    await ready();
    await until('its answer', () => readFileSync(received, 'utf8').includes('"id":"a0","result":{"roots":[]}'));
    expect(origins).toEqual([OWN_BUSINESS]);
    expect(readFileSync(received, 'utf8')).not.toContain('roots/list_changed');
    process.kill(connection.pid as number, 'SIGKILL');
    await until('the news', () => readFileSync(received, 'utf8').includes('notifications/roots/list_changed'));
  });

  it('lists what the one in reserve has when that takes over, and tells that it is ready', async () => {
    const { connection, ready } = fixture('--new-names');
    let readied = 0;
    connection.onReady(() => {
      readied += 1;
    });
    await connection.start();
    const second = await ready();
    const named = (): unknown => (connection.tools[0] as { name: string }).name;
    expect(named()).toBe(`echo_${connection.pid}`);
    process.kill(connection.pid as number, 'SIGKILL');
    await until('its list', () => named() === `echo_${second}`);
    // What belongs to a start is done again: levels of logging, subscriptions.
    expect(readied).toBe(2);
  });

  it('that is lost once more right after waits for no pace of restarts', async () => {
    const restartLimits = { ...RESTART_LIMITS, baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 };
    const { connection, ready } = connect(servers.fixture(), { restartLimits });
    await connection.start();
    for (let lost = 1; lost <= 2; lost++) {
      const reserve = await ready();
      process.kill(connection.pid as number, 'SIGKILL');
      await until('its successor', () => connection.health.restart_count === lost && connection.state === 'ready');
      expect(connection.pid).toBe(reserve);
    }
  });

  it('that keeps ending uses up no more processes than it is given starts', async () => {
    const restartLimits = { ...RESTART_LIMITS, crashes: 3 };
    const { connection, started, ready } = connect(servers.fixture(), { restartLimits });
    await connection.start();
    for (let lost = 1; lost <= 3; lost++) {
      await ready();
      await connection.call('crash', {}, WAIT).catch(() => undefined);
      await until('the loss', () => connection.health.consecutive_failures === lost);
    }
    expect(connection.health.supervision).toBe('crash_loop');
    await until('the one in reserve to end', () => started().every((pid) => !isAlive(pid)));
    expect(started()).toHaveLength(4);
    expect(connection.standby?.state).toBe('absent');
  });

  it('that cannot run twice serves as if it had none, and says why there is none', async () => {
    const restartLimits = { ...RESTART_LIMITS, crashes: 2 };
    const { connection, started } = faults(
      [2, 3, 4].map((life) => ({ on: 'start', life, do: [{ exit: 1 }] })),
      { restartLimits },
    );
    await connection.start();
    await until('the second attempt', () => connection.standby?.state === 'failed' && started().length === 3);
    expect(connection.standby).toEqual({ state: 'failed', reason: 'It ended before it answered (exit code 1).' });
    expect(connection.state).toBe('ready');
    await connection.call('echo', {}, WAIT);
    process.kill(connection.pid as number, 'SIGKILL');
    await until('the loss', () => connection.health.consecutive_failures > 0);
  });

  it('takes over while what is left of the one before is still being ended', async () => {
    const { connection, started, ready } = faults([
      { on: 'tools/call', life: 1, do: ['ignore-term', 'close-stdout', 'block'] },
    ]);
    await connection.start();
    await ready();
    await expect(connection.call('echo', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    const [first] = started() as [number];
    await connection.call('echo', { nonce: 'a' }, WAIT);
    const wasAlive = isAlive(first);
    await connection.stop();
    expect([wasAlive, started().filter(isAlive)]).toEqual([true, []]);
  });
});
