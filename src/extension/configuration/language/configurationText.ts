import { findNodeAtOffset, getLocation, getNodePath, type Node, type ParseError, parseTree } from 'jsonc-parser';
import { members } from '../../../config/jsonNodes.ts';

/** Piece of a text. */
export interface Piece {
  offset: number;
  length: number;
}

/** Entry of `servers` with the place of its name, quotation marks included. */
export interface ServerEntry extends Piece {
  name: string;
  entry: Node;
}

/** waygate.json as it stands in an editor, with errors or without. */
export interface ConfigurationText {
  text: string;
  root: Node | undefined;
  isBroken: boolean;
  servers: readonly ServerEntry[];
}

export function readText(text: string): ConfigurationText {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const servers = root?.type === 'object' ? members(root).find(([key]) => key.value === 'servers')?.[1] : undefined;
  const entries = servers?.type === 'object' ? members(servers) : [];
  return {
    text,
    root,
    isBroken: errors.length > 0,
    servers: entries.map(([{ value: name, offset, length }, entry]) => ({ name, offset, length, entry })),
  };
}

/** Returns the place of the key or value that begins at an offset; its first character if it ends on another line. */
export function pieceAt({ text, root }: ConfigurationText, offset: number): Piece {
  const node = root && findNodeAtOffset(root, offset);
  if (node?.offset !== offset) return { offset, length: 0 };
  return { offset, length: text.slice(offset, offset + node.length).includes('\n') ? 1 : node.length };
}

/** Thing in the file on which the pointer may rest. */
export type Subject = Piece &
  ({ kind: 'server'; name: string } | { kind: 'secret'; name: string } | { kind: 'limit'; scopes: readonly string[] });

const SECRET = /\$\{secret:([^}"]*)\}/g;
/** Windows by the key that sets their limit. */
const WINDOWS: Readonly<Record<string, string>> = { maxCallsPerMinute: 'minute', maxCallsPerSession: 'session' };

export function subjectAt({ text, root }: ConfigurationText, offset: number): Subject | undefined {
  const node = root && findNodeAtOffset(root, offset, true);
  if (!node) return undefined;
  const path = getNodePath(node);
  const isKey = node.parent?.type === 'property' && node.parent.children?.[0] === node;
  const { offset: start, length } = node;
  if (isKey && path.length === 2 && path[0] === 'servers') {
    return { kind: 'server', name: node.value, offset: start, length };
  }
  if (path[0] === 'servers' && node.type === 'string' && !isKey) {
    for (const match of text.slice(start, start + length).matchAll(SECRET)) {
      const from = start + match.index;
      const [whole, name = ''] = match;
      if (from <= offset && offset <= from + whole.length) {
        return { kind: 'secret', name, offset: from, length: whole.length };
      }
    }
    return undefined;
  }
  if (path[0] !== 'rateLimits' || node.type === 'object') return undefined;
  const [, tool, ...rest] = path[1] === 'perTool' ? [path[0], `tool:${path[2]}`, ...path.slice(3)] : path;
  if (tool === undefined || (path[1] === 'perTool' && path.length < 3)) return undefined;
  const windows = rest[0] === undefined ? Object.values(WINDOWS) : [WINDOWS[rest[0]]];
  const scopes = windows.flatMap((window) => (window === undefined ? [] : [`${tool}/${window}`]));
  return scopes.length === 0 ? undefined : { kind: 'limit', scopes, offset: start, length };
}

/** Kind of names to propose at an offset, the typed part of one, and the piece that the choice replaces. */
export interface Proposal extends Piece {
  names: 'secrets' | 'servers' | 'tools';
  typed: string;
  /** The name is a JSON string of its own and needs quotation marks. */
  quoted: boolean;
  /** The name is a new key, which needs a value. */
  isNewKey: boolean;
}

export function proposalAt(text: string, offset: number): Proposal | undefined {
  const { path, previousNode: node, isAtPropertyKey } = getLocation(text, offset);
  const isInside = node !== undefined && node.offset < offset && offset <= node.offset + node.length;
  const written = isInside ? text.slice(node.offset, offset) : '';
  const [secret] = path[0] === 'servers' && isInside ? (/\$\{secret:([^}"]*)$/.exec(written)?.slice(1) ?? []) : [];
  if (secret !== undefined) {
    const rest = /^[\w.-]*\}?/.exec(text.slice(offset))?.[0].length ?? 0;
    const start = offset - secret.length;
    return {
      names: 'secrets',
      typed: secret,
      offset: start,
      length: secret.length + rest,
      quoted: false,
      isNewKey: false,
    };
  }
  const whole = isInside ? { offset: node.offset, length: node.length } : { offset, length: 0 };
  const typed = written.replace(/^"/, '');
  if (!isAtPropertyKey && path.length === 4 && path[0] === 'policy' && path[1] === 'rules' && path[3] === 'server') {
    return { names: 'servers', typed, ...whole, quoted: true, isNewKey: false };
  }
  if (isAtPropertyKey && path.length === 3 && path[0] === 'rateLimits' && path[1] === 'perTool') {
    const isNewKey = !/^\s*:/.test(text.slice(whole.offset + whole.length));
    return { names: 'tools', typed, ...whole, quoted: true, isNewKey };
  }
  return undefined;
}

/** Returns the text for a chosen name. */
export function inserted({ names, quoted, isNewKey }: Proposal, name: string): string {
  if (names === 'secrets') return `${name}}`;
  const written = quoted ? JSON.stringify(name) : name;
  return isNewKey ? `${written}: {}` : written;
}

/** Returns whether a name has the typed letters in their order, as VS Code filters a list: `memry` finds `memory`. */
export function hasTyped(name: string, typed: string): boolean {
  const letters = [...typed.toLowerCase()];
  let found = 0;
  for (const letter of name.toLowerCase()) if (letter === letters[found]) found += 1;
  return found === letters.length;
}
