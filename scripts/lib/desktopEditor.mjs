import { join } from 'node:path';
import { exitCode, start } from './processes.mjs';
import { addDemoExtension, expectInstalled, FIRST_STEPS, seedSettings } from './profile.mjs';
import { serverEnvironment } from './serverBuild.mjs';
import { SetupError } from './setupError.mjs';
import { findProgram } from './systemPackages.mjs';

/** Returns the desktop VS Code on the PATH, if it can show a window. @returns {string | undefined} */
export function findDesktop() {
  const displayed = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  return displayed ? findProgram(process.platform === 'win32' ? 'code.cmd' : 'code') : undefined;
}

/**
 * @param {string} root
 * @param {string} program
 * @param {string} profile
 * @returns {import('./profile.mjs').Editor}
 */
export function desktopEditor(root, program, profile) {
  const onWindows = process.platform === 'win32';
  const extensionsFolder = join(profile, 'extensions');
  const own = ['--user-data-dir', profile, '--extensions-dir', extensionsFolder];
  // VS Code refuses to run as root without it.
  if (process.getuid?.() === 0) own.push('--no-sandbox');
  // A .cmd runs only in a shell, and a shell splits arguments that are not quoted.
  const quoted = (/** @type {string} */ arg) => (onWindows ? `"${arg}"` : arg);
  const code = (/** @type {string[]} */ ...args) =>
    exitCode(
      start(quoted(program), [...own, ...args].map(quoted), {
        shell: onWindows,
        env: serverEnvironment(process.env),
      }),
    );
  return {
    async install(vsix) {
      seedSettings(join(profile, 'User'));
      if ((await code('--install-extension', vsix, '--force')) !== 0) {
        throw new SetupError(`${program} could not install the packed extension: see above.`);
      }
      expectInstalled(root, extensionsFolder);
      addDemoExtension(root, extensionsFolder);
    },
    async check() {
      if ((await code('--list-extensions')) !== 0) throw new SetupError(`${program} does not answer: see above.`);
    },
    async open(folder) {
      console.log(`Opening ${folder} in VS Code. ${FIRST_STEPS}\nClose its window to end.`);
      await code('--new-window', '--wait', '--disable-workspace-trust', folder);
    },
  };
}
