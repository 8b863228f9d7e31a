import { groupDigits } from '../../../src/text/porcelain.ts';
import type { Figure } from './figure.ts';

export interface EditorRun {
  date: string;
  processor: string;
  load: [number, number];
  figures: readonly Figure[];
}

/** Renders a run as the table of docs/benchmarks.md. A figure above its limit is bold. */
export function editorTable({ date, processor, load, figures }: EditorRun): string {
  const rows = figures.map(({ name, value, unit, limit, best, worst, cpu = {} }) => {
    const measured = `${rounded(value)} ${unit}`;
    const { extensionHost, worker } = cpu;
    const cells = [
      name,
      limit !== undefined && value > limit ? `**${measured}**` : measured,
      limit === undefined ? '–' : `${groupDigits(limit)} ${unit}`,
      best === undefined || worst === undefined ? '–' : `${rounded(best)} to ${rounded(worst)}`,
      ...[extensionHost, worker].map((ms) => (ms === undefined ? '–' : `${rounded(ms)} ms`)),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `Run of ${date}: ${processor}, load ${load[0].toFixed(1)} before and ${load[1].toFixed(1)} after.`,
    '',
    '| figure | measured | limit | least to most | CPU of the extension host | CPU of the worker |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function rounded(value: number): string {
  return value >= 1_000 ? groupDigits(Math.round(value)) : `${Number(value.toPrecision(3))}`;
}
