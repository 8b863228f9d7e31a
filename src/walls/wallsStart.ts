import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheRoot, configRoot, ensurePrivateFolder, stateKey } from '../config/state/stateFolder.ts';
import { absoluteParts } from '../lib/findProgram.ts';
import type { Walls } from '../trust/walls.ts';

/** Start of a program, as the system gets it. */
export interface ProgramStart {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Instructions for the launcher, sent on `PLAN_FD`. */
export interface WallsPlan {
  start: ProgramStart;
  walls: Walls;
  workspace: string;
  /** Configuration file of the server. */
  configFile: string;
  stateRoot: string;
  configRoot: string;
  /** Folder for caches and temporary files, which no server outside these walls reads (T6.4). */
  ownFolder: string;
  /** Environment of the worker, which says where the files of other clients are. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Descriptor on which the launcher reads its plan, and the shell inside the walls the start. */
export const PLAN_FD = 3;

export interface WallsBuild {
  walls: Walls;
  name: string;
  workspace: string;
  configFile: string;
  stateRoot: string;
}

/** Start of the launcher of a server behind walls, with the text for `PLAN_FD`. */
export interface WalledStart extends ProgramStart {
  plan: string;
}

const KEY_CHARS = 16;
/** Variables of the worker from which the places of other clients' files follow. */
const PLACES = /^(HOME|XDG_CONFIG_HOME|\w+_HOME|\w+_CONFIG_DIR)$/;

/**
 * Returns the start of the launcher in place of a program's. The server's variables go into the plan: `LD_PRELOAD` or
 * `BASH_ENV` must not reach a program outside the walls (T6.6).
 */
export function walledStart(
  start: ProgramStart,
  { walls, name, workspace, configFile, stateRoot }: WallsBuild,
  outside: Readonly<Record<string, string>>,
  script: string = ownScript(),
): WalledStart {
  const plan: WallsPlan = {
    start,
    walls,
    workspace,
    configFile,
    stateRoot,
    configRoot: configRoot(),
    ownFolder: wallsFolder(workspace, name),
    env: Object.fromEntries(Object.entries(process.env).filter(([key]) => PLACES.test(key))),
  };
  return {
    program: process.execPath,
    args: [script],
    cwd: '/',
    env: { ...outside, PATH: absoluteParts(outside.PATH).join(':'), ELECTRON_RUN_AS_NODE: '1' },
    plan: JSON.stringify(plan),
  };
}

/** Returns the server's own folder behind walls. It is not in the state folder, which no server reads. */
export function wallsFolder(workspace: string, name: string, env: NodeJS.ProcessEnv = process.env): string {
  const key = createHash('sha256')
    .update(`${stateKey(workspace)}\0${name}`)
    .digest('hex')
    .slice(0, KEY_CHARS);
  const folder = join(cacheRoot(env), 'walls', key);
  for (const inside of ['', 'cache', 'run', 'tmp']) ensurePrivateFolder(join(folder, inside));
  return folder;
}

/** Returns the program that closes Unix sockets to a server. The runtime starts servers without it too (T6.2). */
export function seccompHelper(folder = dirname(ownScript())): string {
  return join(folder, 'walls', process.arch, 'apply-seccomp');
}

/** Returns the launcher: beside the worker in the product, in `dist/` for code that runs from source. */
function ownScript(): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(new URL(isSource ? '../../dist/wallsLauncher.cjs' : './wallsLauncher.cjs', import.meta.url));
}
