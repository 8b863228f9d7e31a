import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { HealthWithoutWorker } from '../../src/control/healthContract.ts';
import {
  forgetOutage,
  noteOutage,
  readLastWorker,
  readOutage,
  updateLastWorker,
} from '../../src/host/attach/lastWorker.ts';
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

describe('the record of the last worker', () => {
  it('keeps the changes of several processes that write at the same time', async () => {
    const folder = temporaryFolder('wg-last-');
    const module = JSON.stringify(resolve('src/host/attach/lastWorker.ts'));
    const script = `import { updateLastWorker } from ${module};
      for (let i = 0; i < 25; i++) updateLastWorker(${JSON.stringify(folder)}, ({ restarts }) => ({ restarts: restarts + 1 }));`;
    const counting = Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]),
    );
    await Promise.all(counting);
    expect(readLastWorker(folder)).toMatchObject({ generation: 0, restarts: 100 });
    expect(readdirSync(folder)).toEqual(['lastWorker.json']);
    expect(statSync(join(folder, 'lastWorker.json')).mode & 0o777).toBe(0o600);
  });

  it('ignores the lock of a killed process', () => {
    const folder = temporaryFolder('wg-last-');
    writeFileSync(join(folder, 'lastWorker.json.lock'), String(spawnSync(process.execPath, ['-e', '']).pid));
    expect(updateLastWorker(folder, () => ({ watched: true }))).toMatchObject({ watched: true });
    expect(readLastWorker(folder).watched).toBe(true);
  });

  it('gives up a change while a living process keeps the lock', () => {
    const folder = temporaryFolder('wg-last-');
    // The parent of this process lives, and does not release the lock.
    writeFileSync(join(folder, 'lastWorker.json.lock'), String(process.ppid));
    expect(updateLastWorker(folder, () => ({ generation: 3 })).generation).toBe(3);
    expect(readLastWorker(folder).generation).toBe(0);
  });

  it('starts at zero if the file is damaged', () => {
    const folder = temporaryFolder('wg-last-');
    for (const text of ['', '{', '7', '"x"', '[]', '{"generation":-1}']) {
      writeFileSync(join(folder, 'lastWorker.json'), text);
      expect(readLastWorker(folder)).toMatchObject({ generation: 0, restarts: 0, failures: 0 });
    }
  });
});

describe('an outage', () => {
  it('is reported while its host lives and keeps trying', () => {
    const folder = temporaryFolder('wg-outage-');
    noteOutage(folder, health());
    const now = Date.now();
    expect(readOutage(folder, now)).toMatchObject({ state: 'recovering', supervision: 'crash_loop' });
    expect(readOutage(folder, now + 20_000)?.next_attempt_in_ms).toBeLessThanOrEqual(40_000);
    // After an hour without a report, the host may have ended and its pid may belong to another process.
    expect(readOutage(folder, now + 3_600_000)).toMatchObject({
      state: 'cold',
      supervision: 'idle',
      condition: 'down',
    });
  });

  it('has no next attempt after its host has ended, and disappears when forgotten', () => {
    const folder = temporaryFolder('wg-outage-');
    noteOutage(folder, health({ host_pid: spawnSync(process.execPath, ['-e', '']).pid }));
    const left = readOutage(folder);
    expect(left).toMatchObject({ state: 'cold', supervision: 'idle', problems: ['It keeps ending.'] });
    expect(left).not.toHaveProperty('next_attempt_in_ms');
    expect(left).not.toHaveProperty('host_pid');
    forgetOutage(folder);
    expect(readOutage(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['lastWorker.json']);
  });

  it('is ignored if the folder cannot be written', () => {
    expect(() => noteOutage('/nowhere/at/all', health())).not.toThrow();
    expect(() => forgetOutage('/nowhere/at/all')).not.toThrow();
    expect(readOutage('/nowhere/at/all')).toBeUndefined();
  });
});
