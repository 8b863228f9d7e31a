import {
  findNodeAtLocation,
  findNodeAtOffset,
  getNodePath,
  getNodeValue,
  type JSONPath,
  modify,
  type ParseError,
  parseTree,
} from 'jsonc-parser';
import { secretsInClear } from '../../config/secretsInClear.ts';
import { t } from '../l10n.ts';

/** Replacement of a piece of a text. */
export interface JsonEdit {
  offset: number;
  length: number;
  content: string;
}

/** Error for an edit that the present text does not allow, in one sentence. */
export class EditRefused extends Error {
  override readonly name = 'EditRefused';
}

/** Returns the edits that set a value, or remove it if it is undefined. Comments and other values stay as they are. */
export function settingValue(text: string, path: JSONPath, value: unknown): readonly JsonEdit[] {
  parsed(text);
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return modify(text, path, value, { formattingOptions });
}

/** Returns the place of a value; undefined where the text has none. */
export function valuePlace(text: string, path: JSONPath): { offset: number; length: number } | undefined {
  const root = parsed(text);
  return root && findNodeAtLocation(root, path);
}

/** Returns the edits that switch a server off, or on again. */
export function switching(text: string, server: string, disabled: boolean): readonly JsonEdit[] {
  assertHas(text, server);
  return settingValue(text, ['servers', server, 'disabled'], disabled || undefined);
}

/** Returns the edits that add names of tools to the excluded ones, or take them away. */
export function excluding(
  text: string,
  server: string,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): readonly JsonEdit[] {
  const root = assertHas(text, server);
  const path = ['servers', server, 'tools', 'exclude'];
  const list = findNodeAtLocation(root, path);
  const written: unknown = list && getNodeValue(list);
  const before = Array.isArray(written) ? written : [];
  const patterns = new Set([...add].map(asPattern));
  const taken = new Set([...remove].map(asPattern));
  const after = [...before.filter((one) => !taken.has(one)), ...[...patterns].filter((one) => !before.includes(one))];
  if (after.length === before.length && after.every((one, index) => one === before[index])) return [];
  return settingValue(text, path, after);
}

/** Returns the patterns that exclude tools of a server. */
export function excludedIn(text: string, server: string): readonly string[] {
  const list = findNodeAtLocation(assertHas(text, server), ['servers', server, 'tools', 'exclude']);
  const written: unknown = list && getNodeValue(list);
  return Array.isArray(written) ? written.filter((one) => typeof one === 'string') : [];
}

/** Secret that stands in clear in a string of a server's entry. */
export interface LiteralSecret {
  path: JSONPath;
  /** Proposed name. */
  name: string;
  value: string;
  /** Returns the string with a reference in place of the secret. */
  withReference(name: string): string;
}

/** Returns the first secret in the string at an offset; undefined if there is none any more. */
export function literalSecretAt(text: string, offset: number): LiteralSecret | undefined {
  const root = parsed(text);
  const node = root && findNodeAtOffset(root, offset);
  const path = node ? getNodePath(node) : [];
  const [block, server, ...inner] = path;
  const entry = root && block === 'servers' ? findNodeAtLocation(root, path.slice(0, 2)) : undefined;
  const found = entry && secretsInClear(entry, String(server)).find((one) => String(one.path) === String(inner));
  const [secret] = found?.secrets ?? [];
  if (!found || !secret) return undefined;
  const written = found.at.value as string;
  const withReference = (name: string): string =>
    `${written.slice(0, secret.start)}\${secret:${name}}${written.slice(secret.end)}`;
  return { path, name: found.name, value: secret.value, withReference };
}

/** Writes a name as a pattern that matches it alone. */
function asPattern(name: string): string {
  return name.replace(/[*?[]/g, '[$&]');
}

function assertHas(text: string, server: string) {
  const root = parsed(text);
  if (root && findNodeAtLocation(root, ['servers', server])?.type === 'object') return root;
  throw new EditRefused(t`The file has no server "${server}" any more`);
}

function parsed(text: string) {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 && text.trim() !== '') throw new EditRefused(t`Correct the errors in the file first`);
  return root;
}
