import { expect, test } from 'vitest';
import {
  closingLine,
  failuresOfEditor,
  failuresOfVitest,
  formatFailure,
  succeeded,
  sum,
  tallyOfStep,
  tallyOfTests,
  tallyOfVitest,
} from '../../scripts/lib/tally.mjs';

const tally = (passed: number, failed = 0, skipped = 0) => ({ passed, failed, skipped });

test('the closing line mentions skipped tests only if there are some', () => {
  expect(closingLine(tally(12, 3))).toBe('12 passed, 3 failed');
  expect(closingLine(tally(12, 0, 1))).toBe('12 passed, 0 failed, 1 skipped');
});

test('a run succeeds if something passed and nothing failed', () => {
  expect(succeeded(tally(1))).toBe(true);
  expect(succeeded(tally(5, 1))).toBe(false);
  expect(succeeded(tally(0))).toBe(false);
  expect(succeeded(tally(0, 0, 4))).toBe(false);
});

test('steps and tests add up', () => {
  expect(sum([tallyOfStep(0), tallyOfStep(2), tally(10, 0, 2)])).toEqual(tally(11, 1, 2));
});

test('a crash counts as a failure, once', () => {
  expect(tallyOfTests(1, undefined)).toEqual(tally(0, 1));
  expect(tallyOfTests(1, tally(7))).toEqual(tally(7, 1));
  expect(tallyOfTests(1, tally(7, 2))).toEqual(tally(7, 2));
  expect(tallyOfTests(0, tally(7))).toEqual(tally(7));
  expect(tallyOfTests(0, tally(0))).toEqual(tally(0, 1));
});

test('a test file that cannot be loaded counts as a failure', () => {
  const report = {
    numPassedTests: 4,
    numFailedTests: 1,
    numPendingTests: 1,
    numTodoTests: 1,
    testResults: [
      { status: 'failed', assertionResults: [] },
      { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] },
      { status: 'passed', assertionResults: [{ status: 'passed' }] },
    ],
  };
  expect(tallyOfVitest(report)).toEqual(tally(4, 2, 2));
});

test('failures are listed by file, title and first lines at the end of a run', () => {
  const report = {
    testResults: [
      { name: 'test/good.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'works' }] },
      { name: 'test/broken.test.ts', status: 'failed', message: 'Cannot find it', assertionResults: [] },
      {
        name: 'test/bad.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'works' },
          {
            status: 'failed',
            fullName: 'a thing fails',
            failureMessages: ['expected 1 to be 2\n    at bad.test.ts:3'],
          },
        ],
      },
    ],
  };
  expect(failuresOfVitest(report)).toEqual([
    { title: 'test/broken.test.ts', words: 'Cannot find it' },
    { title: 'test/bad.test.ts: a thing fails', words: 'expected 1 to be 2\n    at bad.test.ts:3' },
  ]);
  const tests = [
    { title: 'The tree shows', state: 'passed' },
    { title: 'The tree hides', state: 'failed', error: 'no tree' },
  ];
  expect(failuresOfEditor({ tests })).toEqual([{ title: 'The tree hides', words: 'no tree' }]);
});

test('a long failure is shortened to its first lines', () => {
  const words = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const formatted = formatFailure({ title: 'long', words });
  expect(formatted.split('\n')).toHaveLength(16);
  expect(formatted).toMatch(/^✗ long\n {4}line 0\n/);
});
