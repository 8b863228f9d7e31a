// npm start: sets up what is missing, packs the extension and opens a real VS Code with it, on a demo workspace.
//   --check     start it, see that it answers and that the extension is installed, and leave
//   --server    use the VS Code server build even where the `code` command is there
//   --no-open   do not open the address in a browser
//   --port N    the port of the server build (default: a free one)

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureCacheFolder, treeFolder } from './lib/cache.mjs';
import { findProgram } from './lib/debian.mjs';
import { writeDemoWorkspace } from './lib/demo.mjs';
import { ensureServerBuild, serverEnvironment, startServer } from './lib/editor.mjs';
import { withLock } from './lib/lock.mjs';
import { ensurePackages } from './lib/npm.mjs';
import { endAll, endGroup, exitCode, leaveTogether, start } from './lib/processes.mjs';
import { runQuietly } from './lib/progress.mjs';
import { SetupError } from './lib/setupError.mjs';
import { packExtension } from './lib/vsix.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const EXTENSION = 'waygate.waygate';

/** What a fresh profile starts with; it is the person's own from then on. */
const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'workbench.startupEditor': 'none',
};

function parseOptions() {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        server: { type: 'boolean', default: false },
        'no-open': { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
      },
    });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new Error(`--port takes a number, not "${values.port}".`);
    return { ...values, port };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('Usage: npm start -- [--check] [--server] [--no-open] [--port N]');
    process.exit(64);
  }
}

/** The desktop VS Code on the PATH, where it could show a window. */
function desktopEditor() {
  const displayed = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  return displayed ? findProgram(process.platform === 'win32' ? 'code.cmd' : 'code') : undefined;
}

/** @param {string} userFolder */
function seedSettings(userFolder) {
  const file = join(userFolder, 'settings.json');
  if (existsSync(file)) return;
  mkdirSync(userFolder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(SETTINGS, null, 2)}\n`);
}

/** @typedef {ReturnType<typeof parseOptions>} Options */
/** @typedef {{ vsix: string, demo: string, profile: string }} Prepared */

/** @param {string} program @param {Prepared} prepared @param {Options} options */
async function openDesktop(program, { vsix, demo, profile }, { check }) {
  seedSettings(join(profile, 'User'));
  const shell = process.platform === 'win32';
  const own = ['--user-data-dir', profile, '--extensions-dir', join(profile, 'extensions')];
  // VS Code refuses to run as root without saying so.
  if (process.getuid?.() === 0) own.push('--no-sandbox');
  const code = (/** @type {string[]} */ ...args) =>
    exitCode(start(program, [...own, ...args], { shell, env: serverEnvironment(process.env) }));
  if ((await code('--install-extension', vsix, '--force')) !== 0) {
    throw new SetupError(`${program} could not install the packed extension: see above.`);
  }
  if (check) {
    if ((await code('--list-extensions')) !== 0) throw new SetupError(`${program} does not answer.`);
    return;
  }
  console.log(`Opening ${demo} in VS Code. Close its window to end.`);
  await code('--new-window', '--wait', '--disable-workspace-trust', demo);
}

/** @param {Prepared} prepared @param {Options} options */
async function openServer({ vsix, demo, profile }, options) {
  const build = await ensureServerBuild(root);
  seedSettings(join(profile, 'data', 'User'));
  const extensionsFolder = join(profile, 'extensions');
  const where = ['--server-data-dir', profile, '--extensions-dir', extensionsFolder, '--accept-server-license-terms'];
  await runQuietly(build.node, [build.server, '--install-extension', vsix, '--force', ...where], {
    env: serverEnvironment(process.env),
    failure: 'The VS Code server could not install the packed extension: see its last lines above.',
  });
  expectInstalled(extensionsFolder);

  // The server runs programs as this user: only who knows the address may use it.
  const token = randomBytes(16).toString('hex');
  const { child, port } = await startServer(build, {
    dataFolder: profile,
    extensionsFolder,
    port: options.port,
    args: ['--connection-token', token],
  });
  const address = `http://127.0.0.1:${port}/?tkn=${token}&folder=${encodeURIComponent(demo)}`;
  if (options.check) {
    await expectWorkbench(address);
    await endGroup(child);
    return;
  }
  console.log(`\nVS Code with Waygate is open at\n\n  ${address}\n\nPress Ctrl-C to end it.`);
  if (!options['no-open']) openInBrowser(address);
  const code = await exitCode(child);
  throw new SetupError(`The VS Code server ended by itself (exit code ${code}).`);
}

/** The extension that was just built must be the one that is there. @param {string} extensionsFolder */
function expectInstalled(extensionsFolder) {
  const built = readFileSync(join(root, 'dist', 'extension.cjs'));
  const current = readdirSync(extensionsFolder)
    .filter((name) => name.startsWith(`${EXTENSION}-`))
    .map((name) => join(extensionsFolder, name, 'dist', 'extension.cjs'))
    .some((file) => existsSync(file) && readFileSync(file).equals(built));
  if (!current) throw new SetupError(`The VS Code server says it installed ${EXTENSION}, but it is not there.`);
}

/** @param {string} address */
async function expectWorkbench(address) {
  // The address with the token answers with a cookie and sends on to the address without it.
  const first = await fetch(address, { redirect: 'manual' });
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const next = new URL(first.headers.get('location') ?? address, address);
  const page = await fetch(next, { headers: { cookie } });
  const text = await page.text();
  if (!page.ok || !text.includes('vscode-workbench-web-configuration')) {
    throw new SetupError(`The VS Code server answers with status ${page.status} instead of the workbench.`);
  }
}

/** @param {string} address */
function openInBrowser(address) {
  const displayed = process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (process.platform === 'darwin') start('open', [address]);
  else if (displayed) start('xdg-open', [address], { stdio: 'ignore' }).on('error', () => {});
}

async function main() {
  const options = parseOptions();
  const began = Date.now();
  ensureCacheFolder();
  await ensurePackages(root);
  const folder = treeFolder(root);
  const demo = join(folder, 'demo');
  const vsix = await withLock(join(folder, 'pack.lock'), () => packExtension(root));
  writeDemoWorkspace(root, demo);
  const program = options.server ? undefined : desktopEditor();
  if (program === undefined) await openServer({ vsix, demo, profile: join(folder, 'server') }, options);
  else await openDesktop(program, { vsix, demo, profile: join(folder, 'desktop') }, options);
  if (options.check) console.log(`Waygate opens in VS Code (checked in ${Math.round((Date.now() - began) / 1000)} s).`);
}

leaveTogether();
try {
  await main();
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  await endAll();
  process.exit(1);
}
