// npm run pictures: drives a real VS Code with the packed extension through every state of every view in four themes, saves
// the pictures with a page of them all in .out/gallery, and retakes the pictures of the documentation.

import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeGallery } from './lib/gallery.mjs';
import { ownNode, toolEnvironment } from './lib/npm.mjs';
import { shrinkPicture } from './lib/picture.mjs';
import { exitCode, start } from './lib/processes.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const gallery = join(root, '.out', 'gallery');
const documented = join(root, 'docs', 'pictures');

/** Pictures of the README and of the pages about views, by the state and the theme that they show. */
const PICTURES = {
  window: 'dashboard-ready.dark',
  approve: 'approval-document.dark',
  try: 'try-answered.dark',
  activity: 'activity-rows.light',
  dashboard: 'dashboard-limit-met.light',
  tools: 'tools-rows.light',
  question: 'question-list.light',
  'configuration-file': 'configuration-lenses.light',
  results: 'results-rows.light',
  records: 'records-rows.light',
  problems: 'configuration-quick-fix.light',
  documents: 'document-fault.light',
  table: 'table-filtered.light',
  folders: 'folders-rows.light',
};

// With arguments for vitest, such as -t "the form of a tool", the other pictures stay.
const chosen = process.argv.slice(2);
if (chosen.length === 0) rmSync(gallery, { recursive: true, force: true });
const tests = start(ownNode(root), ['node_modules/vitest/vitest.mjs', 'run', '--project', 'gallery', ...chosen], {
  cwd: root,
  env: toolEnvironment(root),
});
process.exitCode = await exitCode(tests);
console.log(`${writeGallery(gallery)} states: ${join(gallery, 'index.html')}`);
if (process.exitCode === 0) {
  mkdirSync(documented, { recursive: true });
  for (const [name, state] of Object.entries(PICTURES)) {
    const kilobytes = await shrinkPicture(join(gallery, `${state}.png`), join(documented, `${name}.png`));
    console.log(`docs/pictures/${name}.png: ${state}, ${kilobytes} KB`);
  }
}
