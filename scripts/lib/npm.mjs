import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { treeFolder } from './cache.mjs';
import { withLock } from './lock.mjs';
import { runQuietly, withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';

/** Variables by which npm describes itself and this package to its scripts. A nested npm would take them for its own. */
const OF_THE_OUTER_NPM =
  /^npm_(package_|lifecycle_|command$|execpath$|node_execpath$|config_(user_agent|npm_version|node_gyp|local_prefix|loglevel)$)/;

/**
 * Returns the environment for a nested npm: the user's, without the variables of the outer npm and without the Node in
 * node_modules, which `npm ci` is about to replace.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} [env]
 */
export function npmEnvironment(root, env = process.env) {
  const inside = join(root, 'node_modules') + sep;
  const path = (env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(inside));
  const clean = Object.entries(env).filter(([name]) => !OF_THE_OUTER_NPM.test(name));
  return { ...Object.fromEntries(clean), PATH: path.join(delimiter) };
}

/** @param {readonly string[]} args @param {{ failure: string, cwd: string, env: NodeJS.ProcessEnv }} options */
export function npm(args, options) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  return runQuietly(command, [...args, '--no-fund', '--no-audit'], options);
}

/**
 * Returns whether npm's record of the installed packages, which npm writes last, matches the lock file. Packages for
 * another system may be missing.
 * @param {{ packages?: Record<string, { version?: string, optional?: boolean }> }} lock package-lock.json
 * @param {{ packages?: Record<string, { version?: string }> }} installed node_modules/.package-lock.json
 */
export function installedIsCurrent(lock, installed) {
  const wanted = lock.packages ?? {};
  const there = installed.packages ?? {};
  const missing = Object.entries(wanted).some(
    ([path, { version, optional }]) => path !== '' && !(there[path] ? there[path].version === version : optional),
  );
  return !missing && Object.keys(there).every((path) => path in wanted);
}

/** @param {string} root */
function packagesAreCurrent(root) {
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  try {
    // The `node` package puts its program in place by an install script, which npm can be configured not to run.
    const node = existsSync(join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node'));
    return node && installedIsCurrent(read('package-lock.json'), read('node_modules/.package-lock.json'));
  } catch {
    return false;
  }
}

/** Installs the packages of the work tree when they are missing or not those of the lock file. */
export async function ensurePackages(/** @type {string} */ root) {
  if (packagesAreCurrent(root)) return;
  const waiting = () => console.log('Another process is installing the packages: waiting for it.');
  await withLock(
    join(treeFolder(root), 'packages.lock'),
    async () => {
      if (packagesAreCurrent(root)) return;
      await withProgress('Installing packages', () =>
        npm(['ci'], { cwd: root, env: npmEnvironment(root), failure: 'npm ci failed: see its last lines above.' }),
      );
      if (!packagesAreCurrent(root)) {
        throw new SetupError('npm ci left node_modules incomplete: run "npm ci" by hand to see why.');
      }
    },
    waiting,
  );
}

/** Path of the Node 24 in the packages, whatever the system has. */
export function ownNode(/** @type {string} */ root) {
  const folder = join(root, 'node_modules', 'node', 'bin');
  return join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Environment of every tool of the work tree: Node 24 and the packages' programs come first. */
export function toolEnvironment(/** @type {string} */ root, env = process.env) {
  return { ...env, PATH: [join(root, 'node_modules', '.bin'), env.PATH ?? ''].join(delimiter) };
}
