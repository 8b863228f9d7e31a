import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';
import { driver } from './driver.ts';
import { REPORT_FILE, type SuiteReport, type TestOutcome } from './driverProtocol.ts';

/** A real window, real child processes: slow machines get time, but nothing hangs for ever. */
const TEST_LIMIT_MS = 60_000;

/** Only the tests whose titles match are run: for who works on one of them. */
const GREP = 'WAYGATE_EDITOR_GREP';

/** A suite file's name, and what loads it once mocha is ready for its `describe`. */
export type SuiteFile = readonly [name: string, load: () => unknown];

/** Runs in the extension host: VS Code waits for the promise and ends with its outcome. */
export async function runSuite(files: readonly SuiteFile[]): Promise<void> {
  const outcomes: TestOutcome[] = [];
  /** Written after every test: what passed before a crash has passed. */
  const writeReport = (complete: boolean) => {
    const count = (state: TestOutcome['state']) => outcomes.filter((outcome) => outcome.state === state).length;
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    const report: SuiteReport = { complete, ...counts, tests: outcomes };
    const file = process.env[REPORT_FILE];
    if (file) writeFileSync(file, JSON.stringify(report, null, 2));
  };
  const lines: Promise<void>[] = [];
  const print = (line: string) => lines.push(driver.log(line));

  const { [GREP]: grep } = process.env;
  const mocha = new Mocha({ ui: 'bdd', timeout: TEST_LIMIT_MS, reporter: Mocha.reporters.Base, ...(grep && { grep }) });
  mocha.rootHooks({
    async afterEach(this: Mocha.Context) {
      const { currentTest } = this;
      if (currentTest?.state !== 'failed') return;
      await driver.screenshot(`failed ${currentTest.fullTitle()}`);
      for (const text of await driver.notifications()) await driver.log(`      notification: ${text}`);
    },
  });
  for (const [name, load] of files) {
    mocha.suite.emit('pre-require', globalThis, name, mocha);
    mocha.suite.emit('require', load(), name, mocha);
    mocha.suite.emit('post-require', globalThis, name, mocha);
  }

  const failures = await new Promise<number>((done) => {
    const runner = mocha.run(done);
    const add = (test: Mocha.Runnable, state: TestOutcome['state'], error?: Error) => {
      const outcome: TestOutcome = { title: test.fullTitle(), state, durationMs: test.duration ?? 0 };
      if (error) outcome.error = error.stack ?? String(error);
      outcomes.push(outcome);
      writeReport(false);
      const mark = { passed: '✓', failed: '✗', skipped: '-' }[state];
      print(`  ${mark} ${outcome.title} (${outcome.durationMs} ms)`);
      if (outcome.error) print(outcome.error.replace(/^/gm, '      '));
    };
    runner.on('pass', (test) => add(test, 'passed'));
    runner.on('pending', (test) => add(test, 'skipped'));
    // Also for a hook: it fails once, whatever the number of tests it keeps from running.
    runner.on('fail', (test, error: Error) => add(test, 'failed', error));
  });
  await Promise.all(lines);

  writeReport(true);
  if (failures > 0) throw new Error(`${failures} of the tests inside VS Code failed.`);
}
