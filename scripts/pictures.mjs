// npm run pictures: retakes the README's pictures with the suite that runs in a real VS Code.

import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownNode, toolEnvironment } from './lib/npm.mjs';
import { exitCode, start } from './lib/processes.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Screenshots of the suite that the README and the pages about views show. */
const PICTURES = ['window.png', 'approve.png', 'try.png'];

/** Suites that take them. */
const SUITES = '^(Approval|Waygate in VS Code|Try Tool) ';

const suite = start(ownNode(root), ['scripts/test.mjs', '--only', 'editor'], {
  cwd: root,
  env: { ...toolEnvironment(root), WAYGATE_PICTURE_PIXELS: '2', WAYGATE_EDITOR_GREP: SUITES },
});
const code = await exitCode(suite);
if (code === 0) {
  mkdirSync(join(root, 'docs', 'pictures'), { recursive: true });
  for (const picture of PICTURES) {
    copyFileSync(join(root, '.out', 'screenshots', picture), join(root, 'docs', 'pictures', picture));
    console.log(`docs/pictures/${picture}`);
  }
}
process.exitCode = code;
