import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { npmEnvironment } from './npm.mjs';
import { runQuietly, withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';

/** What compiles the native modules of the VS Code server. */
const COMPILER_PACKAGES = [
  'g++',
  'make',
  'pkg-config',
  'python3',
  'python3-setuptools',
  'libkrb5-dev',
  'libsecret-1-dev',
];

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** @param {string} name @returns {string | undefined} */
export function findProgram(name, path = process.env.PATH ?? '') {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** @returns {string | undefined} */
export function findBrowser() {
  if (process.env.WAYGATE_CHROMIUM) return process.env.WAYGATE_CHROMIUM;
  return BROWSERS.map((name) => findProgram(name)).find((file) => file !== undefined);
}

/** @param {string} name */
function isInstalled(name) {
  try {
    const status = execFileSync('dpkg-query', ['--status', name], { stdio: ['ignore', 'pipe', 'ignore'] });
    return status.toString().includes('\nStatus: install ok installed\n');
  } catch {
    return false;
  }
}

/** How to run a command as root: nothing before it, `sudo -n`, or not at all. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
    return ['sudo', '-n'];
  } catch {
    return undefined;
  }
}

/** @param {string} root @param {readonly string[]} packages @param {string} purpose */
async function installMissing(root, packages, purpose) {
  if (packages.length === 0) return;
  const names = packages.join(' ');
  if (findProgram('apt-get') === undefined) {
    throw new SetupError(`${purpose} needs what Debian calls ${names}: install these with your system's own means.`);
  }
  const prefix = rootPrefix();
  if (prefix === undefined) {
    throw new SetupError(`${purpose} needs packages that only root can install: sudo apt-get install -y ${names}`);
  }
  const apt = (/** @type {string[]} */ ...args) => {
    const command = [
      ...prefix,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-qq',
      '-o',
      'DPkg::Lock::Timeout=120',
      ...args,
    ];
    const failure = `apt-get ${args[0]} failed, so ${names} could not be installed: see its last lines above.`;
    return runQuietly(/** @type {string} */ (command[0]), command.slice(1), { failure, env: npmEnvironment(root) });
  };
  await withProgress(`Installing system packages (${names})`, async () => {
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
  });
}

/** @param {string} root */
export async function ensureCompiler(root) {
  // Without dpkg nobody can tell what is there: the compiler itself will.
  if (findProgram('dpkg-query') === undefined) return;
  const missing = COMPILER_PACKAGES.filter((name) => !isInstalled(name));
  await installMissing(root, missing, 'Building the VS Code server');
}

/** @param {string} root @returns {Promise<string>} the browser's program */
export async function ensureBrowser(root) {
  if (findBrowser() === undefined) await installMissing(root, ['chromium'], 'What is tested in a browser');
  const browser = findBrowser();
  if (browser === undefined)
    throw new SetupError('Chromium was installed but is not on the PATH: set WAYGATE_CHROMIUM.');
  return browser;
}
