/**
 * `node test/clients/install.ts`: installs the clients that test/clients/package.json pins into the cache, once for
 * each set of versions. A step before the tests, because these have an empty home folder without npm's settings.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, ensureCacheFolder, fillOnce } from '../../scripts/lib/cache.mjs';
import { npm, npmEnvironment } from '../../scripts/lib/npm.mjs';

const PINNED = join(import.meta.dirname, 'package.json');
const text = readFileSync(PINNED, 'utf8');

/** Pinned versions by package. */
export const VERSIONS: Record<string, string> = JSON.parse(text).dependencies;

const folder = join(cacheFolder(), `clients-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`);

/** Folder of the packages. */
export const MODULES = join(folder, 'node_modules');

async function install(): Promise<void> {
  ensureCacheFolder();
  await fillOnce(folder, async (temporary) => {
    console.log(`Installing ${Object.keys(VERSIONS).join(', ')} into ${folder}, which takes 1.3 GB.`);
    copyFileSync(PINNED, join(temporary, 'package.json'));
    // No lock file: the programs are packages of their own, of which a registry may lack those for other systems.
    await npm(['install', '--ignore-scripts', '--no-package-lock'], {
      cwd: temporary,
      env: npmEnvironment(process.cwd()),
      failure: 'The clients could not be installed: see the last lines of npm above.',
    });
  });
}

if (import.meta.main) await install();
