import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { type ConnectionServices, ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StartLimits } from '../../src/upstream/start/serverStart.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('the time limits of a start', () => {
  it('is the whole for a first one, and less for the next: there is nothing to download any more', () => {
    let firstMs = 60_000;
    const limits = new StartLimits({ firstMs: () => firstMs });
    expect([limits.limitMs, limits.slowAfterMs]).toEqual([60_000, 15_000]);
    limits.started(900);
    expect(limits.limitMs).toBe(15_000);
    // As slow as it has been, several times over, and never more than is given at all.
    limits.started(6_600);
    limits.started(400);
    expect(limits.limitMs).toBe(27_000);
    limits.started(40_000);
    expect(limits.limitMs).toBe(60_000);
    firstMs = 5_000;
    expect([limits.limitMs, limits.slowAfterMs]).toEqual([5_000, 2_500]);
  });

  it('is the whole again once a start has run out of it', () => {
    const limits = new StartLimits({ firstMs: () => 60_000 });
    limits.started(100);
    limits.timedOut();
    expect(limits.limitMs).toBe(60_000);
  });
});

/** A real server that acts by a script, with its states and reasons as they came. */
function connect(steps: object[], services: Partial<ConnectionServices>, keys: Partial<StdioServerConfig> = {}) {
  const pidFile = join(temporaryFolder('wg-patience-'), 'pids');
  writeFileSync(pidFile, '');
  const journal = new ChildJournal(temporaryFolder('wg-patience-'));
  const told: string[] = [];
  const config: StdioServerConfig = {
    name: 'one',
    type: 'stdio',
    command: process.execPath,
    args: [resolve('test/fixtures/faultServer.mjs'), '--pid-file', pidFile, '--script', JSON.stringify({ steps })],
    env: {},
    cwd: process.cwd(),
    disabled: false,
    keepAlive: false,
    location: { file: 'waygate.json', line: 1, column: 1 },
    ...keys,
  };
  const connection: ServerConnection = new ServerConnection(
    config,
    { openLink: async (written, events) => new StdioLink(written as StdioServerConfig, journal, events), ...services },
    {
      onChange: () => void told.push(`${connection.state}: ${connection.reason ?? ''}`),
      log: () => undefined,
      scrubSecrets: (text) => text,
    },
  );
  onTestFinished(() => connection.stop());
  return { connection, told };
}

describe('a server that hangs as it starts', () => {
  it('is told to take long, while it is waited for, and no more when it is there', async () => {
    const { connection, told } = connect([{ on: 'initialize', do: [{ delay: 700 }, 'reply'] }], {
      startTimeoutMs: () => 20_000,
      restartTimeoutMs: 300,
    });
    await connection.start();
    expect(told).toContain('starting: It has not answered for 0.3 s; it is given 20 s to start.');
    expect([connection.state, connection.reason]).toEqual(['ready', undefined]);
  });

  it('has its own time limit for a first start, if its entry sets one', async () => {
    const { connection } = connect(
      [{ on: 'initialize', do: [{ delay: 60_000 }, 'reply'] }],
      { startTimeoutMs: () => 60_000 },
      { startTimeoutSeconds: 0.2 },
    );
    await connection.start();
    expect([connection.state, connection.reason]).toEqual(['failed', expect.stringContaining('0.2 s')]);
  });

  it('is given up sooner where it has started before, and then has as long as at first', async () => {
    const { connection, told } = connect(
      [
        { on: 'tools/call', life: 1, do: ['sigkill'] },
        { on: 'initialize', life: 2, do: ['hang'] },
      ],
      { startTimeoutMs: () => 120_000, restartTimeoutMs: 300 },
    );
    await connection.start();
    await connection.call('echo', {}, { timeoutMs: 20_000 }).catch(() => undefined);
    await until('the third start', () => connection.state === 'ready' && connection.health.generation === 3);
    expect(connection.health.last_fault?.code).toBe('handshake_timeout');
    expect(told.some((one) => /^failed: It did not answer within \d+ s\./.test(one))).toBe(true);
  });
});
