import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { type ConnectionServices, ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StartLimits } from '../../src/upstream/start/serverStart.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { stdioConfig } from '../support/connection.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('the time limits of a start', () => {
  it('are the full time for the first, and shorter for the next', () => {
    let firstMs = 60_000;
    const limits = new StartLimits(() => stdioConfig({}), { startTimeoutMs: () => firstMs });
    expect([limits.limitMs, limits.slowAfterMs]).toEqual([60_000, 15_000]);
    limits.started(900);
    expect(limits.limitMs).toBe(15_000);
    // A multiple of the slowest start, bounded by the full time.
    limits.started(6_600);
    limits.started(400);
    expect(limits.limitMs).toBe(27_000);
    limits.started(40_000);
    expect(limits.limitMs).toBe(60_000);
    firstMs = 5_000;
    expect([limits.limitMs, limits.slowAfterMs]).toEqual([5_000, 2_500]);
  });

  it('are the full time again after a timeout', () => {
    const limits = new StartLimits(() => stdioConfig({}), {});
    limits.started(100);
    limits.timedOut();
    expect(limits.limitMs).toBe(60_000);
  });
});

/** Connects a real server that acts by a script, and records its states and reasons. */
function connect(steps: object[], services: Partial<ConnectionServices>, keys: Partial<StdioServerConfig> = {}) {
  const pidFile = join(temporaryFolder('wg-patience-'), 'pids');
  writeFileSync(pidFile, '');
  const journal = new ChildJournal(temporaryFolder('wg-patience-'));
  const reports: string[] = [];
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
      onChange: () => void reports.push(`${connection.state}: ${connection.reason ?? ''}`),
      log: () => undefined,
      scrubSecrets: (text) => text,
    },
  );
  onTestFinished(() => connection.stop());
  return { connection, reports };
}

describe('a server that hangs during its start', () => {
  it('is reported as slow while a call waits, and no longer once it is ready', async () => {
    const { connection, reports } = connect([{ on: 'initialize', do: [{ delay: 700 }, 'reply'] }], {
      startTimeoutMs: () => 20_000,
      restartTimeoutMs: 300,
    });
    await connection.start();
    expect(reports).toContain('starting: It has not answered for 0.3 s; the limit for a start is 20 s.');
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

  it('is given up earlier after a successful start, and then gets the full time again', async () => {
    const { connection, reports } = connect(
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
    expect(reports.some((one) => /^failed: It did not answer within \d+ s\./.test(one))).toBe(true);
  });
});
