import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { findProgram } from '../lib/findProgram.ts';
import { oneLine } from '../text/porcelain.ts';
import type { Walls } from '../trust/walls.ts';
import { seccompHelper } from './wallsStart.ts';

/** Variable with which the user switches optional walls off on a machine, for example in a container. */
export const WALLS_VARIABLE = 'WAYGATE_WALLS';
/** Limit of the attempt, which takes milliseconds on a quiet machine. */
const ATTEMPT_MS = 10_000;
const INSTALL = "install them with: apt-get install bubblewrap socat, or your system's package manager";

let known: { missing: string | undefined } | undefined;

/**
 * Returns why walls are not built on this machine, with the remedy; `undefined` if they are. Tries them once in a
 * process (T6.2).
 */
export function missingWalls({ isOptional }: Pick<Walls, 'isOptional'>, path = process.env.PATH): string | undefined {
  if (isOptional && process.env[WALLS_VARIABLE] === 'off')
    return `${WALLS_VARIABLE} is "off" in the environment of the gateway`;
  known ??= { missing: missingOn(process.platform, path) };
  return known.missing;
}

export function missingOn(
  platform: NodeJS.Platform,
  path: string | undefined,
  helper = seccompHelper(),
): string | undefined {
  const program = (name: string): string | undefined => findProgram(name, { cwd: '/', path });
  if (platform === 'darwin') return undefined;
  if (platform !== 'linux') return 'Waygate has walls on Linux and macOS only';
  const bubblewrap = program('bwrap');
  const absent = ['bwrap', 'socat', 'bash'].filter((name) => program(name) === undefined);
  if (bubblewrap === undefined || absent.length > 0) {
    return `${absent.map((name) => (name === 'bwrap' ? 'bubblewrap' : name)).join(' and ')} not found; ${INSTALL}`;
  }
  if (!isExecutable(helper)) return `${helper} cannot run on this machine, so Unix sockets would stay open`;
  const attempt = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc'];
  const { status, error, stderr } = spawnSync(bubblewrap, [...attempt, '--', 'true'], {
    env: { PATH: path },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: ATTEMPT_MS,
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  const said = stderr || error?.message || 'it failed';
  return `bubblewrap cannot create namespaces (${oneLine(said)}); allow unprivileged user namespaces`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
