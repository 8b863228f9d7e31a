/**
 * `npm run contributes`: writes the generated fields into package.json, their texts, and the texts of the sources for
 * translators. With `--check` it only compares.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extensionManifest, manifestDifferences } from './manifest.ts';
import { bundleTexts } from './sourceTexts.ts';
import { withKeys } from './texts.ts';

const file = new URL('../../package.json', import.meta.url);
const packageJson = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
const { manifest, texts } = withKeys(extensionManifest());
const generated = [
  { name: 'package.nls.json', text: `${JSON.stringify(texts, null, 2)}\n` },
  { name: 'l10n/bundle.l10n.json', text: `${JSON.stringify(bundleTexts(), null, 2)}\n` },
].map((one) => ({ ...one, path: new URL(`../../${one.name}`, import.meta.url) }));
const stale = generated.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
const differences = [...manifestDifferences(packageJson), ...stale.map(({ name }) => name)];

if (process.argv.includes('--check')) {
  if (differences.length > 0) {
    console.error(`The sources of the extension have changed ${differences.join(', ')}: run npm run contributes.`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, `${JSON.stringify({ ...packageJson, ...manifest }, null, 2)}\n`);
  mkdirSync(new URL('../../l10n/', import.meta.url), { recursive: true });
  for (const { path, text } of generated) writeFileSync(path, text);
  console.log(differences.length > 0 ? `Wrote ${differences.join(', ')}.` : 'package.json is up to date.');
}
