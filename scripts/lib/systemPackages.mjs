import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { npmEnvironment } from './npm.mjs';
import { runQuietly, withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';

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

/** Returns the words that run a command as root, or undefined if this user cannot. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
    return ['sudo', '-n'];
  } catch {
    return undefined;
  }
}

/** @param {string} root */
async function installChromium(root) {
  const purpose = 'The tests look at pages in a browser';
  if (findProgram('apt-get') === undefined) {
    throw new SetupError(`${purpose}: install Chromium or Chrome, or set WAYGATE_CHROMIUM to its program.`);
  }
  const prefix = rootPrefix();
  if (prefix === undefined) {
    throw new SetupError(`${purpose}, and only root can install it: sudo apt-get install -y chromium`);
  }
  const apt = (/** @type {string[]} */ ...args) => {
    const [command = '', ...rest] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
    const failure = `apt-get ${args[0]} failed, so chromium could not be installed: see its last lines above.`;
    const options = { failure, env: npmEnvironment(root) };
    return runQuietly(command, [...rest, '-o', 'DPkg::Lock::Timeout=120', ...args], options);
  };
  await withProgress('Installing Chromium', async () => {
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', 'chromium');
  });
}

/** @param {string} root @returns {Promise<string>} the browser's program */
export async function ensureBrowser(root) {
  if (findBrowser() === undefined) await installChromium(root);
  const browser = findBrowser();
  if (browser === undefined)
    throw new SetupError('Chromium was installed but is not on the PATH: set WAYGATE_CHROMIUM.');
  return browser;
}
