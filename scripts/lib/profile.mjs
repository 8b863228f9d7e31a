import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SetupError } from './setupError.mjs';

/**
 * A VS Code that `npm start` can open.
 * @typedef {object} Editor
 * @property {(vsix: string) => Promise<void>} install puts the packed extension into a profile of its own
 * @property {(folder: string) => Promise<void>} check checks that it can open, without opening it
 * @property {(folder: string) => Promise<void>} open opens it, and ends when it does
 */

/** Settings of a fresh profile. The user may change them afterwards. */
const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'workbench.startupEditor': 'none',
};

/** @param {string} userFolder */
export function seedSettings(userFolder) {
  const file = join(userFolder, 'settings.json');
  if (existsSync(file)) return;
  mkdirSync(userFolder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(SETTINGS, null, 2)}\n`);
}

/**
 * Throws unless the installed extension is the one that was just built.
 * @param {string} root
 * @param {string} extensionsFolder
 */
export function expectInstalled(root, extensionsFolder) {
  const built = readFileSync(join(root, 'dist', 'extension.cjs'));
  const current = readdirSync(extensionsFolder)
    .filter((name) => name.startsWith('waygate.waygate-'))
    .map((name) => join(extensionsFolder, name, 'dist', 'extension.cjs'))
    .some((file) => existsSync(file) && readFileSync(file).equals(built));
  if (!current) throw new SetupError(`VS Code says it installed Waygate, but ${extensionsFolder} does not hold it.`);
}

/**
 * Adds the extension of `scripts/demo` to a profile, which opens the views of the demo.
 * @param {string} root
 * @param {string} extensionsFolder
 */
export function addDemoExtension(root, extensionsFolder) {
  const list = join(extensionsFolder, 'extensions.json');
  const folder = join(root, 'scripts', 'demo');
  const { name, publisher, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const id = `${publisher}.${name}`;
  /** @type {{ identifier: { id: string } }[]} */
  const installed = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  const location = { $mid: 1, path: pathToFileURL(folder).pathname, scheme: 'file' };
  const others = installed.filter(({ identifier }) => identifier.id !== id);
  writeFileSync(list, JSON.stringify([...others, { identifier: { id }, version, location, metadata: {} }]));
}

/** Says what the user sees and does, where the demo opens. */
export const FIRST_STEPS =
  'It shows the README of the demo, the tools of its servers (the gate icon at the left), and the dashboard.';
