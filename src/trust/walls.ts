import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Sandbox } from '../config/declaration/sandbox.ts';
import type { StdioServerConfig } from '../config/gatewayConfig.ts';
import { holds } from '../lib/readBounded.ts';
import { runnerOf } from './workspaceCode.ts';

/** Walls of the system around a server (T6). */
export interface Walls {
  /** Whether the server starts without them where the machine has none. */
  isOptional: boolean;
  writes: readonly string[];
  hidden: readonly string[];
  readOnly: readonly string[];
  domains: readonly string[];
  closedDomains: readonly string[];
}

/** Registries of package runners, which could start nothing without them. VS Code opens the first of them always. */
const REGISTRIES = { node: ['registry.npmjs.org'], python: ['pypi.org', 'files.pythonhosted.org'] } as const;

export interface WallsPlace {
  workspace: string;
  home?: string;
  /** Program of the command, if it is known. */
  program?: string | undefined;
  /** Rules in place of the entry's. */
  sandbox?: Sandbox | undefined;
}

/** Returns the walls that an entry asks for: by default, those of a workspace's server are optional (T6.1). */
export function wallsOf(config: StdioServerConfig, place: WallsPlace): Walls | undefined {
  const { command, args, cwd, declared = config, origin } = config;
  const isOwn = origin === 'user' || origin === 'given';
  const asked = place.sandbox ?? config.sandbox ?? (isOwn ? false : 'auto');
  if (asked === false) return undefined;
  const rules = typeof asked === 'object' ? asked : undefined;
  const { workspace, program, home = homedir() } = place;
  const path = (written: string): string => {
    const whole = written === '~' || written.startsWith('~/') ? join(home, written.slice(1)) : written;
    // A reference to the environment, as an approval shows it, begins an absolute path.
    return isAbsolute(whole) || whole.startsWith('${env:') ? whole : resolve(cwd, whole);
  };
  const folders = [...(isOwn ? [] : [workspace]), ...(declared.cwd === undefined ? [] : [cwd])];
  const runner = runnerOf({ command, program, args });
  const { filesystem, network } = rules ?? {};
  return {
    isOptional: asked === 'auto' || rules?.required === false,
    // Every shell runs the start files of the home folder (T6.3).
    writes: unique([...folders.filter((folder) => !holds(folder, home)), ...(filesystem?.allowWrite ?? []).map(path)]),
    hidden: (filesystem?.denyRead ?? []).map(path),
    readOnly: (filesystem?.denyWrite ?? []).map(path),
    domains: unique([...(runner ? REGISTRIES[runner.of] : []), ...(network?.allowedDomains ?? [])]),
    closedDomains: network?.deniedDomains ?? [],
  };
}

/** Describes walls for the approval of a launch. `show` quotes a path or a domain. */
export function wallsLine(walls: Walls | undefined, show: (text: string) => string): string {
  if (!walls) return 'runs without walls';
  const { isOptional, writes, hidden, readOnly, domains, closedDomains } = walls;
  const listed = (words: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${words} ${items.map(show).join(' ')}`];
  const parts = [
    ...(writes.length === 0 ? ['writes no files of yours'] : listed('writes', writes)),
    ...listed('but not', readOnly),
    ...listed('does not read', hidden),
    ...(domains.length === 0 ? ['has no network'] : listed('reaches', domains)),
    ...listed('but not', closedDomains),
  ];
  return `behind walls${isOptional ? ' where the machine can' : ''}: ${parts.join(', ')}`;
}

/** Returns why this machine has no walls for a server; `undefined` if it has them. */
export type MissingWalls = (walls: Walls) => string | undefined;

/** Describes what a machine without walls means for a server; nothing where it has them. */
export function missingWallsLine(walls: Walls | undefined, missingWalls: MissingWalls = () => undefined): string[] {
  const missing = walls && missingWalls(walls);
  return missing === undefined
    ? []
    : [`${walls?.isOptional ? 'runs without walls' : 'does not start'} here: ${missing}`];
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}
