import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../lib/isRecord.ts';
import { removeMember } from './jsonText.ts';
import { parseJson, parseTomlTable, UnreadableSource, valueAt } from './sourceFile.ts';

/** An entry cannot be removed from the file without changing something else. */
export class RemovalRefused extends Error {
  override readonly name = 'RemovalRefused';
}

/** Removes some entries from a client's file; comments and formatting stay. */
export function withoutEntries(file: string, source: string, paths: readonly (readonly string[])[]): string {
  if (/\.ya?ml$/i.test(file)) throw new RemovalRefused('YAML is not edited automatically');
  const mark = source.startsWith('\ufeff') ? '\ufeff' : '';
  const text = source.replace(/^\ufeff/, '');
  return mark + (file.endsWith('.toml') ? withoutTables(text, paths) : withoutMembers(text, paths));
}

function withoutMembers(text: string, paths: readonly (readonly string[])[]): string {
  const result = paths.reduce((rest, path) => removeMember(rest, path), text);
  return checked(result, withoutPaths(valueAt(parseJson(text), []), paths), (after) => valueAt(parseJson(after), []));
}

function withoutTables(text: string, paths: readonly (readonly string[])[]): string {
  const result = paths.reduce((rest, path) => cutTable(rest, path), text);
  return checked(result, withoutPaths(parseTomlTable(text), paths), parseTomlTable);
}

/** Cuts the lines from a table's header to the next table outside it. */
function cutTable(text: string, path: readonly string[]): string {
  const kept: string[] = [];
  let cutting = false;
  for (const line of text.split(/(?<=\n)/)) {
    const header = /^\s*\[([^[\]]+)\]\s*(#.*)?$/.exec(line.trimEnd());
    if (header || /^\s*\[\[/.test(line)) {
      const keys = header ? keysOfHeader(header[1] as string) : [];
      const own = path.every((key, index) => keys[index] === key);
      // Comments directly before the next table belong to that table.
      cutting = own;
    }
    if (!cutting) kept.push(line);
  }
  return kept.join('');
}

/** Splits `mcp_servers."my server".env` into its keys. */
function keysOfHeader(header: string): string[] {
  const parts = header.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^.\s]+/g) ?? [];
  return parts.map((part) => {
    if (part.startsWith('"')) return JSON.parse(part) as string;
    return part.startsWith("'") ? part.slice(1, -1) : part;
  });
}

/** Verifies that exactly the intended entries were cut, whatever the file looks like. */
function checked(result: string, expected: unknown, parse: (text: string) => unknown): string {
  try {
    if (isDeepStrictEqual(plain(parse(result)), plain(expected))) return result;
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error;
  }
  throw new RemovalRefused('its syntax is too unusual for an automatic edit');
}

/** Equates an empty table with none: TOML has no table without its headers. */
function plain(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, plain(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !(isRecord(member) && Object.keys(member).length === 0)));
}

function withoutPaths(value: unknown, paths: readonly (readonly string[])[]): unknown {
  return paths.reduce((rest, path) => withoutPath(rest, path), value);
}

function withoutPath(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isRecord(value) || key === undefined || !(key in value)) return value;
  if (rest.length > 0) return { ...value, [key]: withoutPath(value[key], rest) };
  const { [key]: _, ...others } = value;
  return others;
}
