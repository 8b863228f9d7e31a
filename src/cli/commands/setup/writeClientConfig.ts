import { isDeepStrictEqual } from 'node:util';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { isNode, isSeq, parseDocument } from 'yaml';
import { backUp, readTextIfThere, replaceFile } from '../../../import/importFiles.ts';
import { setMember } from '../../../import/jsonText.ts';
import { RemovalRefused, withoutEntries } from '../../../import/removal.ts';
import { parseJson, parseTomlTable, UnreadableSource, valueAt } from '../../../import/sourceFile.ts';
import { clientSource } from '../../../import/sources/all.ts';
import { parsedYaml } from '../../../import/sources/others.ts';
import { surroundingsOf } from '../../../import/surroundings.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import { scrubSecrets } from '../../../secrets/mask.ts';
import type { ClientConfigCommand } from '../../commands.ts';
import { jsonText, printNext, problemLine } from '../../print.ts';
import type { Terminal } from '../../terminal.ts';

/** Entry to write: in the client's own format, and the file that the client's documentation names. */
export interface WrittenEntry {
  entry: string;
  file: string;
}

/** Puts the entry into the client's file, after the user has seen the change. Other entries and comments stay. */
export async function writeClientConfig(
  { client, workspace, yes, json }: ClientConfigCommand,
  { entry, file: named }: WrittenEntry,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const { title, places } = clientSource(client);
  const scope = named.startsWith('.') ? 'workspace' : 'user';
  const place = places(surroundingsOf(workspace, env)).find((one) => one.scope === scope);
  if (place === undefined)
    throw new Error(`${title} has no file that Waygate knows; add the entry to ${named} by hand.`);
  const { file } = place;
  const within = scope === 'workspace' ? workspace : undefined;
  const before = readTextIfThere(file, within);
  const after = readably(file, () => withEntry(file, before, entry));
  const report = (written: boolean, text: string, backup?: string): void =>
    terminal.out(json ? jsonText({ client, file, written, ...(backup !== undefined && { backup }) }) : text);
  if (after === before) {
    report(false, `${file} has this entry already.\n`);
    return 0;
  }
  // Lines around the change belong to other entries, and may hold their tokens.
  const options = { context: 0, stripTrailingCr: true, headerOptions: FILE_HEADERS_ONLY };
  const name = before === undefined ? '/dev/null' : file;
  if (!json) terminal.out(scrubSecrets(createTwoFilesPatch(name, file, before ?? '', after, '', '', options)));
  const mayAsk = terminal.interactive && !json;
  if (!yes && !(mayAsk && (await terminal.confirm(`Write this into ${file}?`, false)))) {
    const remedy = mayAsk ? '' : ', because nobody can be asked here; --yes writes it without a question';
    report(false, '');
    terminal.err(problemLine(`nothing was written${remedy}.`));
    return 1;
  }
  const backup = before === undefined ? undefined : backUp(file);
  replaceFile(file, before, after, within);
  report(true, `Wrote ${file}${backup === undefined ? '' : `; the backup is ${backup}`}.\n`, backup);
  printNext(json, `restart ${title}, and ask it for something. waygate status shows its session.`);
  return 0;
}

/** Adds the file to an error of its syntax, and to a refusal of the edit. */
function readably<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RemovalRefused) {
      throw new Error(`${file} has too unusual a form for an automatic edit; add the entry by hand.`);
    }
    if (!(error instanceof UnreadableSource)) throw error;
    throw new Error(`${file}:${error.line}:${error.column}: ${error.message}; correct it first.`);
  }
}

type Tree = Readonly<Record<string, unknown>>;

