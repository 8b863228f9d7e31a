import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { createScanner, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { DEFAULT_MODE, type Mode } from '../link/mode.ts';
import { CALL_KEYS, type CallBlocks, NO_CALL_BLOCKS, readCallBlocks } from './callBlocks.ts';
import {
  type BrokenServer,
  type ConfigBlocks,
  type ConfigOrigin,
  type ConfigurationProblem,
  DEFAULT_BLOCKS,
  type FileLocation,
  type InputConfig,
  type ServerConfig,
} from './gatewayConfig.ts';
import { members, repeatedMembers, unknownKey } from './jsonNodes.ts';
import { syntaxWords } from './jsonSyntax.ts';
import { readArtifacts } from './readArtifacts.ts';
import { type Complaint, readBrowse } from './readBrowse.ts';
import { readInputs } from './readInputs.ts';
import { readLiveRefresh } from './readLiveRefresh.ts';
import { readMode, readPassthrough } from './readModes.ts';
import { readServer } from './readServer.ts';
import { readStartup } from './readStartup.ts';
import { userConfigFile } from './state/stateFolder.ts';
import { lineIndex } from './textPosition.ts';

/** A file that a gateway is configured by. */
export interface ConfigPlace {
  origin: ConfigOrigin;
  file: string;
}

/** One file as it is read. */
export interface LoadedConfig extends ConfigPlace, ConfigBlocks {
  exists: boolean;
  /** What it was read from. */
  text?: string;
  /** False when the file as a whole cannot be used: whoever has an earlier one keeps it. */
  usable: boolean;
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  problems: readonly ConfigurationProblem[];
  calls: CallBlocks;
  inputs: readonly InputConfig[];
  mode: Mode;
  /** The names that stand at the top of the file, and those within a block as `block.name`. */
  said: ReadonlySet<string>;
}

const TOP_LEVEL_KEYS: readonly string[] = [
  'servers',
  'mode',
  'passthrough',
  'inputs',
  'browse',
  'artifacts',
  'idleMinutes',
  'startup',
  'liveRefresh',
  ...CALL_KEYS,
  '$schema',
];

/** What holds where the file says nothing. */
export const CONFIG_DEFAULTS = {
  servers: [],
  broken: [],
  ...DEFAULT_BLOCKS,
  calls: NO_CALL_BLOCKS,
  inputs: [],
  mode: DEFAULT_MODE,
  said: new Set<string>(),
};

export function configFile(workspace: string): string {
  return join(workspace, '.vscode', 'waygate.json');
}

/** The files that count, the later over the earlier. One that is given by hand counts alone. */
export function configPlaces(workspace: string, env: NodeJS.ProcessEnv, given?: string): ConfigPlace[] {
  if (given !== undefined) return [{ origin: 'given', file: given }];
  return [
    { origin: 'user', file: userConfigFile(env) },
    { origin: 'workspace', file: configFile(workspace) },
  ];
}

/** Reads one file, the workspace's own unless another is named. */
export function loadConfig(
  workspace: string,
  env: NodeJS.ProcessEnv,
  { origin, file }: ConfigPlace = { origin: 'workspace', file: configFile(workspace) },
): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    // Somebody has asked for this very file; the others need not be there.
    if (absent && origin !== 'given') {
      return { origin, file, exists: false, usable: true, problems: [], ...CONFIG_DEFAULTS };
    }
    const why = absent ? 'is not there any more' : `cannot be read (${code ?? (error as Error).message})`;
    return unusable(origin, `${basename(file)} ${why}.`, { file, line: 1, column: 1 });
  }
  return parseConfig(text, file, workspace, env, origin);
}

const MAX_IDLE_MINUTES = 1_440;

/** No configuration nests further; what does is meant to overflow the parser's stack. */
const MAX_DEPTH = 100;

