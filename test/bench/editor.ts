/**
 * Measures the editor's views: `node test/bench/editor.ts [PART …] [--json]`. Each part has a file in `editor/` and
 * returns figures with their limits. Without a name, all parts run. The process fails if a figure is above its limit.
 */
import { parseArgs } from 'node:util';
import { dashboard } from './editor/dashboard.ts';
import type { Figure } from './editor/figure.ts';
import { size } from './editor/size.ts';
import { window } from './editor/window.ts';

const PARTS: Readonly<Record<string, () => Promise<readonly Figure[]>>> = { window, dashboard, size };

const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true });
const unknown = positionals.find((name) => !(name in PARTS));
if (unknown !== undefined)
  throw new Error(`There is no part "${unknown}"; there are ${Object.keys(PARTS).join(', ')}.`);

const figures: Record<string, readonly Figure[]> = {};
for (const [name, part] of Object.entries(PARTS)) {
  if (positionals.length === 0 || positionals.includes(name)) figures[name] = await part();
}
const all = Object.entries(figures).flatMap(([part, rows]) => rows.map((row) => ({ part, ...row })));
if (values.json) console.log(JSON.stringify(all));
else {
  for (const { part, name, value, unit, limit, best, worst, cpu } of all) {
    const rounded = (number: number): string => `${Number(number.toPrecision(3))}`;
    const bound = limit === undefined ? '' : `, limit ${limit} ${unit}${value > limit ? ': TOO MUCH' : ''}`;
    const range = best === undefined || worst === undefined ? '' : `, ${rounded(best)} to ${rounded(worst)}`;
    const used = Object.entries(cpu ?? {}).map(([process, ms]) => `${process} ${rounded(ms)} ms`);
    const times = used.length === 0 ? '' : ` (CPU: ${used.join(', ')})`;
    console.log(`${part.padEnd(10)} ${name}: ${rounded(value)} ${unit}${bound}${range}${times}`);
  }
}
process.exitCode = all.some(({ value, limit }) => limit !== undefined && value > limit) ? 1 : 0;
