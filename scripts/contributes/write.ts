/** `npm run contributes`: writes the generated fields into package.json, and their texts. With `--check` it only compares. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { extensionManifest, manifestDifferences } from './manifest.ts';
import { withKeys } from './texts.ts';

const file = new URL('../../package.json', import.meta.url);
const textsFile = new URL('../../package.nls.json', import.meta.url);
const packageJson = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
const { manifest, texts } = withKeys(extensionManifest());
const text = `${JSON.stringify(texts, null, 2)}\n`;
const sameTexts = existsSync(textsFile) && readFileSync(textsFile, 'utf8') === text;
const differences = [...manifestDifferences(packageJson), ...(sameTexts ? [] : ['package.nls.json'])];

if (process.argv.includes('--check')) {
  if (differences.length > 0) {
    console.error(`package.json differs from src/extension in ${differences.join(', ')}: run npm run contributes.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, `${JSON.stringify({ ...packageJson, ...manifest }, null, 2)}\n`);
  writeFileSync(textsFile, text);
  console.log(differences.length > 0 ? `Wrote ${differences.join(', ')}.` : 'package.json is up to date.');
}
