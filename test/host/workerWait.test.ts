import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Fault, faultOf } from '../../src/errors/fault.ts';
import { WorkerLink } from '../../src/host/attach/workerLink.ts';
import { WorkerWait } from '../../src/host/attach/workerWait.ts';
import { WithoutWorker } from '../../src/host/session/withoutWorker.ts';
import { HealthRecord } from '../../src/supervision/health.ts';
import { temporaryFolder } from '../support/workspace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes a session whose search for a worker never ends. */
function waiting() {
  const folder = temporaryFolder('wg-wait-');
  const health = () => new HealthRecord(() => 0).snapshot();
  const withoutWorker = new WithoutWorker({ workspace: '/shop', folder, mode: 'gateway', health });
  const link = new WorkerLink({
    attach: () => new Promise(() => undefined),
    isWaiting: () => true,
    onAttached: () => undefined,
    onFrame: () => undefined,
    onDrain: () => undefined,
    onLost: () => undefined,
    onUnavailable: () => undefined,
  });
  const log: string[] = [];
  const answered: Fault[] = [];
  const wait = new WorkerWait(
    link,
    withoutWorker,
    (line) => void log.push(line),
    (fault) => void answered.push(fault),
  );
  wait.begin();
  return { wait, withoutWorker, log, answered };
}

describe('the wait for a worker', () => {
  it('ends after 25 s with a fault for every waiting request', () => {
    const { withoutWorker, log, answered } = waiting();
    vi.advanceTimersByTime(24_999);
    expect(answered).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(answered).toMatchObject([{ code: 'handshake_timeout' }]);
    expect(withoutWorker.fault).toBe(answered[0]);
    expect(log).toEqual(['no worker was available within 25 s']);
  });

  it('ends early with the known reason', () => {
    const { wait, withoutWorker, log, answered } = waiting();
    const fault = faultOf('spawn_failed', { generation: 1, detail: 'a part is missing' }, (text) => text);
    wait.giveUp(fault, 'it cannot start');
    vi.advanceTimersByTime(60_000);
    expect(answered).toEqual([fault]);
    expect(withoutWorker.fault).toBe(fault);
    expect(log).toEqual(['it cannot start']);
  });
});
