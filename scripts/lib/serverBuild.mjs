import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureCacheFolder, fillOnce } from './cache.mjs';
import { npm, npmEnvironment, ownNode } from './npm.mjs';
import { exitCode, start } from './processes.mjs';
import { withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';

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

/**
 * Release of VS Code as a server: a build that needs no display and comes from npm alone.
 * @typedef {{ codeServer: string, node?: string, leftOut: readonly string[], standins: Readonly<Record<string, string>>,
 *   versions?: Readonly<Record<string, string>> }} Release `versions`: of dependencies that the build takes from a source repository
 */

const CURRENT = '1.139';

/** Releases by the version of VS Code. @type {Readonly<Record<string, Release>>} */
const RELEASES = {
  [CURRENT]: { codeServer: '4.139.1', leftOut: LEFT_OUT, standins: STANDINS },
  // The oldest that the extension accepts. Under Node 24 its extension host hangs when the window is loaded again.
  1.105: {
    codeServer: '4.105.1',
    node: '22.19.0',
    leftOut: ['@vscode/deviceid', '@vscode/windows-process-tree', '@vscode/windows-registry', 'kerberos'],
    standins: { 'spdlog.mjs': '@vscode/spdlog/index.js', 'nativeWatchdog.mjs': 'native-watchdog/index.js' },
    versions: { '@parcel/watcher': '2.5.1' },
  },
};

/** @typedef {{ node: string, server: string }} ServerBuild the Node to run it with, and the script to run */

/**
 * Installs the server build of VS Code into the cache, unless it is there. Nothing is compiled: install scripts do not
 * run, the terminal (node-pty) and the file watcher come prebuilt, and stand-ins replace the rest.
 * @param {string} root
 * @param {string} [version] of VS Code, such as 1.105
 * @returns {Promise<ServerBuild>}
 */
export async function ensureServerBuild(root, version = process.env.WAYGATE_VSCODE ?? CURRENT) {
  const release = RELEASES[version];
  if (release === undefined) {
    const known = Object.keys(RELEASES).join(' and ');
    throw new SetupError(`WAYGATE_VSCODE is ${version}, and there are builds of VS Code ${known}.`);
  }
  const system = `${process.platform}-${process.arch}`;
  if (!['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(system)) {
    throw new SetupError(
      `There is no VS Code server build for ${system}: install VS Code and put its "code" command on the PATH.`,
    );
  }
  const folder = join(ensureCacheFolder(), `editor-${release.codeServer}-${RECIPE}-${system}`);
  const nodePackage = `node-${system}`;
  const packages = [`code-server@${release.codeServer}`, ...(release.node ? [`${nodePackage}@${release.node}`] : [])];
  if (!existsSync(folder)) await fillOnce(folder, (temporary) => install(root, temporary, release, packages));
  const node = release.node ? join(folder, 'node_modules', nodePackage, 'bin', 'node') : ownNode(root);
  return { node, server: join(vscodeIn(folder), 'out', 'server-main.js') };
}

const vscodeIn = (/** @type {string} */ folder) => join(folder, 'node_modules', 'code-server', 'lib', 'vscode');

/** @param {string} root @param {string} folder @param {Release} release @param {readonly string[]} packages */
async function install(root, folder, release, packages) {
  const { codeServer, standins } = release;
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
  await withProgress(`Downloading VS Code (code-server ${codeServer}, 45 MB, the first time only)`, () =>
    npm(['install', '--save-exact', '--ignore-scripts', ...packages], options(folder)),
  );
  changeDependencies(vscode, release);
  await withProgress("Downloading VS Code's modules (80 MB, the first time only)", async () => {
    for (const part of [vscode, join(vscode, 'extensions')])
      await npm(['install', '--omit=dev', '--ignore-scripts'], options(part));
  });
  for (const [file, main] of Object.entries(standins)) {
    const replaced = join(vscode, 'node_modules', main);
    if (!existsSync(replaced)) throw new SetupError(`code-server ${codeServer} has no ${main}: update STANDINS.`);
    cpSync(join(import.meta.dirname, '..', 'standins', file), replaced);
  }
  // The programs of the editor's terminals. The package holds those for Linux and replaces them in an install script.
  const os = process.platform === 'darwin' ? 'darwin' : 'linux';
  cpSync(join(vscode, 'bin', 'remote-cli', `code-${os}.sh`), join(vscode, 'bin', 'remote-cli', 'code-server'));
  cpSync(join(vscode, 'bin', 'helpers', `browser-${os}.sh`), join(vscode, 'bin', 'helpers', 'browser.sh'));
}

/** @param {string} vscode @param {Release} release */
function changeDependencies(vscode, { leftOut, versions }) {
  const manifest = join(vscode, 'package.json');
  const read = JSON.parse(readFileSync(manifest, 'utf8'));
  for (const name of [...leftOut, ...Object.keys(versions ?? {})]) {
    if (!(name in read.dependencies)) {
      throw new SetupError(`VS Code ${read.version} has no dependency ${name}: update RELEASES in serverBuild.mjs.`);
    }
  }
  for (const name of leftOut) delete read.dependencies[name];
  Object.assign(read.dependencies, versions);
  // The lock names the repository too.
  if (versions) rmSync(join(vscode, 'npm-shrinkwrap.json'));
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
