/**
 * `npm run conformance -- FILE… [--group NAME]… [--json]`
 *
 * Without `--json`, prints one line per case and `N passed, N failed`. A case that contradicts the written
 * specification is shown as overruled and counts as neither. Exits with 1 if a case failed, with 2 if it could not run.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type CaseResult, type ConformanceFile, runConformance } from './conformance.ts';
import { operations, overruled } from './operations.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, group: { type: 'string', multiple: true } },
});

if (positionals.length === 0) {
  console.error('Name at least one file of cases: npm run conformance -- FILE… [--group NAME] [--json]');
  process.exit(2);
}

const results: CaseResult[] = [];
for (const path of positionals) {
  results.push(...(await runConformance(await readCases(path), { operations, overruled, groups: values.group })));
}
const passed = results.filter((result) => result.outcome === 'passed').length;
const failures = results.filter((result) => result.outcome === 'failed').map(({ id, why }) => ({ id, why }));

if (values.json) {
  console.log(JSON.stringify({ passed, failed: failures.length, failures }));
} else {
  for (const { id, outcome, why } of results) console.log(`${outcome} ${id}${why === '' ? '' : `: ${why}`}`);
  console.log(`${passed} passed, ${failures.length} failed`);
}
process.exitCode = failures.length > 0 ? 1 : 0;

async function readCases(path: string): Promise<ConformanceFile> {
  try {
    const file = JSON.parse(await readFile(path, 'utf8')) as ConformanceFile;
    if (file === null || typeof file.groups !== 'object') throw new Error('it has no "groups"');
    return file;
  } catch (error) {
    console.error(`${path} cannot be read as cases: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
}
