import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** File in `dist` with the licences of everything that ships and is not Waygate's own. */
export const NOTICES_FILE = 'THIRD-PARTY-NOTICES.txt';

const LEGAL_TEXT = /^(?:licen[cs]e|copying|notice|third-?party-?notices?)(?:[-.].*)?$/i;
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const DATA_NOTICE = '.NOTICE.md';
const RULE = '='.repeat(80);

/**
 * Renders the notices: one section for each package in the outputs of the builds, and one for each file of data in
 * `media` that has a notice. Throws if a package states no licence or has no text of it.
 * @param {string} root
 * @param {readonly import('esbuild').Metafile[]} metafiles of everything that ships
 */
export function thirdPartyNotices(root, metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) => Object.keys(output.inputs)),
  );
  const folders = new Set(inputs.flatMap((input) => PACKAGE.exec(input.replaceAll('\\', '/')) ?? []));
  const packages = [...folders].map((folder) => packageNotice(join(root, folder)));
  const data = readdirSync(join(root, 'media'))
    .filter((file) => file.endsWith(DATA_NOTICE))
    .map((file) => ({ title: basename(file, DATA_NOTICE), texts: [readFileSync(join(root, 'media', file), 'utf8')] }));
  const sections = [...packages, ...data].sort((a, b) => (a.title < b.title ? -1 : 1));
  return [
    'Waygate contains the following packages and data of others, under the licences below.\n',
    ...sections.map(
      ({ title, texts }) => `${RULE}\n${title}\n${RULE}\n\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`,
    ),
  ].join('\n');
}

/** @param {string} folder */
function packageNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder)
    .filter((file) => LEGAL_TEXT.test(file))
    .sort();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  if (typeof license !== 'string' || !texts.some((text) => text.trim() !== '')) {
    throw new Error(`${name} ${version} is bundled without a licence: its package states none or lacks its text.`);
  }
  return { title: `${name} ${version} (${license})`, texts };
}
