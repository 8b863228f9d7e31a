import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EventLog, rotatedFiles, rotatedName } from '../../src/telemetry/eventLog.ts';
import { followEvents } from '../../src/telemetry/followEvents.ts';
import { until } from '../support/hostProcess.ts';
import { recordsOf } from '../support/lines.ts';
import { temporaryFolder } from '../support/workspace.ts';

const dropped = (loss: object): object => ({ event: 'log.dropped', ...loss });
const logFile = (): string => join(temporaryFolder('waygate-log-'), 'events.jsonl');
const numbers = (file: string): unknown[] =>
  recordsOf(file)
    .filter((record) => 'n' in record)
    .map((record) => record.n);

describe('the event log', () => {
  it('writes lines in order, readable by the owner only, and flushes on close', async () => {
    const file = logFile();
    const log = new EventLog({ file });
    for (let n = 0; n < 500; n++) log.append(() => ({ n }));
    expect(existsSync(file)).toBe(false);
    await log.close();
    expect(numbers(file)).toEqual(Array.from({ length: 500 }, (_, n) => n));
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(log.status).toEqual({ written: 500, dropped: 0, failures: 0 });
    log.append(() => ({ n: 501 }));
    await log.flush();
    expect(numbers(file)).toHaveLength(500);
  });

  it('writes after a short delay without a flush', async () => {
    const file = logFile();
    const log = new EventLog({ file, flushDelayMs: 1 });
    log.append(() => ({ n: 1 }));
    await until('the line', async () => numbers(file).length === 1);
    await log.close();
  });

  it('appends to the file of an earlier worker', async () => {
    const file = logFile();
    writeFileSync(file, '{"n":1}\n');
    const log = new EventLog({ file });
    log.append(() => ({ n: 2 }));
    await log.close();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1}\n{"n":2}\n');
  });

  it('begins a new line after a failed write that may have left half a line', async () => {
    const file = logFile();
    const log = new EventLog({ file });
    mkdirSync(file);
    log.append(() => ({ n: 1 }));
    await log.flush();
    rmdirSync(file);
    writeFileSync(file, '{"n":1');
    log.append(() => ({ n: 2 }));
    await log.flush();
    log.append(() => ({ n: 3 }));
    await log.close();
    expect(readFileSync(file, 'utf8')).toBe('{"n":1\n{"n":2}\n{"n":3}\n');
  });

  it('renames a full file, never empties one, and removes only the oldest', async () => {
    const file = logFile();
    const log = new EventLog({ file, maxBytes: 1_000, maxFiles: 3 });
    for (let n = 0; n < 400; n++) {
      log.append(() => ({ n, filler: 'x'.repeat(20) }));
      if (n % 5 === 0) await log.flush();
    }
    await log.close();
    const files = [...(await rotatedFiles(file)), file];
    expect(readdirSync(join(file, '..'))).toHaveLength(3);
    expect(files).toHaveLength(3);
    for (const one of files) expect(statSync(one).size).toBeLessThanOrEqual(1_000);
    const kept = (await Promise.all(files.map(numbers))).flat() as number[];
    // No gap before the last number: a renamed file is complete.
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 400 - kept.length + i));
    expect(kept.length).toBeGreaterThan(40);
  });

  it('holds a bounded number of events and logs the number of dropped ones', async () => {
    const file = logFile();
    const log = new EventLog({ file, maxQueue: 10, dropped });
    for (let n = 0; n < 25; n++) log.append(() => ({ n }));
    await log.close();
    const records = recordsOf(file);
    expect(records).toContainEqual({ event: 'log.dropped', count: 15, reason: 'too many at once' });
    expect(numbers(file)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(log.status).toEqual({ written: 10, dropped: 15, failures: 0 });
  });

  it('drops an event that cannot be made, and no other', async () => {
    const file = logFile();
    const log = new EventLog({ file });
    log.append(() => ({ n: 1 }));
    log.append(() => {
      throw new Error('no');
    });
    log.append(() => ({ n: 2n }));
    log.append(() => ({ n: 3 }));
    await log.close();
    expect(numbers(file)).toEqual([1, 3]);
    expect(log.status).toMatchObject({ written: 2, dropped: 2 });
  });

  it.skipIf(!existsSync('/dev/full'))('survives a full disk and reports it in its status', async () => {
    const log = new EventLog({ file: '/dev/full' });
    log.append(() => ({ n: 1 }));
    await log.flush();
    log.append(() => ({ n: 2 }));
    await log.close();
    expect(log.status).toEqual({ written: 0, dropped: 2, failures: 2, failing: 'ENOSPC' });
  });

  it('writes again after a failure and logs the number of dropped events', async () => {
    const file = logFile();
    mkdirSync(file);
    const log = new EventLog({ file, dropped });
    for (const n of [1, 2]) {
      log.append(() => ({ n }));
      await log.flush();
    }
    expect(log.status).toMatchObject({ written: 0, dropped: 2, failing: 'EISDIR' });
    rmdirSync(file);
    log.append(() => ({ n: 3 }));
    await log.close();
    expect(recordsOf(file)).toEqual([{ event: 'log.dropped', count: 2, reason: 'EISDIR' }, { n: 3 }]);
    expect(log.status).toEqual({ written: 1, dropped: 2, failures: 2 });
  });

  it('writes to the new file after another process has renamed the old one', async () => {
    const file = logFile();
    const log = new EventLog({ file });
    log.append(() => ({ n: 1 }));
    await log.flush();
    const renamed = rotatedName(file);
    renameSync(file, renamed);
    log.append(() => ({ n: 2 }));
    await log.close();
    expect([numbers(renamed), numbers(file)]).toEqual([[1], [2]]);
  });

  it('keeps every line whole while two processes write and rename', async () => {
    const file = logFile();
    const program = `
      import { EventLog } from ${JSON.stringify(resolve('src/telemetry/eventLog.ts'))};
      const log = new EventLog({ file: process.argv[1], maxBytes: 60_000, maxFiles: 50 });
      for (let n = 0; n < 1500; n++) {
        log.append(() => ({ n, who: process.argv[2], filler: 'é'.repeat(100) }));
        if (n % 50 === 0) await log.flush();
      }
      await log.close();`;
    const run = (who: string): Promise<number | null> =>
      new Promise((done) => {
        const args = ['--experimental-strip-types', '--input-type=module', '-e', program, file, who];
        spawn(process.execPath, args, { stdio: 'inherit' }).once('exit', done);
      });
    expect(await Promise.all(['a', 'b'].map(run))).toEqual([0, 0]);
    const lines = readdirSync(join(file, '..')).flatMap((name) =>
      readFileSync(join(file, '..', name), 'utf8')
        .split('\n')
        .slice(0, -1),
    );
    const records = lines.map((line) => JSON.parse(line) as { who: string; n: number } | null);
    for (const who of ['a', 'b']) {
      const seen = records.flatMap((record) => (record?.who === who ? [record.n] : []));
      expect(seen.sort((x, y) => x - y)).toEqual(Array.from({ length: 1_500 }, (_, n) => n));
    }
  });
});

describe('a reader of the log', () => {
  it('follows new events across a rotation and a line in two halves, and skips torn lines and lines that are no object', async () => {
    const file = logFile();
    writeFileSync(file, '{"n":0}\n');
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const { n } of followEvents(file, { signal: stop.signal, pollMs: 5 })) seen.push(n);
    })();
    // The follower sees an appended line and has therefore begun.
    const log = new EventLog({ file, maxBytes: 100, maxFiles: 5 });
    await until('it to have begun', async () => {
      log.append(() => ({ n: 'begun' }));
      await log.flush();
      return seen.length > 0;
    });
    for (let n = 1; n <= 20; n++) {
      log.append(() => ({ n }));
      await log.flush();
      await until(`number ${n}`, () => seen.includes(n));
    }
    await log.close();
    writeFileSync(file, 'null\n[2]\n{"n":\r\n{"n":', { flag: 'a' });
    writeFileSync(file, '21}\n', { flag: 'a' });
    await until('the line of two halves', () => seen.includes(21));
    stop.abort();
    await following;
    for (const none of [0, undefined]) expect(seen).not.toContain(none);
    expect(seen.filter((n) => typeof n === 'number')).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
  });
});
