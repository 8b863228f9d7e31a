import { appendFileSync, writeFileSync } from 'node:fs';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import { driver, eventually } from './driver.ts';
import { REPORT_FILE, type SuiteReport, type TestOutcome } from './driverProtocol.ts';

/** A real window with real child processes takes time on slow machines, but nothing may hang for ever. */
const TEST_LIMIT_MS = 60_000;

/** Restricts the run to tests whose titles match. */
const GREP = 'WAYGATE_EDITOR_GREP';

/** Name of a suite file, and its loader, called when mocha is ready for `describe`. */
export type SuiteFile = readonly [name: string, load: () => unknown];

/** Runs in the extension host. VS Code waits for the promise and exits with its result. */
export async function runSuite(files: readonly SuiteFile[]): Promise<void> {
  await openedWorkspace();
  const outcomes: TestOutcome[] = [];
  /** Written after every test, so that the results survive a crash. */
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
    // Includes hooks: a hook fails once, however many tests it prevents.
    runner.on('fail', (test, error: Error) => add(test, 'failed', error));
  });
  await Promise.all(lines);

  writeReport(true);
  if (failures > 0) throw new Error(`${failures} of the tests inside VS Code failed.`);
}

/**
 * Waits for the folders of the window. VS Code may read the file of the workspace before it can read files of its server,
 * and takes it for empty until the file changes.
 */
async function openedWorkspace(): Promise<void> {
  const { workspaceFile } = vscode.workspace;
  const hasFolders = (): boolean => (vscode.workspace.workspaceFolders ?? []).length > 0;
  if (hasFolders() || workspaceFile === undefined) return;
  appendFileSync(workspaceFile.fsPath, '\n');
  await eventually('the folders of the workspace', hasFolders);
}
