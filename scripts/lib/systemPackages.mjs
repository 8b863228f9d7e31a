import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
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

/**
 * Asks a person before packages of the system are installed, root included. Without a terminal, as in CI, the command
 * itself is the permission, and a line says what is about to be installed.
 * @param {readonly string[]} packages
 * @param {{ input: NodeJS.ReadableStream & { isTTY?: boolean }, output: NodeJS.WritableStream }} terminal
 */
export async function mayInstall(packages, terminal = { input: process.stdin, output: process.stderr }) {
  const named = packages.join(' and ');
  if (!terminal.input.isTTY) {
    terminal.output.write(`Installing ${named} with apt-get, without a question, because there is no terminal.\n`);
    return true;
  }
  const prompt = createInterface(terminal);
  try {
    const closed = once(prompt, 'close').then(() => 'no');
    const answer = await Promise.race([prompt.question(`Install ${named} with apt-get? [y/N] `), closed]);
    return /^y(es)?$/i.test(String(answer).trim());
  } finally {
    prompt.close();
  }
}

/**
 * Installs packages of the system, from wherever the system takes its packages.
 * @param {string} root
 * @param {readonly string[]} prefix words that run a command as root
 * @param {string} what
 * @param {readonly string[]} packages
 */
async function install(root, prefix, what, packages) {
  const apt = (/** @type {string[]} */ ...args) => {
    const [command = '', ...rest] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
    const failure = `apt-get ${args[0]} failed, so ${packages.join(' and ')} could not be installed: see its last lines above.`;
    const options = { failure, env: npmEnvironment(root) };
    return runQuietly(command, [...rest, '-o', 'DPkg::Lock::Timeout=120', ...args], options);
  };
  await withProgress(`Installing ${what}`, async () => {
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
  });
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
  if (!(await mayInstall(['chromium']))) throw new SetupError(`${purpose}: install Chromium, or set WAYGATE_CHROMIUM.`);
  await install(root, prefix, 'Chromium', ['chromium']);
}

/**
 * Installs the programs of walls where root can. Without them, the tests of walls are skipped and counted as such.
 * @param {string} root
 */
export async function tryWalls(root) {
  const absent = Object.entries({ bwrap: 'bubblewrap', socat: 'socat' }).filter(([program]) => !findProgram(program));
  if (process.platform !== 'linux' || absent.length === 0) return;
  const packages = absent.map(([, name]) => name);
  const prefix = findProgram('apt-get') === undefined ? undefined : rootPrefix();
  try {
    if (prefix === undefined) throw new SetupError('only root can install them, with apt-get.');
    if (!(await mayInstall(packages))) throw new SetupError('you did not want them.');
    await install(root, prefix, packages.join(' and '), packages);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`Tests of walls are skipped, because ${packages.join(' and ')} are missing: ${error.message}`);
  }
}

/** @param {string} root @returns {Promise<string>} the browser's program */
export async function ensureBrowser(root) {
  if (findBrowser() === undefined) await installChromium(root);
  const browser = findBrowser();
  if (browser === undefined)
    throw new SetupError('Chromium was installed but is not on the PATH: set WAYGATE_CHROMIUM.');
  return browser;
}
