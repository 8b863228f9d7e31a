import { diffArrays } from 'diff';
import type { AuthConfig } from '../config/declaration/server.ts';
import type { ServerConfig, StdioServerConfig } from '../config/gatewayConfig.ts';
import { writtenForm } from '../config/secretReferences.ts';
import { findProgram, isBare } from '../lib/findProgram.ts';
import { type ClearSecret, clearArguments, clearSecrets } from '../secrets/clearSecrets.ts';
import { type MissingWalls, missingWallsLine, type WallsPlace, wallsLine, wallsOf } from './walls.ts';
import { partsOfWorkspace, runnerOf, type WorkspaceParts } from './workspaceCode.ts';

/**
 * Characters that a terminal hides or changes: control characters, changes of the writing direction, unusual spaces.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** Effective launch of a server, which the user approves. */
export interface Launch {
  name: string;
  /** Keyed SHA-256 of the name and all lines, so that nobody approves something unseen. */
  hash: string;
  /** Complete description: nothing is hidden or cut. */
  lines: readonly string[];
  /** Command of the entry, which a pinned program belongs to. */
  command?: string;
  /** Absolute path of the program; absent if the `PATH` has none. */
  program?: string;
  /** Whether it runs in a folder of its own instead of the workspace. */
  isApart: boolean;
}

export interface LaunchPlace {
  workspace: string;
  /** `PATH` in which bare commands are looked up. */
  path: string | undefined;
  /** Returns a keyed SHA-256. A repository cannot compute it, so it cannot prepare two launches of the same short hash. */
  seal(text: string): string;
  /** Returns why this machine has no walls; `undefined` if it has them. */
  missingWalls?: MissingWalls | undefined;
  /** Program that an approval has pinned for a bare command. */
  pinned?: string | undefined;
}

const FINGERPRINT_CHARS = 16;
/** Characters of a hash by which the user names a launch. */
export const SHORT_HASH_CHARS = 8;

/**
 * Describes what a start of a server would run or reach. `${env:NAME}`, `${secret:NAME}` and `${input:ID}` stay
 * unresolved, so that no value of the environment is shown.
 */
export function launchOf(config: ServerConfig, place: LaunchPlace): Launch {
  const { name, type } = config;
  const { code, data, lines, notes, ...start } =
    type === 'stdio' ? programLaunch(config, place) : addressLaunch(config, place);
  const naming = (words: string, parts: readonly string[]): string[] =>
    parts.length === 0 ? [] : [`${words}: ${parts.map(shown).join(' ')}`];
  const launch = [
    ...lines,
    ...inputLines(config),
    ...(config.sampling ? ['may ask the model of your client (sampling)'] : []),
    ...naming('runs code of this workspace', code),
  ];
  // A file that the server itself creates makes no other launch.
  const hash = place.seal(`launch ${JSON.stringify([name, type, launch])}`);
  // Only the program knows what it does with a folder, or with a file without the ending of a script.
  const named = naming('may read, change or run in this workspace', data);
  return { ...start, name, hash, lines: [...launch, ...named, ...notes] };
}

/** Returns the lines of a launch for the user; after a change, as a diff against the approved ones. */
export function shownLines({ lines }: Launch, before?: readonly string[]): string[] {
  if (!before) return [...lines];
  return diffArrays([...before], [...lines]).flatMap(({ added, removed, value }) =>
    value.map((line) => `${added ? '+' : removed ? '-' : ' '} ${line}`),
  );
}

/** Shows a plain word unchanged and quotes anything else, so that the end of a value is visible. */
export function shown(text: string): string {
  const written = writtenForm(text);
  return /^[\w@%+=:,./\\${}~-]+$/.test(written) ? written : quoted(written);
}

/** Returns a text in quotes, with every hidden character visible. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    INVISIBLE,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}

interface Described extends Pick<Launch, 'lines' | 'isApart' | 'command' | 'program'>, WorkspaceParts {
  /** Lines about this machine, which are no part of the hash. */
  notes: readonly string[];
}

