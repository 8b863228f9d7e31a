import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureCacheFolder, fillOnce } from './cache.mjs';
import { npm, npmEnvironment, ownNode } from './npm.mjs';
import { exitCode, start } from './processes.mjs';
import { withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';

/** VS Code 1.139.1 as a server: a build that needs no display and comes from npm alone. */
const CODE_SERVER = '4.139.1';
/** Raise this when the steps of `install` change, so that an older installation is not reused. */
const RECIPE = 2;

const START_LIMIT_MS = 60_000;

/**
 * Dependencies of the server that are not installed: they are large or have to be compiled, and VS Code only loads them
 * for its agent host, for proxies with Kerberos, on Windows, or for the machine id of its telemetry.
 */
const LEFT_OUT = [
  '@github/copilot-sdk',
  '@microsoft/mxc-sdk',
  '@vscode/deviceid',
  '@vscode/sqlite3',
  '@vscode/windows-process-tree',
  '@vscode/windows-registry',
  'kerberos',
  'ssh2',
];

/** Modules that would have to be compiled: the file of `scripts/standins` that replaces the module's main file. */
const STANDINS = {
  'spdlog.mjs': '@vscode/spdlog/index.js',
  'nativeWatchdog.mjs': '@vscode/native-watchdog/index.js',
  'fsCopyfile.mjs': '@vscode/fs-copyfile/lib/index.js',
};

/** @typedef {{ node: string, server: string }} ServerBuild the Node to run it with, and the script to run */

/**
 * Installs the server build of VS Code into the cache, unless it is there. Nothing is compiled: install scripts do not
 * run, the terminal (node-pty) and the file watcher come prebuilt, and stand-ins replace the rest.
 * @param {string} root
 * @returns {Promise<ServerBuild>}
 */
export async function ensureServerBuild(root) {
  const system = `${process.platform}-${process.arch}`;
  if (!['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(system)) {
    throw new SetupError(
      `There is no VS Code server build for ${system}: install VS Code and put its "code" command on the PATH.`,
    );
  }
  const folder = join(ensureCacheFolder(), `editor-${CODE_SERVER}-${RECIPE}-${system}`);
  if (!existsSync(folder)) await fillOnce(folder, (temporary) => install(root, temporary));
  return { node: ownNode(root), server: join(vscodeIn(folder), 'out', 'server-main.js') };
}

const vscodeIn = (/** @type {string} */ folder) => join(folder, 'node_modules', 'code-server', 'lib', 'vscode');

/** @param {string} root @param {string} folder */
async function install(root, folder) {
  const base = npmEnvironment(root);
  // The Node that will run it, so that npm does not warn about an older one.
  const env = { ...base, PATH: [dirname(ownNode(root)), base.PATH].join(delimiter) };
  const options = (/** @type {string} */ cwd) => ({
    cwd,
    env,
    failure: 'The VS Code server build could not be installed: see the last lines above.',
  });
  const vscode = vscodeIn(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  await withProgress(`Downloading VS Code (code-server ${CODE_SERVER}, 45 MB, the first time only)`, () =>
    npm(['install', '--save-exact', '--ignore-scripts', `code-server@${CODE_SERVER}`], options(folder)),
  );
  leaveOut(join(vscode, 'package.json'));
  await withProgress("Downloading VS Code's modules (80 MB, the first time only)", async () => {
    for (const part of [vscode, join(vscode, 'extensions')])
      await npm(['install', '--omit=dev', '--ignore-scripts'], options(part));
  });
  for (const [file, main] of Object.entries(STANDINS)) {
    const replaced = join(vscode, 'node_modules', main);
    if (!existsSync(replaced)) throw new SetupError(`code-server ${CODE_SERVER} has no ${main}: update STANDINS.`);
    cpSync(join(import.meta.dirname, '..', 'standins', file), replaced);
  }
  // The programs of the editor's terminals. The package holds those for Linux and replaces them in an install script.
  const os = process.platform === 'darwin' ? 'darwin' : 'linux';
  cpSync(join(vscode, 'bin', 'remote-cli', `code-${os}.sh`), join(vscode, 'bin', 'remote-cli', 'code-server'));
  cpSync(join(vscode, 'bin', 'helpers', `browser-${os}.sh`), join(vscode, 'bin', 'helpers', 'browser.sh'));
}

/** @param {string} manifest the server's package.json */
function leaveOut(manifest) {
  const read = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const name of LEFT_OUT) {
    if (!(name in read.dependencies)) {
      throw new SetupError(`code-server ${CODE_SERVER} has no dependency ${name}: update LEFT_OUT in serverBuild.mjs.`);
    }
    delete read.dependencies[name];
  }
  writeFileSync(manifest, JSON.stringify(read));
}

/**
 * Starts the server build on 127.0.0.1 and waits until it listens.
 * @param {ServerBuild} build
 * @param {{ dataFolder: string, extensionsFolder: string, port?: number, args?: readonly string[], asksForTrust?: boolean,
 *   env?: NodeJS.ProcessEnv, onLine?: (line: string) => void }} options
 */
export async function startServer(
  build,
  { dataFolder, extensionsFolder, port = 0, args = [], asksForTrust = false, env, onLine = () => {} },
) {
  mkdirSync(extensionsFolder, { recursive: true });
  const child = start(
    build.node,
    [
      join(import.meta.dirname, 'editorFront.mjs'),
      build.server,
      ...['--host', '127.0.0.1', '--port', String(port)],
      ...['--server-data-dir', dataFolder, '--extensions-dir', extensionsFolder],
      ...['--accept-server-license-terms', '--disable-telemetry'],
      ...(asksForTrust ? [] : ['--disable-workspace-trust']),
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // The browser runs on this machine too: addresses of this machine need no proxy.
      env: { ...serverEnvironment(env ?? process.env), VSCODE_PROXY_URI: '' },
    },
  );
  let output = '';
  const listening = new Promise((resolve, reject) => {
    const take = (/** @type {string} */ line) => {
      output = `${output}${line}\n`.slice(-8_000);
      onLine(line);
      const match = /^Listening on (\d+)$/.exec(line);
      if (match) resolve(Number(match[1]));
    };
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', take);
    exitCode(child).then(
      (code) => reject(new SetupError(`The VS Code server ended at once (exit code ${code}):\n${output}`)),
      (error) => reject(new SetupError(`The VS Code server could not be started: ${error.message}`)),
    );
    setTimeout(
      () => reject(new SetupError(`The VS Code server did not listen within a minute:\n${output}`)),
      START_LIMIT_MS,
    ).unref();
  });
  return { child, port: /** @type {number} */ (await listening) };
}

/**
 * Removes the variables by which an editor that starts in another editor's terminal would join that editor.
 * @param {NodeJS.ProcessEnv} env
 */
export function serverEnvironment(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|npm_)/.test(name)),
  );
}
