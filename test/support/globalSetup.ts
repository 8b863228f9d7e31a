import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { bundleFixtures } from './bundledFixtures.ts';
import { compileWorker } from './compileCache.ts';

/** Tests run the shipped bundles, which are rebuilt if a source is newer. */
export async function setup(): Promise<void> {
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
  const bundles = ['dist/waygate.cjs', 'dist/worker.cjs', 'dist/extension.cjs'];
  if (!bundles.every((bundle) => modified(bundle) > newest)) {
    execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
  }
  compileWorker();
  await bundleFixtures();
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
