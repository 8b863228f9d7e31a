import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { ServerConfig } from '../../config/gatewayConfig.ts';

const NPX = /(^|[\\/])(npx|bunx|pnpx)(\.cmd|\.exe)?$/i;
/** `package`, `@scope/package`, with or without a version. */
const PACKAGE = /^(@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?=@|$)/i;

/**
 * What a snapshot of a server's catalog is good for: the same program, started the same way, in the same version where
 * that can be read. Values of environment variables and headers are left out: they are secrets more often than not.
 */
export function snapshotKey(config: ServerConfig): string {
  if (config.type === 'static') return hashOf([config.type, config.listing]);
  const identity =
    config.type === 'stdio'
      ? [config.command, config.args, Object.keys(config.env).sort(), config.cwd, packageVersion(config)]
      : [config.url, Object.keys(config.headers).sort()];
  return hashOf([config.type, identity]);
}

function hashOf(identity: unknown): string {
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}

/** The version of the package that a command runs: where a script lies, or what npx would find beside the workspace. */
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

/** Of the package that a file belongs to. A link in `node_modules/.bin` leads to it. */
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
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
    return typeof version === 'string' ? `${name}@${version}` : '';
  } catch {
    return '';
  }
}
