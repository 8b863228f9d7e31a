import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitReason, logLength } from '../../src/host/attach/exitReason.ts';
import { workerLogFile } from '../../src/host/attach/startWorker.ts';
import { WithoutWorker } from '../../src/host/session/withoutWorker.ts';
import { HealthRecord } from '../../src/supervision/health.ts';
import { temporaryFolder } from '../support/workspace.ts';

const OWN = '2026-11-18T21:00:00.000Z worker 7 stops: a reported error\n';

function log(text: string): string {
  const file = join(temporaryFolder('wg-log-'), 'worker.log');
  writeFileSync(file, text);
  return file;
}

/** Returns Node's own output when the program ends. */
function endOf(program: string, ...options: string[]): string {
  try {
    execFileSync(process.execPath, [...options, '-e', program], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    return String((error as { stderr: Buffer }).stderr);
  }
  throw new Error('It did not end by an error.');
}

describe('the reason why a worker ended', () => {
  it.each<[string, () => string, string | RegExp]>([
    ['an error', () => endOf('throw new TypeError("no such thing")'), 'TypeError: no such thing'],
    ['a missing module', () => endOf('require("/nowhere/x.cjs")'), "Error: Cannot find module '/nowhere/x.cjs'"],
    [
      'out of memory',
      () => endOf('const kept = []; for (;;) kept.push(new Array(1e4).fill(1.5));', '--max-old-space-size=16'),
      /^FATAL ERROR: .*heap/,
    ],
    [
      'an error with a stack that the worker wrote',
      () => 'Error: no room\n    at required (x.js:1:1)\n',
      'Error: no room',
    ],
  ])('names %s', (_, end, words) => {
    expect(exitReason(log(OWN + end() + OWN), 0)).toMatch(words);
  });

  it('is undefined if the worker wrote none, and ignores earlier workers', () => {
    const file = log(`Error: of the one before\n${OWN}`);
    const from = logLength(file);
    expect(exitReason(file, from)).toBeUndefined();
    writeFileSync(file, OWN, { flag: 'a' });
    expect(exitReason(file, from)).toBeUndefined();
    writeFileSync(file, 'Error: of this one\n', { flag: 'a' });
    expect(exitReason(file, from)).toBe('Error: of this one');
  });

  it('is found in a log that was truncated, at the end of a long log, and not without a log', () => {
    expect(exitReason(log('Error: short\n'), 5_000)).toBe('Error: short');
    expect(exitReason(log(`${OWN.repeat(5_000)}Error: late\n`), 0)).toBe('Error: late');
    expect(exitReason('/nowhere/worker.log', 0)).toBeUndefined();
    expect(logLength('/nowhere/worker.log')).toBe(0);
  });

  it('is one line without secrets', () => {
    const words = exitReason(log(`Error: token=abcdef123456 ${'x'.repeat(500)}\n`), 0) ?? '';
    expect(words).toMatch(/^Error: token=\[REDACTED-SECRET\] x+…$/);
    expect(words.length).toBeLessThanOrEqual(200);
  });
});

describe('the reason of a worker that crashes while the host attaches', () => {
  it('is read from the log, because the host marked its end before', () => {
    const folder = temporaryFolder('wg-exit-');
    const health = () => new HealthRecord(() => 0).snapshot();
    const withoutWorker = new WithoutWorker({ workspace: '/shop', folder, mode: 'gateway', health });
    const log = workerLogFile(folder);
    writeFileSync(log, 'Error: of an earlier worker\n');
    withoutWorker.beforeAttach();
    appendFileSync(log, 'Error: the disk has gone\n');
    withoutWorker.end();
    expect(withoutWorker.exitReason()).toBe('Error: the disk has gone');
    withoutWorker.beforeAttach();
    expect(withoutWorker.exitReason()).toBeUndefined();
  });
});