function programLaunch(config: StdioServerConfig, place: LaunchPlace): Described {
  const { command, args, env, cwd, envFile, envFileHash } = config;
  const declared = config.declared ?? config;
  const { workspace, seal, pinned } = place;
  const path = variable(env, 'PATH') ?? place.path;
  const pathExt = variable(env, 'PATHEXT') ?? process.env.PATHEXT;
  const program = isBare(command)
    ? (pinned ?? findProgram(command, { cwd, path, pathExt }))
    : findProgram(command, { cwd, path });
  const isApart = declared.cwd === undefined && runnerOf({ command, program, args })?.fetches === true;
  // A value of the environment is shown by its name. Its fingerprint changes with it.
  const pathShown = (written: string, resolved: string): string =>
    written.includes('${env:') ? `${shown(written)} (${fingerprint(resolved, seal)})` : shown(resolved);
  const runs = program === undefined ? `${shown(command)} (not found)` : pathShown(declared.command, program);
  const written = declared.args.map(writtenForm);
  const clear = new Map(clearArguments(written).map(({ index, secrets }) => [index, secrets]));
  const walls = wallsOf(config, { workspace, program });
  const variables = Object.values(env);
  const parts = partsOfWorkspace({ command, program, args, variables, cwd: isApart ? '/' : cwd, workspace });
  return {
    ...parts,
    isApart,
    command,
    ...(program !== undefined && { program }),
    lines: [
      `runs ${[runs, ...written.map((text, index) => masked(text, clear.get(index) ?? [], seal))].join(' ')}`,
      isApart ? 'in an empty folder of its own' : `in ${pathShown(declared.cwd ?? '', cwd)}`,
      ...valueLines('with the variable', declared.env, seal),
      ...(envFile === undefined
        ? []
        : [`with the variables of ${pathShown(declared.envFile ?? '', envFile)}, SHA-256 ${envFileHash}`]),
      wallsShown(config, { workspace, program }, seal),
    ],
    notes: missingWallsLine(walls, place.missingWalls),
  };
}

/** Shows the walls that the entry asks for, as it is written. */
function wallsShown(config: StdioServerConfig, place: WallsPlace, seal: LaunchPlace['seal']): string {
  const { sandbox } = config.declared ?? config;
  const line = wallsLine(wallsOf(config, { ...place, sandbox }), shown);
  if (JSON.stringify(sandbox)?.includes('${env:') !== true) return line;
  return `${line} (${fingerprint(JSON.stringify(config.sandbox), seal)})`;
}

/** Returns a variable of a server's environment. On Windows its name has no case. */
function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  const isName = (key: string): boolean => (process.platform === 'win32' ? key.toUpperCase() === name : key === name);
  return Object.entries(env).find(([key]) => isName(key))?.[1];
}

function addressLaunch(config: Exclude<ServerConfig, StdioServerConfig>, { seal }: LaunchPlace): Described {
  const nothing = { code: [], data: [], notes: [], isApart: false };
  if (config.type === 'static') return { ...nothing, lines: ['answers from a catalog and runs nothing'] };
  if (config.type === 'records') {
    const { url, tokens } = config.declared ?? config;
    if (url === undefined) {
      return {
        ...nothing,
        lines: ['reads the history of this workspace and the records of this machine that you granted'],
      };
    }
    const address = masked(url, clearSecrets('url', writtenForm(url)), seal);
    return {
      ...nothing,
      lines: [`reads records at ${address}`, ...tokens.map((token) => `with the token ${shown(token)}`)],
    };
  }
  const { url, headers, auth } = config.declared ?? config;
  const lines = [
    `connects to ${masked(url, clearSecrets('url', writtenForm(url)), seal)}${config.type === 'http' ? '' : ` over ${config.type}`}`,
    ...valueLines('sends the header', headers, seal),
    ...valueLines('signs in with', signInSettings(auth), seal),
  ];
  return { ...nothing, lines };
}

function signInSettings({ scopes, ...auth }: AuthConfig = {}): Record<string, string> {
  return { ...auth, ...(scopes ? { scopes: scopes.join(' ') } : {}) };
}

function inputLines({ inputs = [] }: ServerConfig): string[] {
  return inputs.map(({ id, default: value, password }) => {
    const reference = `\${input:${id}}`;
    return value === undefined || password
      ? `asks you for ${reference}`
      : `uses ${shown(value)} as ${reference} unless you set it`;
  });
}

function valueLines(what: string, values: Readonly<Record<string, string>>, seal: LaunchPlace['seal']): string[] {
  return Object.keys(values)
    .sort()
    .map((name) => {
      const value = values[name] as string;
      return `${what} ${shown(name)}=${masked(value, clearSecrets(name, writtenForm(value)), seal)}`;
    });
}

/** Shows a value without its secrets in clear, with a fingerprint of the whole. */
function masked(text: string, secrets: readonly ClearSecret[], seal: LaunchPlace['seal']): string {
  if (secrets.length === 0) return shown(text);
  const written = writtenForm(text);
  let rest = '';
  let end = 0;
  for (const secret of secrets) {
    rest += `${written.slice(end, secret.start)}[masked]`;
    end = Math.max(end, secret.end);
  }
  return `${shown(rest + written.slice(end))} (${fingerprint(written, seal)})`;
}

function fingerprint(value: string, seal: LaunchPlace['seal']): string {
  return `fingerprint ${seal(`value ${value}`).slice(0, FINGERPRINT_CHARS)}`;
}
