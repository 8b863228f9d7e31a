import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup, exitCode, start } from './processes.mjs';
import { addDemoExtension, expectInstalled, FIRST_STEPS, seedSettings } from './profile.mjs';
import { runQuietly } from './progress.mjs';
import { serverEnvironment, startServer } from './serverBuild.mjs';
import { SetupError } from './setupError.mjs';

/**
 * @param {string} root
 * @param {import('./serverBuild.mjs').ServerBuild} build
 * @param {string} profile
 * @param {{ port: number, browse: boolean }} options
 * @returns {import('./profile.mjs').Editor}
 */
export function serverEditor(root, build, profile, { port, browse }) {
  const extensionsFolder = join(profile, 'extensions');

  /** @param {string} folder */
  async function serve(folder) {
    // The server runs programs as this user, so it asks for a token. A file keeps the token out of the process list.
    const token = randomBytes(16).toString('hex');
    const tokenFile = join(profile, `token-${process.pid}`);
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const args = ['--connection-token-file', tokenFile];
    const server = await startServer(build, { dataFolder: profile, extensionsFolder, port, args });
    // The server reads the file at its first request, so it stays until the server ends.
    server.child.once('exit', () => rmSync(tokenFile, { force: true }));
    const query = new URLSearchParams({ tkn: token, folder });
    return { child: server.child, address: `http://127.0.0.1:${server.port}/?${query}` };
  }

  return {
    async install(vsix) {
      seedSettings(join(profile, 'data', 'User'));
      await installPacked(root, build, vsix, profile);
      addDemoExtension(root, extensionsFolder);
    },
    async check(folder) {
      const { child, address } = await serve(folder);
      await expectWorkbench(address);
      await endGroup(child);
    },
    async open(folder) {
      const { child, address } = await serve(folder);
      console.log(
        `\nVS Code with Waygate runs. Open this address in a browser:\n\n  ${address}\n\n${FIRST_STEPS}\nPress Ctrl-C to end it.`,
      );
      if (browse) openInBrowser(address);
      const code = await exitCode(child);
      throw new SetupError(`The VS Code server ended by itself (exit code ${code}).`);
    },
  };
}

/**
 * Installs the packed extension into `extensions` of a folder for the server's data.
 * @param {string} root
 * @param {import('./serverBuild.mjs').ServerBuild} build
 * @param {string} vsix
 * @param {string} dataFolder
 */
export async function installPacked(root, build, vsix, dataFolder) {
  const extensionsFolder = join(dataFolder, 'extensions');
  const where = ['--server-data-dir', dataFolder, '--extensions-dir', extensionsFolder];
  const args = ['--install-extension', vsix, '--force', ...where, '--accept-server-license-terms'];
  await runQuietly(build.node, [build.server, ...args], {
    env: serverEnvironment(process.env),
    failure: 'The VS Code server could not install the packed extension: see its last lines above.',
  });
  expectInstalled(root, extensionsFolder);
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
  await expectKeptSecrets(next.origin, cookie);
}

/** Throws unless only clients with the token get the server's half of the key for secrets. @param {string} origin @param {string} cookie */
async function expectKeptSecrets(origin, cookie) {
  const ask = (/** @type {Record<string, string>} */ headers) =>
    fetch(`${origin}/mint-key`, { method: 'POST', headers });
  const half = await (await ask({ cookie })).arrayBuffer();
  if (half.byteLength !== 32)
    throw new SetupError('The VS Code server does not store secrets: secrets would be lost with the page.');
  const { status } = await ask({});
  if (status !== 403)
    throw new SetupError('The VS Code server gives its half of the key for secrets to clients without the token.');
}

/** @param {string} address */
function openInBrowser(address) {
  const onMac = process.platform === 'darwin';
  if (!onMac && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return;
  // Without such a program the user still has the address.
  start(onMac ? 'open' : 'xdg-open', [address], { stdio: 'ignore' }).on('error', () => {});
}
