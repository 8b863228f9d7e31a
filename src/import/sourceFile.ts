import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';
import { members } from '../config/jsonNodes.ts';
import { describeSyntaxError } from '../config/jsonSyntax.ts';
import { lineIndex } from '../config/textPosition.ts';
import { isRecord } from '../lib/isRecord.ts';
import type { ClientId } from './clientIds.ts';
import { isFlaw, type RawServer, readEntry } from './readEntry.ts';
import type { ReferenceScope, Translator } from './references.ts';
import type { ImportedServer, InputEntry, ParsedSource, SourceFlaw } from './serverEntry.ts';
import { type Place, type PlaceFiles, placesOf, type Surroundings } from './surroundings.ts';

/** Finds and reads the files of one client. */
export interface ClientSource {
  id: ClientId;
  title: string;
  places(at: Surroundings): readonly Place[];
  /** Returns files that restrict the servers of this client. */
  beside?(at: Surroundings): readonly string[];
  /** Throws `UnreadableSource` if the whole file cannot be read. */
  parse(text: string, context: ParseContext): ParsedSource;
}

export interface ParseContext extends ReferenceScope {
  workspace: string;
  /** Texts of the files that `beside` names, as far as they exist. */
  beside?: readonly string[];
}

/** Defines a client that keeps its servers in one object of a JSON file, in the workspace or among the user's files. */
export function jsonClient({
  id,
  title,
  files,
  table,
}: Pick<ClientSource, 'id' | 'title'> & {
  files(at: Surroundings): PlaceFiles;
  table(root: Node): Omit<ServerTable, 'scope'>;
}): ClientSource {
  return {
    id,
    title,
    places: (at) => placesOf(title, files(at)),
    parse: (text, scope) => {
      const root = parseJson(text);
      return { ...readJsonServers(root, { ...table(root), scope }), inputs: [] };
    },
  };
}

/** Invalid file. Lines and columns are one-based. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line = 1, column = 1) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** Parses JSON with comments, which most clients use. */
export function parseJson(source: string): Node {
  const text = source.replace(/^\ufeff/, '');
  const positionAt = lineIndex(text);
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) throw new UnreadableSource('it nests too deep');
    throw error;
  }
  const [first] = errors;
  if (first) {
    const { line, column } = positionAt(first.offset);
    throw new UnreadableSource(`it is not JSON: ${describeSyntaxError(first.error)}`, line, column);
  }
  if (root?.type !== 'object') throw new UnreadableSource('it does not hold an object');
  return root;
}

export function parseTomlTable(text: string): Readonly<Record<string, unknown>> {
  try {
    return parseToml(text.replace(/^\ufeff/, ''));
  } catch (error) {
    // The library's own message quotes the line, which may contain a secret.
    if (error instanceof TomlError) throw new UnreadableSource('it is not TOML', error.line, error.column);
    throw error;
  }
}

export interface ServerTable {
  /** Path of the servers, key by key. */
  path: readonly string[];
  references: Translator;
  scope: ReferenceScope;
  silent?: readonly string[];
  timeout?: 'ms' | 's';
  /** Renames a client's keys to VS Code's. */
  normalise?(raw: RawServer, name: string): { raw: RawServer; notes?: readonly string[] } | string;
}

/** Reads the servers of an object by name; none if there is no such object. */
export function readServers(
  table: unknown,
  { path, normalise, ...options }: ServerTable,
): Pick<ParsedSource, 'servers' | 'flaws'> {
  const servers: ImportedServer[] = [];
  const flaws: SourceFlaw[] = [];
  if (table !== undefined && !isRecord(table)) {
    return { servers, flaws: [{ name: path.join('.'), message: 'it is not an object of servers by name' }] };
  }
  for (const [name, raw] of Object.entries(table ?? {})) {
    const normal = isRecord(raw) && normalise ? normalise(raw, name) : { raw };
    if (typeof normal === 'string') {
      flaws.push({ name, message: normal });
      continue;
    }
    const notes = 'notes' in normal && normal.notes ? { notes: normal.notes } : {};
    const result = readEntry(name, normal.raw, { ...options, ...notes, path: [...path, name] });
    if (isFlaw(result)) flaws.push(result);
    else servers.push(result);
  }
  return { servers, flaws };
}

/** Reads the servers at a path of a JSON file. */
export function readJsonServers(root: Node, table: ServerTable): Pick<ParsedSource, 'servers' | 'flaws'> {
  return readServers(valueAt(root, table.path), table);
}

export function valueAt(root: Node, path: readonly string[]): unknown {
  const node = path.length === 0 ? root : findNodeAtLocation(root, [...path]);
  return node && getNodeValue(node);
}

export function keysOf(root: Node): string[] {
  return members(root).map(([key]) => key.value as string);
}

/** Reads `inputs`: every item with an id. An item without a type asks for text. */
export function readInputs(value: unknown): InputEntry[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((input): input is Record<string, unknown> => isRecord(input) && typeof input.id === 'string')
    .map((input) => ({ type: 'promptString', ...input }) as InputEntry);
}

/** Reads `inputs` of VS Code in a form that `waygate.json` has: a command becomes a question, a label its value. */
export function readEditorInputs(value: unknown): InputEntry[] {
  return readInputs(value).map((input) => {
    const { id, type, description, default: given, password, command } = input;
    const picks = (Array.isArray(input.options) ? input.options : []).map((option) =>
      isRecord(option) ? option.value : option,
    );
    const options = picks.filter((option) => typeof option === 'string');
    const isPick = type === 'pickString' && options.length > 0;
    const asked = type === 'command' ? `Result of the VS Code command ${String(command)}` : undefined;
    const text = typeof description === 'string' ? description : asked;
    return {
      type: isPick ? 'pickString' : 'promptString',
      id,
      ...(text !== undefined && { description: text }),
      ...(typeof given === 'string' && { default: given }),
      ...(typeof password === 'boolean' && { password }),
      ...(isPick && { options }),
    };
  });
}
