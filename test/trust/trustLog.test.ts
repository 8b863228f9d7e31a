import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/host/attach/startLock.ts';
import { TrustLog } from '../../src/trust/trustLog.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trust-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const logOf = (): TrustLog => new TrustLog({ folder, lock: acquireLock, now: () => new Date(0) });
const accept = (log: TrustLog, n: number): void =>
  log.add({ actor: 'person-cli', what: 'tool', subject: `accept one tools:${n}`, pin: 'p', shown: 's' });

describe('the trust log', () => {
  it('chains the entries of all processes, for the owner alone', () => {
    for (const n of [1, 2, 3]) accept(logOf(), n);
    expect(logOf().verify()).toMatchObject({ lines: 3, head: logOf().entries()[2]?.sum });
    expect(logOf().entries()).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3, subject: 'accept one tools:3' }]);
    expect(statSync(logOf().file).mode & 0o777).toBe(0o600);
  });

  it('shows a change of any byte, a lost line and a line in another place', () => {
    for (const n of [1, 2, 3]) accept(logOf(), n);
    const text = readFileSync(logOf().file, 'latin1');
    const verify = (changed: string): number | undefined => {
      writeFileSync(logOf().file, changed, 'latin1');
      return logOf().verify().brokenAt;
    };
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === 'x' ? 'y' : 'x';
      expect(verify(text.slice(0, at) + other + text.slice(at + 1)), `byte ${at}`).toBeDefined();
    }
    const [one, two, three] = text.split('\n');
    expect(verify(`${two}\n${three}\n`)).toBe(1);
    expect(verify(`${one}\n${three}\n`)).toBe(2);
    expect(verify(`${one}\n${three}\n${two}\n`)).toBe(2);
    expect(verify(text)).toBeUndefined();
  });

  it('goes on after a torn line, and shows where', () => {
    accept(logOf(), 1);
    writeFileSync(logOf().file, `${readFileSync(logOf().file, 'utf8')}{"seq":2,"ts`);
    accept(logOf(), 3);
    expect(logOf().verify().brokenAt).toBe(2);
    expect(
      logOf()
        .entries()
        .map(({ subject }) => subject),
    ).toEqual(['accept one tools:1', 'accept one tools:3']);
  });

  it('stays whole however long the names are that a server gives its tools', () => {
    const log = logOf();
    for (const name of ['x'.repeat(100_000), '\u202e\n"'.repeat(50_000), 'short']) {
      log.add({ actor: 'person-cli', what: 'tool', subject: `block one tools:${name}` });
    }
    expect(log.verify()).toEqual({ lines: 3, head: expect.any(String) });
    expect(readFileSync(log.file, 'utf8')).toMatch(/^[\n -~…]*$/);
  });

  it('waits for a process that is writing, and reports one that does not end', () => {
    let tries = 0;
    const busy = (free: number): TrustLog =>
      new TrustLog({
        folder,
        lock: (path) => (++tries > free ? acquireLock(path) : undefined),
        now: () => new Date(0),
      });
    accept(busy(3), 1);
    expect([tries, logOf().entries().length]).toEqual([4, 1]);
    expect(() => accept(busy(Number.POSITIVE_INFINITY), 2)).toThrow(/another process holds .*trust\.jsonl\.lock/);
  });

  it('that cannot be read is not whole', () => {
    mkdirSync(logOf().file);
    expect(() => logOf().verify()).toThrow(/trust\.jsonl cannot be read: EISDIR\.$/);
    expect(() => logOf().entries()).toThrow(/cannot be read/);
  });
});
