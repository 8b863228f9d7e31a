import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { VERSION } from '../../lib/build.ts';
import { MAX_CONFIG_BYTES, readBoundedText } from '../../lib/readBounded.ts';

const NPX = /(^|[\\/])(npx|bunx|pnpx)(\.cmd|\.exe)?$/i;
/** A package name, with or without scope and version. */
const PACKAGE = /^(@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?=@|$)/i;

/**
 * Returns the key under which a snapshot is valid: same program, same arguments, same version if readable. Excludes the
 * values of environment variables and headers, because most of them are secrets.
 */
export function snapshotKey(config: ServerConfig): string {
  if (config.type === 'static') return hashOf([config.type, config.listing]);
  // The tools are those of this build.
  if (config.type === 'records') return hashOf([config.type, config.url, VERSION]);
  const identity =
    config.type === 'stdio'
      ? [config.command, config.args, Object.keys(config.env).sort(), config.cwd, packageVersion(config)]
      : [config.url, Object.keys(config.headers).sort()];
  return hashOf([config.origin ?? 'workspace', config.type, identity]);
}

function hashOf(identity: unknown): string {
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}

/**
 * Returns the version of the package that a command runs, from the folder of the script or from `node_modules` for
 * `npx`.
 */
function packageVersion({ command, args, cwd }: Extract<ServerConfig, { type: 'stdio' }>): string {
  if (NPX.test(command)) {
    const name = args.map((argument) => PACKAGE.exec(argument)?.[0]).find((found) => found !== undefined);
    return name === undefined ? '' : versionIn(join(cwd, 'node_modules', name));
  }
  for (const part of [command, ...args]) {
    if (!/[\\/]/.test(part) || part.startsWith('-')) continue;
    const version = versionAbove(isAbsolute(part) ? part : resolve(cwd, part));
    if (version !== '') return version;
  }
  return '';
}

/** Returns the version of the package that contains a file. Follows a link from `node_modules/.bin`. */
function versionAbove(file: string): string {
  let folder: string;
  try {
    folder = dirname(realpathSync(file));
  } catch {
    return '';
  }
  for (let parent = dirname(folder); ; folder = parent, parent = dirname(folder)) {
    const version = versionIn(folder);
    if (version !== '' || parent === folder) return version;
  }
}

function versionIn(folder: string): string {
  try {
    const text = readBoundedText(join(folder, 'package.json'), { maxBytes: MAX_CONFIG_BYTES });
    const { name, version } = JSON.parse(text) as Record<string, unknown>;
    return typeof version === 'string' ? `${name}@${version}` : '';
  } catch {
    return '';
  }
}
