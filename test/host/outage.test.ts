import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgetOutage, noteOutage, readOutage } from '../../src/host/attach/outage.ts';
import type { HealthWithoutWorker } from '../../src/supervision/health.ts';
import { temporaryFolder } from '../support/workspace.ts';

const health = (more: Partial<HealthWithoutWorker> = {}): HealthWithoutWorker => ({
  workspace: '/shop',
  state: 'recovering',
  generation: 5,
  uptime_ms: 0,
  consecutive_failures: 5,
  restart_count: 4,
  rollout: 'stable',
  worker_handshake: 'failed',
  supervision: 'crash_loop',
  next_attempt_in_ms: 60_000,
  condition: 'down',
  problems: ['It keeps ending.'],
  servers: [],
  host_pid: process.pid,
  ...more,
});

describe('an outage, for whoever asks on the command line', () => {
  it('is what the host has told, as long as that may be true', () => {
    const folder = temporaryFolder('wg-outage-');
    noteOutage(folder, health());
    const now = Date.now();
    expect(readOutage(folder, now)).toMatchObject({ state: 'recovering', supervision: 'crash_loop' });
    expect(readOutage(folder, now + 20_000)?.next_attempt_in_ms).toBeLessThanOrEqual(40_000);
    // By then it has told again, or the number is another process's.
    expect(readOutage(folder, now + 3_600_000)).toMatchObject({
      state: 'cold',
      supervision: 'idle',
      condition: 'down',
    });
  });

  it('is over as far as trying goes when that host has ended, and over when it is forgotten', () => {
    const folder = temporaryFolder('wg-outage-');
    noteOutage(folder, health({ host_pid: spawnSync(process.execPath, ['-e', '']).pid }));
    const left = readOutage(folder);
    expect(left).toMatchObject({ state: 'cold', supervision: 'idle', problems: ['It keeps ending.'] });
    expect(left).not.toHaveProperty('next_attempt_in_ms');
    expect(left).not.toHaveProperty('host_pid');
    forgetOutage(folder);
    expect(readOutage(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('costs nothing where the folder cannot be written', () => {
    expect(() => noteOutage('/nowhere/at/all', health())).not.toThrow();
    expect(() => forgetOutage('/nowhere/at/all')).not.toThrow();
    expect(readOutage('/nowhere/at/all')).toBeUndefined();
  });
});
