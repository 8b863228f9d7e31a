// npm start: installs missing parts, packs the extension and opens a real VS Code with it, on a demo workspace.
//   --check     start it, check that it answers and has the extension, and end
//   --server    use the VS Code server build even if the `code` command exists
//   --no-open   do not open the address in a browser
//   --port N    the port of the server build (default: a free one)
//   --help      print the options

import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureCacheFolder, treeFolder } from './lib/cache.mjs';
import { writeDemoWorkspace } from './lib/demo.mjs';
import { desktopEditor, findDesktop } from './lib/desktopEditor.mjs';
import { withLock } from './lib/lock.mjs';
import { ensurePackages } from './lib/npm.mjs';
import { endAll, leaveTogether } from './lib/processes.mjs';
import { runQuietly } from './lib/progress.mjs';
import { ensureServerBuild } from './lib/serverBuild.mjs';
import { serverEditor } from './lib/serverEditor.mjs';
import { SetupError } from './lib/setupError.mjs';
import { packExtension } from './lib/vsix.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const USAGE = `npm start                 opens VS Code with Waygate on a demo
npm start -- --server     uses the VS Code server build in the browser, even if there is a desktop VS Code
npm start -- --port N     port of the server build; a free one by default
npm start -- --no-open    opens no browser
npm start -- --check      checks that VS Code would open, and ends`;

function parseOptions() {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        server: { type: 'boolean', default: false },
        'no-open': { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new Error(`--port takes a number, not "${values.port}".`);
    return { ...values, port };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(USAGE);
    process.exit(64);
  }
}

/**
 * Chooses the desktop VS Code if its command exists, otherwise the server build. Each has a profile of its own.
 * @param {string} folder
 * @param {ReturnType<typeof parseOptions>} options
 */
async function chooseEditor(folder, options) {
  const program = options.server ? undefined : findDesktop();
  if (program !== undefined) return desktopEditor(root, program, join(folder, 'desktop'));
  const build = await ensureServerBuild(root);
  return serverEditor(root, build, join(folder, 'server'), { port: options.port, browse: !options['no-open'] });
}

/**
 * Approves the three servers of the demo, which are part of this repository. In any other workspace the user approves.
 * @param {string} folder
 */
async function approveDemo(folder) {
  const approve = [join(root, 'dist', 'waygate.cjs'), 'approve', '--workspace', folder];
  const { servers } = JSON.parse(execFileSync(process.execPath, [...approve, '--json'], { encoding: 'utf8' }));
  for (const { name, hash } of servers) {
    await runQuietly(process.execPath, [...approve, name, '--hash', hash], {
      failure: "The demo's servers could not be approved: see the last lines above.",
    });
  }
}

async function main() {
  const options = parseOptions();
  const began = Date.now();
  ensureCacheFolder();
  await ensurePackages(root);
  const folder = treeFolder(root);
  const demo = join(folder, 'demo');
  const editor = await chooseEditor(folder, options);
  const prepare = async () => {
    writeDemoWorkspace(root, demo);
    await editor.install(await packExtension(root));
    await approveDemo(demo);
  };
  await withLock(join(folder, 'start.lock'), prepare, () =>
    console.log('Another npm start is packing: waiting for it.'),
  );
  if (!options.check) return editor.open(demo);
  await editor.check(demo);
  console.log(`Waygate opens in VS Code (checked in ${Math.round((Date.now() - began) / 1000)} s).`);
}

// The user ends it with Ctrl-C, so that is not a failure.
leaveTogether(0);
try {
  await main();
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  await endAll();
  process.exit(1);
}
