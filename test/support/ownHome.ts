// Gives each test file a new home folder, so that no test reads or writes the developer's own.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { HOMES, moveHome } from './homes.ts';

const homes = process.env[HOMES];
if (homes === undefined) throw new Error(`${HOMES} is not set: add test/support/homes.ts to globalSetup.`);
moveHome(mkdtempSync(join(homes, 'h-')));
