import { isNode, LineCounter, parseDocument } from 'yaml';
import { readBoundedText, readFailure } from '../lib/readBounded.ts';
import { quoted } from '../text/porcelain.ts';
import type { FileLocation, StaticItem, StaticListing } from './gatewayConfig.ts';

/** Error for a static catalog that cannot be served, in one sentence with its place. */
export class CatalogFileError extends Error {
  override readonly name = 'CatalogFileError';
  readonly location: FileLocation;

  constructor(message: string, location: FileLocation) {
    super(`${location.file}:${location.line}:${location.column}: ${message}`);
    this.location = location;
  }
}

/** Static listing in which a tool may have a namespace of its own. */
export interface CatalogFile extends StaticListing {
  tools: readonly (StaticItem & { namespace?: string })[];
}

type Path = readonly (string | number)[];
type Json = Record<string, unknown>;

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads a static catalog (G10.10), JSON or YAML: a list of tools, or an object with `tools`, `resources` and `prompts`.
 * Other members are ignored. A tool is written as MCP lists it, or with `id` and `args_schema`. `result` (tools),
 * `text` or `blob` (resources) and `messages` (prompts) are the answers.
 */
export function readCatalogFile(file: string): CatalogFile {
  let text: string;
  try {
    text = readBoundedText(file, { maxBytes: MAX_BYTES });
  } catch (error) {
    throw new CatalogFileError(`it cannot be read (${readFailure(error)}).`, { file, line: 1, column: 1 });
  }
  const { value, locate } = parse(text, file);
  return new Reader(locate).read(value);
}

type Locate = (path: Path) => FileLocation;

/** Parses JSON first, because YAML takes ten times as long. Locating an error parses the text again as YAML. */
function parse(text: string, file: string): { value: unknown; locate: Locate } {
  const locate: Locate = (path) => {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines });
    for (let length = path.length; length >= 0; length--) {
      const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      const offset = isNode(node) ? node.range?.[0] : undefined;
      if (offset === undefined) continue;
      const { line, col } = lines.linePos(offset);
      return { file, line, column: col };
    }
    return { file, line: 1, column: 1 };
  };
  try {
    return { value: JSON.parse(text), locate };
  } catch {
    // The YAML parser below reports the error with its line.
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [flaw] = document.errors;
  if (flaw) {
    const { line, col } = lines.linePos(flaw.pos[0]);
    const error = flaw.message.split(' at line ')[0] as string;
    throw new CatalogFileError(`this is neither JSON nor YAML: ${error}.`, { file, line, column: col });
  }
  try {
    // More aliases than this are an attempt to exhaust the memory.
    return { value: document.toJS({ maxAliasCount: 1_000 }), locate };
  } catch (error) {
    throw new CatalogFileError(`it cannot be used: ${(error as Error).message}.`, { file, line: 1, column: 1 });
  }
}

class Reader {
  readonly #locate: Locate;

  constructor(locate: Locate) {
    this.#locate = locate;
  }

  read(value: unknown): CatalogFile {
    const whole = Array.isArray(value) ? { tools: value } : value;
    if (!isObject(whole)) {
      this.#fail('a catalog is a list of tools, or an object with "tools", "resources" and "prompts".', []);
    }
    const listed = (key: string): readonly unknown[] => this.#list(whole[key], key);
    const prefix = Array.isArray(value) ? [] : ['tools'];
    const catalog = {
      tools: listed('tools').map((item, index) => this.#tool(item, [...prefix, index])),
      resources: listed('resources').map((item, index) =>
        this.#item(item, ['resources', index], 'uri', ['text', 'blob']),
      ),
      prompts: listed('prompts').map((item, index) => this.#item(item, ['prompts', index], 'name', ['messages'])),
    };
    if (catalog.tools.length + catalog.resources.length + catalog.prompts.length === 0) {
      this.#fail('the catalog is empty: it needs a tool, a resource or a prompt.', []);
    }
    return catalog;
  }

  #list(value: unknown, key: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    return this.#fail(`"${key}" must be a list.`, [key]);
  }

  #tool(value: unknown, path: Path): StaticItem & { namespace?: string } {
    if (!isObject(value)) return this.#fail('a tool must be an object with "name" and "inputSchema".', path);
    const isNative = value.id !== undefined && value.inputSchema === undefined;
    const tool = isNative ? fromNative(value) : value;
    const { result, ...listed } = tool;
    const name = listed.name;
    if (typeof name !== 'string' || name.trim() === '') {
      return this.#fail(`a tool needs a "${isNative ? 'id' : 'name'}".`, path);
    }
    const schema = listed.inputSchema;
    if (!isObject(schema)) {
      const key = isNative ? 'args_schema' : 'inputSchema';
      return this.#fail(`the tool ${quoted(name)} needs an object as "${key}".`, path);
    }
    const { namespace } = value;
    return {
      listed,
      ...(isNative && typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
      ...(result === undefined ? {} : { answer: this.#result(result, name, [...path, 'result']) }),
    };
  }

  #result(value: unknown, tool: string, path: Path): Json {
    if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
    if (isObject(value) && Array.isArray(value.content)) return value;
    return this.#fail(`"result" of ${quoted(tool)} must be a string, or an object with "content".`, path);
  }

  #item(value: unknown, path: Path, key: 'uri' | 'name', answers: readonly string[]): StaticItem {
    const kind = key === 'uri' ? 'resource' : 'prompt';
    if (!isObject(value)) return this.#fail(`a ${kind} must be an object with "${key}".`, path);
    const identity = value[key];
    if (typeof identity !== 'string' || identity.trim() === '') return this.#fail(`a ${kind} needs a "${key}".`, path);
    const listed = Object.fromEntries(Object.entries(value).filter(([name]) => !answers.includes(name)));
    const given = Object.entries(value).filter(([name]) => answers.includes(name));
    // Clients refuse a resource without a name.
    if (key === 'uri' && typeof listed.name !== 'string') listed.name = identity;
    return { listed, ...(given.length === 0 ? {} : { answer: Object.fromEntries(given) }) };
  }

  #fail(message: string, path: Path): never {
    throw new CatalogFileError(message, this.#locate(path));
  }
}

/** Converts an entry in the specification's own form, whose `id` becomes the tool's name. */
function fromNative({ id, name, description, args_schema: schema, tags, side_effects: effects, result }: Json): Json {
  const all = Array.isArray(tags) ? tags : [];
  const annotations = {
    ...(effects === false || all.includes('read-only') ? { readOnlyHint: true } : {}),
    ...(all.includes('destructive') ? { destructiveHint: true } : {}),
  };
  return {
    name: id,
    ...(typeof name === 'string' && name !== id ? { title: name } : {}),
    ...(description === undefined ? {} : { description }),
    inputSchema: schema ?? { type: 'object', properties: {} },
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    ...(result === undefined ? {} : { result }),
  };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
