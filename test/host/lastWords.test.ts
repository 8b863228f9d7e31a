import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastWords, logLength } from '../../src/host/attach/lastWords.ts';
import { temporaryFolder } from '../support/workspace.ts';

const OWN = '2026-11-18T21:00:00.000Z worker 7 stops: an error that was told\n';

function log(text: string): string {
  const file = join(temporaryFolder('wg-log-'), 'worker.log');
  writeFileSync(file, text);
  return file;
}

/** What Node itself writes when this program ends. */
function endOf(program: string, ...options: string[]): string {
  try {
    execFileSync(process.execPath, [...options, '-e', program], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    return String((error as { stderr: Buffer }).stderr);
  }
  throw new Error('It did not end by an error.');
}

describe('the last words of a worker', () => {
  it.each<[string, () => string, string | RegExp]>([
    ['an error', () => endOf('throw new TypeError("no such thing")'), 'TypeError: no such thing'],
    [
      'a module that is not there',
      () => endOf('require("/nowhere/x.cjs")'),
      "Error: Cannot find module '/nowhere/x.cjs'",
    ],
    [
      'its memory',
      () => endOf('const kept = []; for (;;) kept.push(new Array(1e4).fill(1.5));', '--max-old-space-size=16'),
      /^FATAL ERROR: .*heap/,
    ],
    ['its stack, as it writes it itself', () => 'Error: no room\n    at required (x.js:1:1)\n', 'Error: no room'],
  ])('name %s', (_, end, words) => {
    expect(lastWords(log(OWN + end() + OWN), 0)).toMatch(words);
  });

  it('are none where it had no time for any, and none of the one before', () => {
    const file = log(`Error: of the one before\n${OWN}`);
    const from = logLength(file);
    expect(lastWords(file, from)).toBeUndefined();
    writeFileSync(file, OWN, { flag: 'a' });
    expect(lastWords(file, from)).toBeUndefined();
    writeFileSync(file, 'Error: of this one\n', { flag: 'a' });
    expect(lastWords(file, from)).toBe('Error: of this one');
  });

  it('are found in a log that has begun anew, at the end of a long one, and nowhere where there is none', () => {
    expect(lastWords(log('Error: short\n'), 5_000)).toBe('Error: short');
    expect(lastWords(log(`${OWN.repeat(5_000)}Error: late\n`), 0)).toBe('Error: late');
    expect(lastWords('/nowhere/worker.log', 0)).toBeUndefined();
    expect(logLength('/nowhere/worker.log')).toBe(0);
  });

  it('hold no secret, and are one line', () => {
    const words = lastWords(log(`Error: token=abcdef123456 ${'x'.repeat(500)}\n`), 0) ?? '';
    expect(words).toMatch(/^Error: token=\[REDACTED-SECRET\] x+…$/);
    expect(words.length).toBeLessThanOrEqual(200);
  });
});
