import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';

/** Tests run the shipped bundles, which are rebuilt if a source is newer. */
export function setup(): void {
  const sources = globSync([
    'src/**/*.ts',
    'webview/**/*.{ts,css}',
    'skills/**/*.md',
    'scripts/lib/{notices,skill}.mjs',
    'media/*.NOTICE.md',
    'esbuild.mjs',
    'package.json',
  ]);
  const newest = Math.max(...sources.map(modified));
  if (['dist/waygate.cjs', 'dist/worker.cjs', 'dist/extension.cjs'].every((bundle) => modified(bundle) > newest))
    return;
  execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