/** Returns the text of a client's file with the entry. Verifies that nothing else of its data changes. */
function withEntry(file: string, before: string | undefined, entry: string): string {
  const isYaml = /\.ya?ml$/i.test(file);
  const parse = /\.toml$/i.test(file) ? parseTomlTable : /\.jsonc?$/i.test(file) ? parseJsonTree : undefined;
  if (parse === undefined && !isYaml) throw new Error(`${file} is neither JSON, TOML nor YAML; add the entry by hand.`);
  if (before === undefined || before.trim() === '') return entry;
  const mark = before.startsWith('\ufeff') ? '\ufeff' : '';
  const text = before.slice(mark.length);
  if (parse === undefined) return mark + withListedServer(file, text, entry);
  const [path, value] = memberOf(parse(entry));
  const tree = parse(text);
  const servers = memberAt(tree, path.slice(0, -1));
  if (servers !== undefined && !isRecord(servers))
    throw new Error(`"${path.slice(0, -1).join('.')}" of ${file} is no object; correct it first.`);
  if (isDeepStrictEqual(memberAt(tree, path), value)) return before;
  const after = parse === parseTomlTable ? withTable(file, text, path, entry) : setMember(text, path, value);
  const result = readable(parse, after);
  const isOnlyChange = (one: Tree): boolean =>
    isDeepStrictEqual(memberAt(one, path), value) &&
    isDeepStrictEqual(withMember(one, path, value), withMember(tree, path, value));
  if (result === undefined || !isOnlyChange(result)) throw new RemovalRefused('');
  return mark + after;
}

/** Puts the server of a YAML entry into the list `mcpServers`, in the place of one with the same name. */
function withListedServer(file: string, text: string, entry: string): string {
  const [server] = (parsedYaml(entry) as { mcpServers: { name: string }[] }).mcpServers;
  const tree = parsedYaml(text) as Tree | undefined;
  const list = isRecord(tree) ? (tree.mcpServers ?? []) : undefined;
  if (!Array.isArray(list)) throw new Error(`"mcpServers" of ${file} is no list; correct it first.`);
  const found = list.findIndex((one) => isRecord(one) && one.name === server?.name);
  if (isDeepStrictEqual(list[found], server)) return text;
  const index = found === -1 ? list.length : found;
  const document = parseDocument(text);
  const node = document.createNode(server);
  const listed = document.get('mcpServers');
  if (list.length === 0) document.set('mcpServers', document.createNode([node]));
  else if (!isSeq(listed)) throw new RemovalRefused('');
  else {
    const replaced = listed.items[index];
    if (isNode(replaced)) node.commentBefore = replaced.commentBefore ?? null;
    listed.set(index, node);
  }
  const after = document.toString({ lineWidth: 0 });
  const expected = { ...tree, mcpServers: [...list.slice(0, index), server, ...list.slice(index + 1)] };
  if (!isDeepStrictEqual(parsedYaml(after), expected)) throw new RemovalRefused('');
  return text.includes('\r\n') ? after.replaceAll('\n', '\r\n') : after;
}

const parseJsonTree = (text: string): Tree => valueAt(parseJson(text), []) as Tree;

/** Puts the tables of the entry at the end, where they end no other table. */
function withTable(file: string, text: string, path: readonly string[], entry: string): string {
  const rest = withoutEntries(file, text, [path]);
  return `${rest}${rest === '' || rest.endsWith('\n') ? '' : '\n'}\n${entry}`;
}

/** Splits an entry such as `{mcpServers: {waygate: …}}` into its path and its value, which has the command. */
function memberOf(tree: Tree): [path: string[], value: unknown] {
  const [[key, inner]] = Object.entries(tree) as [[string, Tree]];
  if ('command' in inner) return [[key], inner];
  const [path, value] = memberOf(inner);
  return [[key, ...path], value];
}

function memberAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), tree);
}

function withMember(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): Tree {
  const inner = tree[key];
  return { ...tree, [key]: rest.length === 0 ? value : withMember(isRecord(inner) ? inner : {}, rest, value) };
}

function readable(parse: (text: string) => Tree, text: string): Tree | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof UnreadableSource) return undefined;
    throw error;
  }
}
