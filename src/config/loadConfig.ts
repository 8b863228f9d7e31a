import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { DEFAULT_FACE, type Face } from '../ops/face.ts';
import { CALL_KEYS, type CallBlocks, NO_CALL_BLOCKS, readCallBlocks } from './callBlocks.ts';
import {
  type ArtifactConfig,
  type BrokenServer,
  type BrowseConfig,
  type ConfigurationProblem,
  DEFAULT_ARTIFACTS,
  DEFAULT_BROWSE,
  DEFAULT_IDLE_MINUTES,
  DEFAULT_PASSTHROUGH,
  type FileLocation,
  type InputConfig,
  type PassthroughConfig,
  type ServerConfig,
} from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import { readArtifacts } from './readArtifacts.ts';
import { type Complaint, readBrowse } from './readBrowse.ts';
import { readMode, readPassthrough } from './readFaces.ts';
import { readInputs } from './readInputs.ts';
import { readServer } from './readServer.ts';
import { lineIndex } from './textPosition.ts';

export interface LoadedConfig {
  file: string;
  exists: boolean;
  /** False when the file as a whole cannot be used: whoever has an earlier one keeps it. */
  usable: boolean;
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  problems: readonly ConfigurationProblem[];
  browse: BrowseConfig;
  artifacts: ArtifactConfig;
  calls: CallBlocks;
  inputs: readonly InputConfig[];
  idleMinutes: number;
  mode: Face;
  passthrough: PassthroughConfig;
}

const TOP_LEVEL_KEYS: readonly string[] = [
  'servers',
  'mode',
  'passthrough',
  'inputs',
  'browse',
  'artifacts',
  'idleMinutes',
  ...CALL_KEYS,
  '$schema',
];

/** What holds where the file says nothing. */
export const CONFIG_DEFAULTS = {
  servers: [],
  broken: [],
  browse: DEFAULT_BROWSE,
  artifacts: DEFAULT_ARTIFACTS,
  calls: NO_CALL_BLOCKS,
  inputs: [],
  idleMinutes: DEFAULT_IDLE_MINUTES,
  mode: DEFAULT_FACE,
  passthrough: DEFAULT_PASSTHROUGH,
};

export function configFile(workspace: string): string {
  return join(workspace, '.vscode', 'waygate.json');
}

export function loadConfig(workspace: string, env: NodeJS.ProcessEnv): LoadedConfig {
  const file = configFile(workspace);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return { file, exists: false, usable: true, problems: [], ...CONFIG_DEFAULTS };
    }
    const problem = `${basename(file)} cannot be read (${code ?? (error as Error).message}).`;
    return unusable(file, problem, { file, line: 1, column: 1 });
  }
  return parseConfig(text, file, workspace, env);
}

const MAX_IDLE_MINUTES = 1_440;

/** No configuration nests further; what does is meant to overflow the parser's stack. */
const MAX_DEPTH = 100;

export function parseConfig(source: string, file: string, workspace: string, env: NodeJS.ProcessEnv): LoadedConfig {
  // Editors on Windows put a byte order mark before it.
  const text = source.replace(/^\ufeff/, '');
  const positionAt = lineIndex(text);
  const at = (offset: number): FileLocation => ({ file, ...positionAt(offset) });
  if (text.trim() === '') return unusable(file, 'The file is empty; it needs {"servers": {}}.', at(0));
  const tooDeep = offsetBelow(MAX_DEPTH, text);
  if (tooDeep !== undefined) return unusable(file, `This nests deeper than ${MAX_DEPTH} levels.`, at(tooDeep));
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const syntax = errors[0];
  if (syntax) return unusable(file, `This is not JSON: ${describeSyntax(syntax)}.`, at(syntax.offset));
  if (root?.type !== 'object')
    return unusable(file, 'The file must hold an object: {"servers": {…}}.', at(root?.offset ?? 0));

  const problems: ConfigurationProblem[] = [];
  const servers: ServerConfig[] = [];
  const broken: BrokenServer[] = [];
  let { browse, artifacts, idleMinutes, mode, passthrough } = CONFIG_DEFAULTS;
  const complain = ({ message, offset }: Complaint): void =>
    void problems.push({ severity: 'error', message, location: at(offset) });
  // Wherever it stands: servers refer to it.
  const inputsNode = members(root).find(([key]) => key.value === 'inputs')?.[1];
  const inputs = inputsNode
    ? readInputs(inputsNode, ({ message, offset }) =>
        problems.push({ severity: 'error', message: `"inputs": ${message}`, location: at(offset) }),
      )
    : [];
  const seen = new Set<string>();
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
      browse = readBrowse(value, ({ message, offset }) =>
        problems.push({ severity: 'error', message: `"browse": ${message}`, location: at(offset) }),
      );
    } else if (name === 'artifacts') {
      artifacts = readArtifacts(value, ({ message, offset }) =>
        problems.push({ severity: 'error', message: `"artifacts": ${message}`, location: at(offset) }),
      );
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
        return unusable(file, '"servers" must be an object of servers by name.', at(value.offset));
      readServers(value, {
        at,
        inputs: new Set(inputs.map(({ id }) => id)),
        workspace,
        env,
        servers,
        broken,
        problems,
      });
    }
  }
  return {
    file,
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
  };
}

function readServers(
  node: Node,
  into: {
    at: (offset: number) => FileLocation;
    inputs: ReadonlySet<string>;
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

function unusable(file: string, message: string, location: FileLocation): LoadedConfig {
  const problems = [{ severity: 'error' as const, message, location }];
  return { file, exists: true, usable: false, problems, ...CONFIG_DEFAULTS };
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

/** `CommaExpected` → `a comma is expected`. */
function describeSyntax(error: ParseError): string {
  const words = printParseErrorCode(error.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const expected = /^(.*) expected$/.exec(words);
  return expected ? `a ${expected[1]} is expected here`.replace('a end', 'an end') : words;
}
