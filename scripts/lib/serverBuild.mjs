import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureCacheFolder, fillOnce } from './cache.mjs';
import { npm, npmEnvironment } from './npm.mjs';
import { exitCode, start } from './processes.mjs';
import { withProgress } from './progress.mjs';
import { SetupError } from './setupError.mjs';
import { ensureCompiler } from './systemPackages.mjs';

/** VS Code 1.139.1 as a server; the build that needs neither a display nor a download outside npm. */
const CODE_SERVER = '4.139.1';
/** The Node that code-server asks for, with the headers that its native modules are compiled against. */
const NODE = '24.21.0';

const START_LIMIT_MS = 60_000;

/**
 * Who may run an install script in the cache's folder: newer npm versions run none that is not named. code-server's own
 * runs npm in two more folders, whose package.json names theirs; argon2 serves a login page that is not used here.
 */
const ALLOW_SCRIPTS = { 'code-server': true, argon2: false };

/** @typedef {{ node: string, server: string }} ServerBuild the Node to run it with, and the script to run */

/**
 * Installs the server build of VS Code into the cache, unless it is there.
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
  const nodePackage = `node-${system}`;
  const folder = join(ensureCacheFolder(), `editor-${CODE_SERVER}-node-${NODE}-${system}`);
  if (!existsSync(folder)) {
    await ensureCompiler(root);
    await fillOnce(folder, (temporary) =>
      withProgress(`Installing the VS Code server build (code-server ${CODE_SERVER}; minutes the first time)`, () =>
        install(root, temporary, nodePackage),
      ),
    );
  }
  return {
    node: join(folder, 'node_modules', nodePackage, 'bin', 'node'),
    server: join(folder, 'node_modules', 'code-server', 'lib', 'vscode', 'out', 'server-main.js'),
  };
}

/** @param {string} root @param {string} folder @param {string} nodePackage */
async function install(root, folder, nodePackage) {
  const base = npmEnvironment(root);
  const failure = 'The VS Code server build could not be installed: see the last lines above.';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: ALLOW_SCRIPTS }));
  await npm(['install', '--save-exact', '--ignore-scripts', `${nodePackage}@${NODE}`], {
    cwd: folder,
    env: base,
    failure,
  });
  const node = join(folder, 'node_modules', nodePackage);
  const env = {
    ...base,
    PATH: [join(node, 'bin'), base.PATH].join(delimiter),
    npm_config_nodedir: node,
  };
  await npm(['install', '--save-exact', `code-server@${CODE_SERVER}`], { cwd: folder, env, failure });
  // An npm that ran no install scripts has left it without its modules, and has called that a success.
  if (
    !existsSync(
      join(folder, 'node_modules/code-server/lib/vscode/node_modules/@vscode/spdlog/build/Release/spdlog.node'),
    )
  ) {
    throw new SetupError(
      'The VS Code server build lacks its native modules: npm ran no install scripts for code-server.',
    );
  }
}

/**
 * Starts the server build on 127.0.0.1 and waits until it listens.
 * @param {ServerBuild} build
 * @param {{ dataFolder: string, extensionsFolder: string, port?: number, args?: readonly string[],
 *   env?: NodeJS.ProcessEnv, onLine?: (line: string) => void }} options
 */
export async function startServer(
  build,
  { dataFolder, extensionsFolder, port = 0, args = [], env, onLine = () => {} },
) {
  mkdirSync(extensionsFolder, { recursive: true });
  const child = start(
    build.node,
    [
      join(import.meta.dirname, 'editorFront.mjs'),
      build.server,
      ...['--host', '127.0.0.1', '--port', String(port)],
      ...['--server-data-dir', dataFolder, '--extensions-dir', extensionsFolder],
      ...['--accept-server-license-terms', '--disable-telemetry', '--disable-workspace-trust'],
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its browser runs here too: an address of this machine is opened as it is, not by a proxy that is not there.
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
 * An editor started from the terminal of another editor must not take itself for a part of that one.
 * @param {NodeJS.ProcessEnv} env
 */
export function serverEnvironment(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|npm_)/.test(name)),
  );
}