export function parseConfig(
  source: string,
  file: string,
  workspace: string,
  env: NodeJS.ProcessEnv,
  origin: ConfigOrigin = 'workspace',
): LoadedConfig {
  // Editors on Windows put a byte order mark before it.
  const text = source.replace(/^\ufeff/, '');
  const positionAt = lineIndex(text);
  const at = (offset: number): FileLocation => ({ file, ...positionAt(offset) });
  if (text.trim() === '') return unusable(origin, 'The file is empty; it needs {"servers": {}}.', at(0));
  const tooDeep = offsetBelow(MAX_DEPTH, text);
  if (tooDeep !== undefined) return unusable(origin, `This nests deeper than ${MAX_DEPTH} levels.`, at(tooDeep));
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const syntax = errors[0];
  if (syntax) return unusable(origin, `This is not JSON: ${syntaxWords(syntax.error)}.`, at(syntax.offset));
  if (root?.type !== 'object')
    return unusable(origin, 'The file must hold an object: {"servers": {…}}.', at(root?.offset ?? 0));

  const problems: ConfigurationProblem[] = repeatedMembers(root).map(({ value, offset }) => ({
    severity: 'warning',
    message: `"${value}" stands here twice; the last one counts.`,
    location: at(offset),
  }));
  const complainOf =
    (block: string) =>
    ({ message, offset }: Complaint): void =>
      void problems.push({ severity: 'error', message: `"${block}": ${message}`, location: at(offset) });
  const servers: ServerConfig[] = [];
  const broken: BrokenServer[] = [];
  let { browse, artifacts, idleMinutes, startup, liveRefresh, mode, passthrough } = CONFIG_DEFAULTS;
  const complain = ({ message, offset }: Complaint): void =>
    void problems.push({ severity: 'error', message, location: at(offset) });
  // Wherever it stands: servers refer to it.
  const inputsNode = members(root).find(([key]) => key.value === 'inputs')?.[1];
  const inputs = inputsNode ? readInputs(inputsNode, complainOf('inputs')) : [];
  const seen = new Set<string>();
  const said = new Set<string>();
  for (const [key, value] of members(root)) {
    const name = key.value as string;
    if (seen.has(name)) {
      const message = `"${name}" stands here twice; the first one counts.`;
      problems.push({ severity: 'error', message, location: at(key.offset) });
      continue;
    }
    seen.add(name);
    if (!TOP_LEVEL_KEYS.includes(name)) {
      problems.push({ severity: 'error', message: unknownKey(name, TOP_LEVEL_KEYS), location: at(key.offset) });
    } else if (name === 'browse') {
      browse = readBrowse(value, complainOf(name));
    } else if (name === 'artifacts') {
      artifacts = readArtifacts(value, complainOf(name));
      for (const [own] of members(value)) said.add(`${name}.${own.value}`);
    } else if (name === 'startup') {
      startup = readStartup(value, complainOf(name));
    } else if (name === 'liveRefresh') {
      liveRefresh = readLiveRefresh(value, complainOf(name));
    } else if (name === 'mode') mode = readMode(value, complain);
    else if (name === 'passthrough') passthrough = readPassthrough(value, complain);
    else if (name === 'idleMinutes') {
      if (typeof value.value === 'number' && value.value > 0 && value.value <= MAX_IDLE_MINUTES)
        idleMinutes = value.value;
      else {
        const message = `"idleMinutes" must be a number above 0, at most ${MAX_IDLE_MINUTES}; for a server that must run on set its "keepAlive".`;
        problems.push({ severity: 'error', message, location: at(value.offset) });
      }
    } else if (name === 'servers') {
      if (value.type !== 'object')
        return unusable(origin, '"servers" must be an object of servers by name.', at(value.offset));
      readServers(value, {
        at,
        inputs: new Set(inputs.map(({ id }) => id)),
        origin,
        workspace,
        env,
        servers,
        broken,
        problems,
      });
    }
  }
  return {
    origin,
    file,
    text: source,
    exists: true,
    usable: true,
    servers,
    broken,
    problems,
    browse,
    artifacts,
    calls: readCallBlocks(root, at),
    inputs,
    idleMinutes,
    mode,
    passthrough,
    startup,
    liveRefresh,
    said: new Set([...seen, ...said]),
  };
}

function readServers(
  node: Node,
  into: {
    at: (offset: number) => FileLocation;
    inputs: ReadonlySet<string>;
    origin: ConfigOrigin;
    workspace: string;
    env: NodeJS.ProcessEnv;
    servers: ServerConfig[];
    broken: BrokenServer[];
    problems: ConfigurationProblem[];
  },
): void {
  const seen = new Set<string>();
  for (const [key, value] of members(node)) {
    const name = key.value as string;
    const location = into.at(key.offset);
    const fail = (reason: string, offset: number): void => {
      const where = into.at(offset);
      into.problems.push({ severity: 'error', message: reason, location: where });
      into.broken.push({ name, reason, location: where });
    };
    if (name.trim() === '') {
      into.problems.push({ severity: 'error', message: 'A server needs a name.', location });
    } else if (seen.has(name)) {
      into.problems.push({
        severity: 'error',
        message: `The server "${name}" stands here twice; the first one counts.`,
        location,
      });
    } else {
      seen.add(name);
      const result = readServer(name, value, {
        workspace: into.workspace,
        // What the person's own file names runs unasked: nothing that lies in a repository may decide what that is.
        baseFolder: into.origin === 'user' ? homedir() : into.workspace,
        origin: into.origin,
        env: into.env,
        inputs: into.inputs,
        location,
        warn: (message, offset) => into.problems.push({ severity: 'warning', message, location: into.at(offset) }),
      });
      if ('server' in result) into.servers.push(result.server);
      else fail(result.problem, result.offset);
    }
  }
}

function unusable(origin: ConfigOrigin, message: string, location: FileLocation): LoadedConfig {
  const problems = [{ severity: 'error' as const, message, location }];
  return { origin, file: location.file, exists: true, usable: false, problems, ...CONFIG_DEFAULTS };
}

/** Where the text first nests deeper than that, found without recursion. */
function offsetBelow(limit: number, text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const first = text[offset];
    if (first === '{' || first === '[') depth += 1;
    else if (first === '}' || first === ']') depth -= 1;
    if (depth > limit) return offset;
  }
  return undefined;
}
