// npm test: sets up what is missing, then runs every check, some of them at the same time, and ends with the time of each stage
// and one line that sums them up.
// npm test -- --only pure,editor runs some of them; npm test -- --help lists them.

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePackages, ownNode, toolEnvironment } from './lib/npm.mjs';
import { endGroup, exitCode, leaveTogether, start } from './lib/processes.mjs';
import { SetupError } from './lib/setupError.mjs';
import { duration, partTimes, runStages, stageTable } from './lib/stages.mjs';
import { ensureBrowser, tryWalls } from './lib/systemPackages.mjs';
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
 * Failures of all stages, repeated at the end of a long output.
 * @type {import('./lib/tally.mjs').Failure[]}
 */
const failures = [];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reports = join(root, '.out', 'reports');

/** Limit for a stage that hangs. The suite inside VS Code has shorter limits of its own. */
const STAGE_LIMIT_MS = 20 * 60_000;

/** Most stages wait for processes more than they compute, so more than two would only disturb each other. */
const LANES = Math.min(2, availableParallelism());

/**
 * Runs one command of a stage. Its output is printed as it comes where the stage runs alone, else whole at its end.
 * @param {Stage} stage
 * @param {readonly string[]} args of our own Node
 * @param {NodeJS.ProcessEnv} [more]
 */
async function run(stage, args, more = {}) {
  const { name, isAlone } = stage;
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const env = { ...toolEnvironment(root), ...(isAlone ? {} : colour), ...more };
  const child = start(ownNode(root), args, {
    cwd: root,
    env,
    ...(isAlone ? {} : { stdio: ['ignore', 'pipe', 'pipe'] }),
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      stage.output += text;
    });
  }
  const limit = setTimeout(() => {
    stage.output += `${name}: ended after ${STAGE_LIMIT_MS / 60_000} minutes.\n`;
    endGroup(child);
  }, STAGE_LIMIT_MS);
  try {
    return await exitCode(child);
  } catch (error) {
    stage.output += `${name} could not be started: ${error instanceof Error ? error.message : error}\n`;
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

/** @param {Stage} stage @param {readonly string[][]} commands each run by our own Node, all of them, one success or failure */
async function check(stage, commands) {
  let worst = 0;
  for (const args of commands) worst = Math.max(worst, await run(stage, args));
  return tallyOfStep(worst);
}

/** Test files that start processes wait for them more than they compute. */
const WAITING_WORKERS = availableParallelism() + 1;

/** Runs the vitest project of the stage's name. @param {Stage} stage @param {number} [workers] */
async function vitest(stage, workers = WAITING_WORKERS, project = stage.name) {
  const report = join(reports, `${project}.json`);
  rmSync(report, { force: true });
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, `--maxWorkers=${workers}`];
  const code = await run(stage, [...args, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]);
  const counted = readReport(report);
  if (counted) failures.push(...failuresOfVitest(counted));
  return tallyOfTests(code, counted && tallyOfVitest(counted));
}

/** Runs the suite inside VS Code, which sets up what it needs beyond the packages. @param {Stage} stage */
async function editor(stage) {
  const report = join(reports, 'editor.json');
  rmSync(report, { force: true });
  const code = await run(stage, ['test/editor/harness/run.ts'], { WAYGATE_TEST_REPORT: report });
  const counted = readReport(report);
  if (counted) failures.push(...failuresOfEditor(counted));
  return tallyOfTests(code, counted);
}

/** Budgets in seconds: nobody runs tests of the agent mode that take longer. */
const BUDGETS = { agent: 4 * 60 };

/** Words for the closing table beside the tally of a stage. @type {Map<string, string>} */
const details = new Map();

/**
 * Runs the tests in an ordinary window of VS Code: those of Waygate's own words, and those of Copilot's agent mode.
 * @param {Stage} stage
 */
async function windows(stage) {
  const parts = await runStages(['window', 'agent'], 1, (project) => vitest(stage, 1, project));
  const times = partTimes(parts, BUDGETS);
  details.set(stage.name, ` (${times.words})`);
  failures.push(...times.failures);
  return sum([...parts.map(({ result }) => result), ...times.failures.map(() => tallyOfStep(1))]);
}

/** @typedef {{ name: string, isAlone: boolean, output: string }} Stage */

/**
 * All stages: quick verdicts first, then the longest first, so that none is left alone at the end.
 * @type {Record<string, (stage: Stage) => Promise<Tally>>}
 */
