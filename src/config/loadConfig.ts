import { basename } from 'node:path';
import { createScanner, type ParseError, parseTree } from 'jsonc-parser';
import { isAbsent, MAX_CONFIG_BYTES, readBounded, readFailure } from '../lib/readBounded.ts';
import { FileReader, type LoadedConfig } from './fileReader.ts';
import type { ConfigOrigin, FileLocation, ProblemCode } from './gatewayConfig.ts';
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
    entries: new Map(),
    envFiles: [],
    blocks: new Map(),
    unreadable: new Map(),
    references: [],
    sources: new Map(),
    locate: () => ({ file, line: 1, column: 1 }),
  } satisfies Partial<LoadedConfig>;
}

/**
 * Errors of something that is no configuration. A repository must not stop the user's own servers by a device in place of
 * its file.
 */
const NO_CONFIGURATION: readonly string[] = ['EISDIR', 'ENOTREG', 'EFBIG'];

/** Reads one file, by default the workspace's own. */
export function loadConfig(
  workspace: string,
  env: NodeJS.ProcessEnv,
  place: ConfigPlace = { origin: 'workspace', file: configFile(workspace) },
): LoadedConfig {
  const { origin, file } = place;
  let text: string;
  try {
    const within = origin === 'workspace' ? workspace : undefined;
    text = readBounded(file, { maxBytes: MAX_CONFIG_BYTES, within }).toString('utf8');
  } catch (error) {
    const absent = isAbsent(error, file);
    // The user named a given file, so it must exist. The others are optional.
    if (absent && origin !== 'given') return { ...emptyConfig(place), exists: false, usable: true };
    const why = absent ? 'does not exist' : `cannot be read (${readFailure(error)})`;
    const { code = '' } = error as NodeJS.ErrnoException;
    const ruleless = origin === 'workspace' && NO_CONFIGURATION.includes(code);
    return { ...unusable(place, `${basename(file)} ${why}.`), ruleless };
  }
  return parseConfig(text, file, workspace, env, origin);
}

/** Deeper nesting would overflow the parser's stack. No configuration needs it. */
const MAX_DEPTH = 100;
/** Keys, values and punctuation. A file of many small values would cost far more time and memory than its size. */
const MAX_TOKENS = 30_000;
/** Far more than there are; each unknown one is compared with all known ones. */
const MAX_TOP_LEVEL_KEYS = 200;

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
  const excess = excessOf(text);
  if (excess) {
    const ruleless = origin === 'workspace' && excess.isSize;
    return { ...unusable(place, excess.message, at(excess.offset)), ruleless };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const syntax = errors[0];
  if (syntax) {
    return unusable(place, `This is not JSON: ${describeSyntaxError(syntax.error)}.`, at(syntax.offset), 'syntax');
  }
  if (root?.type !== 'object')
    return unusable(place, 'The file must hold an object: {"servers": {…}}.', at(root?.offset ?? 0));
  return { ...new FileReader(root, place, at, { workspace, env }).read(text), text: source };
}

/** Returns a file that sets nothing because of an error: its safety blocks have their strictest meaning. */
export function unusable(
  place: ConfigPlace,
  message: string,
  location: FileLocation = { file: place.file, line: 1, column: 1 },
  code: ProblemCode = 'file',
): LoadedConfig {
  const problems = [{ severity: 'error' as const, code, message, location }];
  return { ...emptyConfig(place), exists: true, usable: false, problems };
}

/** Finds the first place of a text that is beyond a limit, without recursion. */
function excessOf(text: string): { message: string; offset: number; isSize: boolean } | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  let keys = 0;
  for (let tokens = 0; ; tokens++) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    if (offset >= text.length) return undefined;
    const first = text[offset];
    if (first === '{' || first === '[') depth += 1;
    else if (first === '}' || first === ']') depth -= 1;
    if (depth === 1 && first === ',') keys += 1;
    const isSize = tokens > MAX_TOKENS || keys > MAX_TOP_LEVEL_KEYS;
    if (isSize) return { message: 'The file has more keys and values than a configuration needs.', offset, isSize };
    if (depth > MAX_DEPTH) return { message: `This nests deeper than ${MAX_DEPTH} levels.`, offset, isSize };
  }
}
