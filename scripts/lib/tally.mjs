/** @typedef {{ passed: number, failed: number, skipped: number }} Tally */

/** @type {Tally} */
const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/** @param {readonly Tally[]} tallies @returns {Tally} */
export function sum(tallies) {
  return tallies.reduce(
    (all, { passed, failed, skipped }) => ({
      passed: all.passed + passed,
      failed: all.failed + failed,
      skipped: all.skipped + skipped,
    }),
    NOTHING,
  );
}

/** @param {Tally} tally */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Nothing that ran is no success. @param {Tally} tally */
export function succeeded({ passed, failed }) {
  return failed === 0 && passed > 0;
}

/**
 * A step without tests of its own counts as one.
 * @param {number} exitCode
 * @returns {Tally}
 */
export function tallyOfStep(exitCode) {
  return exitCode === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 };
}

/**
 * A step that failed without a failed test (it crashed, or a file could not be loaded) is one failure more, and so
 * is one that claims success but counted nothing.
 * @param {number} exitCode
 * @param {Tally | undefined} counted what its report says; undefined when there is no report
 * @returns {Tally}
 */
export function tallyOfTests(exitCode, counted) {
  if (counted === undefined) return { ...NOTHING, failed: 1 };
  const silent = counted.failed === 0 && (exitCode !== 0 || counted.passed + counted.skipped === 0);
  return silent ? { ...counted, failed: 1 } : counted;
}

/**
 * Reads vitest's and jest's JSON report. A file that could not be loaded has no tests in it: it counts as a failure.
 * @param {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests?: number,
 *   testResults?: readonly { status: string, assertionResults: readonly { status: string }[] }[] }} report
 * @returns {Tally}
 */
export function tallyOfVitest(report) {
  const unloaded = (report.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
  };
}

/** How much of a failure's own words is repeated at the end: the assertion and where it stands. */
const WORDS_OF_FAILURE = 15;

/** @typedef {{ title: string, words: string }} Failure */

/**
 * Returns the failed tests of a report.
 * @param {{ testResults: readonly { name: string, status: string, message?: string,
 *   assertionResults: readonly { status: string, fullName: string, failureMessages?: readonly string[] }[] }[] }} report
 * @returns {Failure[]}
 */
export function failuresOfVitest({ testResults }) {
  return testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [{ title: name, words: message }] : [];
    return failed.map(({ fullName, failureMessages = [] }) => ({
      title: `${name}: ${fullName}`,
      words: failureMessages.join('\n'),
    }));
  });
}

/** @param {{ tests: readonly { title: string, state: string, error?: string }[] }} report @returns {Failure[]} */
export function failuresOfEditor({ tests }) {
  return tests.filter(({ state }) => state === 'failed').map(({ title, error = '' }) => ({ title, words: error }));
}

/** @param {Failure} failure */
export function formatFailure({ title, words }) {
  const lines = words.trim().split('\n').slice(0, WORDS_OF_FAILURE);
  return [`✗ ${title}`, ...lines.filter(Boolean).map((line) => `    ${line}`)].join('\n');
}
