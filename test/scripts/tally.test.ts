import { expect, test } from 'vitest';
import { closingLine, succeeded, sum, tallyOfStep, tallyOfTests, tallyOfVitest } from '../../scripts/lib/tally.mjs';

const tally = (passed: number, failed = 0, skipped = 0) => ({ passed, failed, skipped });

test('the closing line names skipped tests only when there are some', () => {
  expect(closingLine(tally(12, 3))).toBe('12 passed, 3 failed');
  expect(closingLine(tally(12, 0, 1))).toBe('12 passed, 0 failed, 1 skipped');
});

test('a run succeeds when something passed and nothing failed', () => {
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

test('a test file that could not be loaded counts as a failure', () => {
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
