import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { withCompileCache } from '../../support/compileCache.ts';
import { SUITES, type SuiteVersion } from './runSuite.ts';

export interface ClientResult {
  /** Exit code of the client program. */
  exitCode: number;
  passed: number;
  /** Id and reason of each failed check, and of each SHOULD that was not met. */
  failed: string[];
  warned: string[];
  output: string;
}

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** Returns a suite's scenarios for clients, with the revisions that the newer suite names for them. */
export function clientScenarios(version: SuiteVersion): { scenario: string; revisions: string[] }[] {
  const list = execFileSync(process.execPath, [scriptOf(version), 'list'], {
    encoding: 'utf8',
    env: withCompileCache(),
  });
  const section = /Client scenarios[^\n]*\n((?: {2}- .*\n)+)/.exec(list)?.[1] ?? '';
  return [...section.matchAll(/^ {2}- (\S+)(?: \[(.*)\])?/gm)].map(([, scenario = '', revisions = '']) => ({
    scenario,
    revisions: revisions.split(','),
  }));
}

/**
 * Runs one scenario: the suite starts its servers, and the client program against them. Without a revision, these speak
 * the oldest era in which the scenario exists.
 */
export async function runClientScenario(
  version: SuiteVersion,
  scenario: string,
  revision?: string,
): Promise<ClientResult> {
  const folder = mkdtempSync(join(tmpdir(), 'waygate-client-suite-'));
  const program = `${process.execPath} ${resolve('test/conformance/suites/upstreamClient.ts')}`;
  const era = revision === undefined ? [] : ['--spec-version', revision];
  const args = ['client', '--command', program, '--scenario', scenario, ...era, '-o', folder];
  try {
    const { exitCode, output } = await run([scriptOf(version), ...args]);
    const [file] = globSync('**/checks.json', { cwd: folder });
    if (file === undefined) throw new Error(`The suite ${version} ran no scenario ${scenario}:\n${output}`);
    const checks = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Check[];
    const idsOf = (wanted: string): string[] =>
      checks.filter(({ status }) => status === wanted).map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`);
    return { exitCode, passed: idsOf('SUCCESS').length, failed: idsOf('FAILURE'), warned: idsOf('WARNING'), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function scriptOf(version: SuiteVersion): string {
  return resolve('node_modules', SUITES[version].program, 'dist/index.js');
}

function run(args: readonly string[]): Promise<{ exitCode: number; output: string }> {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: withCompileCache() };
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) =>
      done({ exitCode: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}
