// npm run package: builds the product and packs the extension and the npm package into .out/.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePackages } from './lib/npm.mjs';
import { leaveTogether } from './lib/processes.mjs';
import { SetupError } from './lib/setupError.mjs';
import { packBoth } from './lib/vsix.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

leaveTogether();
try {
  await ensurePackages(root);
  const { vsix, tarball, plugin } = await packBoth(root);
  console.log(`
For VS Code:                         code --install-extension ${vsix}
For the command waygate:             npm install -g ${tarball}
For clients with Agent Plugins:      ${plugin}
Without an installation:             node ${join(root, 'dist', 'waygate.cjs')}`);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
