/**
 * `npm run conformance -- FILE… [--group NAME]… [--json]`
 *
 * A file is one of inputs and operations (`gateway.json`), or one of routes and tool calls (`records.json`); its content
 * says which.
 *
 * Without `--json`, prints one line per case and `N passed, N failed`. A case that contradicts the written
 * specification is shown as overruled and counts as neither. Exits with 1 if a case failed, with 2 if it could not run.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type CaseResult, type ConformanceFile, runConformance } from './conformance.ts';
import { operations, overruled } from './operations.ts';
import { isRecordCases, type RecordCaseFile, runRecordCases } from './records/recordCases.ts';

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
  const file = await readCases(path);
  results.push(
    ...(isRecordCases(file)
      ? await runRecordCases(file)
      : await runConformance(file, { operations, overruled, groups: values.group })),
  );
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

async function readCases(path: string): Promise<ConformanceFile | RecordCaseFile> {
  try {
    const file: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (isRecordCases(file) || isGroups(file)) return file;
    throw new Error('it has neither "groups" nor "adapter_cases"');
  } catch (error) {
    console.error(`${path} cannot be read as cases: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
}

function isGroups(file: unknown): file is ConformanceFile {
  return typeof file === 'object' && file !== null && typeof (file as ConformanceFile).groups === 'object';
}
