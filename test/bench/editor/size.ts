import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { packBoth } from '../../../scripts/lib/vsix.mjs';
import type { Figure } from './figure.ts';

/** Largest page of the editor in KB, minified; the dashboard may be larger than a form. */
const MAX_PAGE_KB = { dashboard: 60, other: 40 };

/** Packs the extension and measures it with its pages. */
export async function size(): Promise<Figure[]> {
  const { vsix } = await packBoth(resolve('.'));
  const kilobytes = (file: string): number => statSync(file).size / 1_024;
  const folder = join('dist', 'webview');
  return [
    { name: basename(vsix), value: statSync(vsix).size / 1_000_000, unit: 'MB', limit: 3.2 },
    ...readdirSync(folder).map((file): Figure => {
      const limit = file.startsWith('dashboard.') ? MAX_PAGE_KB.dashboard : MAX_PAGE_KB.other;
      return { name: file, value: kilobytes(join(folder, file)), unit: 'KB', limit };
    }),
  ];
}
