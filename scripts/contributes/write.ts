/** `npm run contributes`: writes the generated fields into package.json. With `--check` it only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { extensionManifest, manifestDifferences } from './manifest.ts';

const file = new URL('../../package.json', import.meta.url);
const packageJson = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
const differences = manifestDifferences(packageJson);

if (process.argv.includes('--check')) {
  if (differences.length > 0) {
    console.error(`package.json differs from src/extension in ${differences.join(', ')}: run npm run contributes.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, `${JSON.stringify({ ...packageJson, ...extensionManifest() }, null, 2)}\n`);
  console.log(differences.length > 0 ? `Wrote ${differences.join(', ')}.` : 'package.json is up to date.');
}
