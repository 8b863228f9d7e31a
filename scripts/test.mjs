// npm test: sets up what is missing, then runs every check there is and ends with one line that sums them up.
// npm test -- --only unit,editor runs some of them.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages, ownNode, toolEnvironment } from './lib/npm.mjs';
import { endGroup, exitCode, leaveTogether, start } from './lib/processes.mjs';
import { SetupError } from './lib/setupError.mjs';
import { ensureBrowser } from './lib/systemPackages.mjs';
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
} from './lib/tally.mjs';

/** @typedef {import('./lib/tally.mjs').Tally} Tally */

/**
 * Repeated at the end, where a reader of a long run looks first.
 * @type {import('./lib/tally.mjs').Failure[]}
 */
const failures = [];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reports = join(root, '.out', 'reports');

/** No step may take longer; the suite inside VS Code has shorter limits of its own. */
const STEP_LIMIT_MS = 15 * 60_000;

/** Folders of test/ that are steps of their own. What lies in none of them is a unit test. */
const GROUPS = ['integration', 'conformance', 'hardening'];
const ELSEWHERE = ['editor', 'bench'];

/** @param {string} title @param {readonly string[]} args of our own Node @param {NodeJS.ProcessEnv} [more] */
async function run(title, args, more = {}) {
  console.log(`\n── ${title}`);
  const child = start(ownNode(root), args, { cwd: root, env: { ...toolEnvironment(root), ...more } });
  const limit = setTimeout(() => {
    console.error(`${title}: ended after ${STEP_LIMIT_MS / 60_000} minutes.`);
    endGroup(child);
  }, STEP_LIMIT_MS);
  try {
    return await exitCode(child);
  } catch (error) {
    console.error(`${title} could not be started: ${error instanceof Error ? error.message : error}`);
    return 1;
  } finally {
    clearTimeout(limit);
  }
}

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {string} title @param {string[][]} commands each run by our own Node, all of them, one success or failure */
async function check(title, commands) {
  let worst = 0;
  for (const args of commands) worst = Math.max(worst, await run(title, args));
  return tallyOfStep(worst);
}

/** @param {string} group @param {readonly string[]} selection */
async function vitest(group, selection) {
  const report = join(reports, `${group}.json`);
  rmSync(report, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...selection];
  const code = await run(group, [...args, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]);
  const counted = readReport(report);
  if (counted) failures.push(...failuresOfVitest(counted));
  return tallyOfTests(code, counted && tallyOfVitest(counted));
}

/** The suite inside VS Code sets up by itself what it needs beyond the packages. */
async function editor() {
  const report = join(reports, 'editor.json');
  rmSync(report, { force: true });
  const code = await run('editor', ['test/editor/harness/run.ts'], { WAYGATE_TEST_REPORT: report });
  const counted = readReport(report);
  if (counted) failures.push(...failuresOfEditor(counted));
  return tallyOfTests(code, counted);
}

/** @type {Record<string, () => Promise<Tally>>} */
const STEPS = {
  typecheck: () =>
    check(
      'typecheck',
      ['tsconfig.json', 'webview/tsconfig.json'].map((file) => [binary('typescript', 'tsc'), '-p', file]),
    ),
  lint: () => check('lint', [[binary('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']]),
  build: () => check('build', [['esbuild.mjs', '--test']]),
  unit: async () => {
    // The dashboard's page is looked at in it.
    await ensureBrowser(root);
    return vitest(
      'unit',
      [...GROUPS, ...ELSEWHERE].map((folder) => `--exclude=test/${folder}/**`),
    );
  },
  ...Object.fromEntries(GROUPS.map((folder) => [folder, () => vitest(folder, [`test/${folder}/`])])),
  integration: async () => {
    // One of the real servers opens pages in it.
    await ensureBrowser(root);
    return vitest('integration', ['test/integration/']);
  },
  editor,
};

/** The script behind a package's program. @param {string} name @param {string} program */
function binary(name, program) {
  const folder = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[program]);
}

/** Which steps to run: all whose tests are there, or those that are asked for. */
function chosenSteps() {
  const position = process.argv.indexOf('--only');
  if (position === -1) {
    return Object.keys(STEPS).filter((name) => !GROUPS.includes(name) || existsSync(join(root, 'test', name)));
  }
  const names = (process.argv[position + 1] ?? '').split(',').filter(Boolean);
  const unknown = names.find((name) => !(name in STEPS));
  if (names.length === 0 || unknown !== undefined) {
    console.error(
      `--only takes one or more of ${Object.keys(STEPS).join(', ')}${unknown ? `, not "${unknown}"` : ''}.`,
    );
    process.exit(64);
  }
  // The suite inside VS Code is the one that was built last.
  return names.includes('editor') && !names.includes('build') ? ['build', ...names] : names;
}

async function main() {
  const names = chosenSteps();
  /** @type {Tally[]} */
  const tallies = [];
  try {
    await ensurePackages(root);
  } catch (error) {
    console.error(error instanceof SetupError ? error.message : error);
    return tallyOfStep(1);
  }
  mkdirSync(reports, { recursive: true });
  for (const name of names) {
    const known = failures.length;
    try {
      const tally = await /** @type {() => Promise<Tally>} */ (STEPS[name])();
      tallies.push(tally);
      console.log(`── ${name}: ${closingLine(tally)}`);
      if (tally.failed > 0 && failures.length === known) {
        failures.push({ title: name, words: 'It failed without a failed test: see its own output above.' });
      }
    } catch (error) {
      const words = String(error instanceof SetupError ? error.message : error);
      console.error(`── ${name}: ${words}`);
      failures.push({ title: name, words });
      tallies.push(tallyOfStep(1));
    }
  }
  return sum(tallies);
}

leaveTogether();
const total = await main();
if (failures.length > 0) console.log(`\nFailed:\n${failures.map(formatFailure).join('\n')}`);
console.log(`\n${closingLine(total)}`);
process.exitCode = succeeded(total) ? 0 : 1;
