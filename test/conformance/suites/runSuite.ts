import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { withCompileCache } from '../../support/compileCache.ts';

/** Official suites by the version that package.json pins. */
export const SUITES = {
  '0.1.16': { program: '@modelcontextprotocol/conformance', selection: ['--suite', 'active'] },
  // Frozen set of the revision, and scenarios that run beside it without counting.
  '0.2.0-alpha.12': { program: 'conformance-next', selection: ['--requirements', '2025-11-25'] },
} as const;

export type SuiteVersion = keyof typeof SUITES;

export interface ScenarioResult {
  scenario: string;
  passed: number;
  /** Id and reason of each failed check, and of each SHOULD that was not met. */
  failed: string[];
  warned: string[];
}

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Scenarios of a suite to run: those of another revision of the protocol, or a single one. */
export interface Selection {
  scenario?: string;
  /** Revision whose frozen set is run instead of the suite's own selection; with `scenario`, the one that it speaks. */
  revision?: string;
}

/**
 * Runs a suite against the MCP server at a local URL in a separate process, and reads the file that it writes for every
 * scenario.
 */
export async function runSuite(
  version: SuiteVersion,
  url: string,
  selected: Selection = {},
): Promise<ScenarioResult[]> {
  const { program, selection } = SUITES[version];
  const folder = mkdtempSync(join(tmpdir(), 'waygate-suite-'));
  try {
    const chosen = argumentsOf(selected) ?? selection;
    const script = resolve('node_modules', program, 'dist/index.js');
    const output = await outputOf([script, 'server', '--url', url, ...chosen, '-o', folder]);
    const results = readdirSync(folder).map((entry) => readScenario(folder, entry));
    if (results.length === 0) throw new Error(`The suite ${version} ran no scenario:\n${output}`);
    return results.sort((a, b) => (a.scenario < b.scenario ? -1 : 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function argumentsOf({ scenario, revision }: Selection): string[] | undefined {
  if (scenario === undefined) return revision === undefined ? undefined : ['--requirements', revision];
  return ['--scenario', scenario, ...(revision === undefined ? [] : ['--spec-version', revision])];
}

export function total(results: readonly ScenarioResult[]): { passed: number; failed: number } {
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failed: results.reduce((sum, { failed }) => sum + failed.length, 0),
  };
}

/** Parses one result folder, named `server-<scenario>-<time>`. */
function readScenario(folder: string, entry: string): ScenarioResult {
  const scenario = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
  const checks = JSON.parse(readFileSync(join(folder, entry, 'checks.json'), 'utf8')) as Check[];
  const idsOf = (status: Check['status']): string[] =>
    checks.filter((check) => check.status === status).map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`);
  return { scenario, passed: idsOf('SUCCESS').length, failed: idsOf('FAILURE'), warned: idsOf('WARNING') };
}

/** Returns the output of a suite. A suite exits with 1 after a failed check; its files have the details. */
function outputOf(args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: withCompileCache() };
    execFile(process.execPath, args, options, (_error, stdout, stderr) => done(stdout + stderr));
  });
}
