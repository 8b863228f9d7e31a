// npm run package: builds the product and packs it as .out/waygate-<version>.vsix.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/npm.mjs';
import { leaveTogether } from './lib/processes.mjs';
import { SetupError } from './lib/setupError.mjs';
import { packExtension } from './lib/vsix.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

leaveTogether();
try {
  await ensurePackages(root);
  await packExtension(root);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