const STAGES = {
  build: (stage) => check(stage, [['esbuild.mjs', '--test']]),
  typecheck: (stage) =>
    check(
      stage,
      ['tsconfig.json', 'webview/tsconfig.json'].map((file) => [binary('typescript', 'tsc'), '-p', file]),
    ),
  lint: (stage) => check(stage, [[binary('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']]),
  integration: (stage) => vitest(stage),
  editor,
  windows,
  hardening: (stage) => vitest(stage),
  processes: (stage) => vitest(stage),
  conformance: (stage) => vitest(stage),
  pure: (stage) => vitest(stage, availableParallelism()),
};

/** Stages that look at the dashboard in a browser, or have a server open pages in one. */
const WITH_BROWSER = ['processes', 'integration'];

/** Further names for `--only`. @type {Record<string, readonly string[]>} */
const GROUPS = { unit: ['processes', 'pure'] };

/** Stages that install what is built, in a VS Code that has no other way to it. */
const WITH_EDITOR = ['editor', 'windows'];

/** Stages that need no build, or make one by themselves where nothing else runs. */
const WITHOUT_BUILD = ['typecheck', 'lint'];

/** The script behind a package's program. @param {string} name @param {string} program */
function binary(name, program) {
  const folder = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[program]);
}

const HELP = `npm test                      sets up what is missing, and runs every check
npm test -- --only NAME,...   runs some: ${[...Object.keys(STAGES), ...Object.keys(GROUPS)].join(', ')}
npm test -- --help            prints this
npx vitest run FILE           runs one test file
`;

/** @param {string} problem @returns {never} */
function refuse(problem) {
  console.error(`${problem}\n${HELP}`);
  process.exit(64);
}

/** The stages to run: all, or those that `--only` names. */
function chosenStages() {
  const { only, help } = readOptions();
  if (help) {
    console.log(HELP);
    process.exit(0);
  }
  if (only === undefined) return Object.keys(STAGES);
  const words = only.split(',').filter(Boolean);
  const given = words.flatMap((name) => GROUPS[name] ?? name);
  const unknown = given.find((name) => !(name in STAGES));
  if (given.length === 0) refuse('--only needs the name of a stage.');
  if (unknown !== undefined) refuse(`There is no stage "${unknown}".`);
  // Two stages that found the build stale would both build; the suite inside VS Code is built by this stage alone.
  const building =
    given.some((name) => WITH_EDITOR.includes(name)) ||
    given.filter((name) => !WITHOUT_BUILD.includes(name)).length > 1;
  return Object.keys(STAGES).filter((name) => given.includes(name) || (building && name === 'build'));
}

/** @returns {{ only?: string | undefined, help?: boolean | undefined }} */
function readOptions() {
  try {
    return parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} name @param {boolean} isAlone @returns {Promise<Tally>} */
async function runStage(name, isAlone) {
  /** @type {Stage} */
  const stage = { name, isAlone, output: '' };
  const started = performance.now();
  const known = failures.length;
  if (isAlone) console.log(`\n── ${name}`);
  /** @type {Tally} */
  let tally;
  try {
    tally = await /** @type {(stage: Stage) => Promise<Tally>} */ (STAGES[name])(stage);
    if (tally.failed > 0 && failures.length === known) {
      failures.push({ title: name, words: 'It failed without a failed test: see its own output above.' });
    }
  } catch (error) {
    const words = String(error instanceof SetupError ? error.message : error);
    stage.output += `${words}\n`;
    failures.push({ title: name, words });
    tally = tallyOfStep(1);
  }
  if (!isAlone) console.log(`\n── ${name}`);
  process.stdout.write(stage.output);
  console.log(`── ${name}: ${closingLine(tally)} (${duration((performance.now() - started) / 1_000)})`);
  return tally;
}

async function main() {
  const names = chosenStages();
  const started = performance.now();
  try {
    await ensurePackages(root);
    if (names.some((name) => WITH_BROWSER.includes(name))) await ensureBrowser(root);
    if (names.includes('integration')) await tryWalls(root);
  } catch (error) {
    console.error(error instanceof SetupError ? error.message : error);
    return tallyOfStep(1);
  }
  mkdirSync(reports, { recursive: true });
  const first = names.filter((name) => name === 'build');
  const rest = names.filter((name) => name !== 'build');
  const done = [
    ...(await runStages(first, 1, (name) => runStage(name, true))),
    ...(await runStages(rest, LANES, (name) => runStage(name, rest.length === 1))),
  ];
  const total = sum(done.map(({ result }) => result));
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map(formatFailure).join('\n')}`);
  const words = (/** @type {(typeof done)[number]} */ { name, result }) =>
    `${closingLine(result)}${details.get(name) ?? ''}`;
  const table = stageTable(done.map((stage) => ({ ...stage, words: words(stage) })));
  console.log(`\n${table}\nall of it after ${duration((performance.now() - started) / 1_000)}`);
  return total;
}

leaveTogether();
const total = await main();
console.log(`\n${closingLine(total)}`);
process.exitCode = succeeded(total) ? 0 : 1;
