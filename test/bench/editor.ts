/**
 * Measures the editor's views: `node test/bench/editor.ts [PART …] [--dry] [--json]`. Each part has a file in `editor/` and
 * returns figures with their limits. Without a name, all parts run, and docs/benchmarks.md gets the table unless `--dry`
 * is given. The process fails if a figure is above its limit.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dashboard } from './editor/dashboard.ts';
import { type EditorRun, editorTable } from './editor/editorTable.ts';
import type { Figure } from './editor/figure.ts';
import { size } from './editor/size.ts';
import { window } from './editor/window.ts';

const PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = { window, dashboard, size };

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, dry: { type: 'boolean' } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !(name in PARTS));
if (unknown !== undefined)
  throw new Error(`There is no part "${unknown}"; there are ${Object.keys(PARTS).join(', ')}.`);

const loadBefore = loadavg()[0] as number;
const figures: Figure[] = [];
for (const [name, part] of Object.entries(PARTS))
  if (positionals.length === 0 || positionals.includes(name)) figures.push(...(await part()));
const run: EditorRun = {
  date: new Date().toISOString().slice(0, 10),
  processor: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  load: [loadBefore, loadavg()[0] as number],
  figures,
};
const table = editorTable(run);
console.log(values.json ? JSON.stringify(run) : table);
if (positionals.length === 0 && !values.dry) {
  const page = join(import.meta.dirname, '..', '..', 'docs', 'benchmarks.md');
  const part = /(<!-- made by npm run bench:editor: begin -->\n)[\s\S]*(<!-- made by npm run bench:editor: end -->)/;
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(part, (_, begin, end) => `${begin}${table}\n${end}`),
  );
}
process.exitCode = figures.some(({ value, limit }) => limit !== undefined && value > limit) ? 1 : 0;
