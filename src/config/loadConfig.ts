import { lstatSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { createScanner, type ParseError, parseTree } from 'jsonc-parser';
import { FileReader, type LoadedConfig } from './fileReader.ts';
import type { ConfigOrigin, FileLocation } from './gatewayConfig.ts';
import { describeSyntaxError } from './jsonSyntax.ts';
import { type ConfigPlace, configFile } from './state/configPlaces.ts';
import { lineIndex } from './textPosition.ts';

/** Returns the content of a file that sets nothing. */
export function emptyConfig({ origin, file }: ConfigPlace) {
  return {
    origin,
    file,
    servers: [],
    broken: [],
    problems: [],
    inputs: [],
    entries: new Map(),
    envFiles: [],
    blocks: new Map(),
    unreadable: new Map(),
    references: [],
    sources: new Map(),
    locate: () => ({ file, line: 1, column: 1 }),
  } satisfies Partial<LoadedConfig>;
}

/** Upper bound of a file. A larger one is a mistake, and would only cost memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads one file, by default the workspace's own. */
export function loadConfig(
  workspace: string,
  env: NodeJS.ProcessEnv,
  place: ConfigPlace = { origin: 'workspace', file: configFile(workspace) },
): LoadedConfig {
  const { origin, file } = place;
  let text: string;
  try {
    const stat = statSync(file);
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (!stat.isFile()) throw new Error('it is no regular file');
    if (stat.size > MAX_BYTES) throw new Error('it is larger than 16 MB');
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // A dangling link is a file that cannot be read.
    const isLink = code === 'ENOENT' && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const absent = (code === 'ENOENT' && !isLink) || code === 'ENOTDIR';
    // The user named a given file, so it must exist. The others are optional.
    if (absent && origin !== 'given') return { ...emptyConfig(place), exists: false, usable: true };
    const why = absent ? 'does not exist' : `cannot be read (${code ?? (error as Error).message})`;
    return unusable(place, `${basename(file)} ${why}.`);
  }
  return parseConfig(text, file, workspace, env, origin);
}

/** Depth limit: deeper nesting would overflow the parser's stack, and no configuration needs it. */
const MAX_DEPTH = 100;

export function parseConfig(
  source: string,
  file: string,
  workspace: string,
  env: NodeJS.ProcessEnv,
  origin: ConfigOrigin = 'workspace',
): LoadedConfig {
  const place = { origin, file };
  // Editors on Windows begin a file with a byte order mark.
  const text = source.replace(/^\ufeff/, '');
  const positionAt = lineIndex(text);
  const at = (offset: number): FileLocation => ({ file, ...positionAt(offset) });
  if (text.trim() === '') return unusable(place, 'The file is empty; it needs {"servers": {}}.', at(0));
  const tooDeep = offsetBelow(MAX_DEPTH, text);
  if (tooDeep !== undefined) return unusable(place, `This nests deeper than ${MAX_DEPTH} levels.`, at(tooDeep));
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const syntax = errors[0];
  if (syntax) return unusable(place, `This is not JSON: ${describeSyntaxError(syntax.error)}.`, at(syntax.offset));
  if (root?.type !== 'object')
    return unusable(place, 'The file must hold an object: {"servers": {…}}.', at(root?.offset ?? 0));
  return { ...new FileReader(root, place, at, { workspace, env }).read(text), text: source };
}

/** Returns a file that sets nothing because of an error: its safety blocks have their strictest meaning. */
export function unusable(
  place: ConfigPlace,
  message: string,
  location: FileLocation = { file: place.file, line: 1, column: 1 },
): LoadedConfig {
  const problems = [{ severity: 'error' as const, message, location }];
  return { ...emptyConfig(place), exists: true, usable: false, problems };
}

/** Returns the first offset that nests deeper than `limit`, without recursion. */
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
