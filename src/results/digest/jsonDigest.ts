import { count, groupDigits, shortened } from '../../text/porcelain.ts';
import { MAX_JSON_BYTES } from '../select/jsonLimit.ts';
import type { Digest, Selector } from './digestSource.ts';
import type { JsonOutline, JsonType, OutlineNode } from './jsonOutline.ts';

/** Levels of detail, most first. The first that fits is used. */
const DETAILS = [
  { depth: 6, keys: 64, first: 80 },
  { depth: 4, keys: 40, first: 60 },
  { depth: 3, keys: 25, first: 40 },
  { depth: 2, keys: 15, first: 30 },
  { depth: 1, keys: 12, first: 20 },
];

type Detail = (typeof DETAILS)[number];

/** Makes the digest of JSON. `amount` is its size in words, `length` in characters or bytes; `room` is for the body. */
export function jsonDigest({ root, isComplete }: JsonOutline, amount: string, length: number, room: number): Digest {
  const note = isComplete ? [] : ['(keys, types and first values are those of the beginning)'];
  let body = '';
  for (const detail of DETAILS) {
    body = [...outlineLines(root, detail), ...note].join('\n');
    if (body.length <= room) break;
  }
  return {
    title: `JSON, ${amount}: ${shapeOf(root)}`,
    body,
    views: length > MAX_JSON_BYTES ? largeViews() : views(root),
  };
}

function shapeOf(node: OutlineNode): string {
  if (!node.types.has('array')) return `an object of ${count(node.keys.size + node.furtherKeys, 'key')}`;
  return `an array of ${elements(node, node.longest)}`;
}

/** Describes the elements of an array: `3 objects`, `5 strings`, `7 items`. */
function elements(node: OutlineNode, length: number): string {
  const types = [...(node.items?.types.keys() ?? [])];
  const word = types.length === 1 && types[0] !== 'null' ? (types[0] as string) : 'item';
  return count(length, word);
}

export function outlineLines(root: OutlineNode, detail: Detail): string[] {
  const lines: string[] = [];
  addMembers(root, 0, '', detail, lines);
  return lines;
}

/** Adds the keys of an object, or the elements of an array as one. */
function addMembers(node: OutlineNode, depth: number, indent: string, detail: Detail, lines: string[]): void {
  if (depth >= detail.depth) return;
  if (node.items) {
    if (isPlain(node.items)) {
      if (depth === 0) lines.push(`each: ${typesOf(node.items, total(node.items.types), detail)}`);
      return;
    }
    if (depth === 0) lines.push('each:');
    addMembers(node.items, depth === 0 ? 0 : depth, depth === 0 ? '  ' : indent, { ...detail }, lines);
  }
  const owners = node.types.get('object') ?? 0;
  const keys = [...node.keys].slice(0, detail.keys);
  for (const [key, child] of keys) {
    lines.push(`${indent}${key.slice(0, 80)}: ${typesOf(child, owners, detail)}`);
    addMembers(child, depth + 1, `${indent}  `, detail, lines);
  }
  const rest = node.keys.size - keys.length + (node.furtherKeys > 0 ? 1 : 0);
  if (rest > 0) lines.push(`${indent}… ${node.furtherKeys > 0 ? 'more keys' : count(rest, 'more key')}`);
}

function isPlain(node: OutlineNode): boolean {
  return node.keys.size === 0 && !node.items;
}

/**
 * Describes types: `string, first "Alice"`, `number ×3 | null ×2`, `array of 0–5 strings`; `in 3 of 7` when some lack
 * it.
 */
function typesOf(node: OutlineNode, owners: number, detail: Detail): string {
  const entries = [...node.types];
  const met = total(node.types);
  const types = entries
    .map(([type, times]) => typeWord(type, node) + (entries.length > 1 ? ` ×${groupDigits(times)}` : ''))
    .join(' | ');
  const first = node.first === undefined ? '' : `, first ${shortened(node.first, detail.first)}`;
  const lack = met < owners ? ` (in ${groupDigits(met)} of ${groupDigits(owners)})` : '';
  return types + first + lack;
}

function typeWord(type: JsonType, node: OutlineNode): string {
  if (type !== 'array') return type;
  if (node.longest === 0) return 'array';
  if (node.shortest === node.longest) return `array of ${elements(node, node.longest)}`;
  const { shortest, longest } = node;
  return `array of ${groupDigits(shortest)}–${elements(node, longest)}`;
}

function total(types: Map<JsonType, number>): number {
  let sum = 0;
  for (const times of types.values()) sum += times;
  return sum;
}

/** Returns selectors for JSON over the parse limit: search it, or read it in order. */
function largeViews(): Selector[] {
  return [
    { type: 'grep', pattern: '(?i)keyword', limit: 20 },
    { type: 'range', start: 0, end: 6000 },
  ];
}

function views(root: OutlineNode): Selector[] {
  const list = findList(root);
  const chosen: Selector[] = [];
  if (list) {
    chosen.push({ type: 'json_path', path: `${list.path}[0:5]` });
    const columns = [...(list.node.items?.keys ?? [])].filter(([, child]) => isPlain(child)).map(([key]) => key);
    if (columns.length > 1 && list.isTop) {
      chosen.push({ type: 'columns', columns: columns.slice(0, 3), start: 1, end: 51 });
    }
  }
  if (!root.types.has('array')) {
    const small = [...root.keys].filter(([key, node]) => isPlain(node) && isPlainKey(key)).map(([key]) => key);
    const keys = small.length > 0 ? small : [...root.keys.keys()].filter(isPlainKey).slice(0, 1);
    chosen.push({ type: 'json_keys', keys: keys.slice(0, 5) });
  }
  const word = firstText(list?.node.items ?? root);
  if (chosen.length < 3 && word)
    chosen.push({ type: 'json_path', path: `${list ? list.path : '$'}[*]${segment(word)}` });
  return chosen.slice(0, 3);
}

interface List {
  node: OutlineNode;
  path: string;
  /** Whether this is the root, or a key of the root. */
  isTop: boolean;
}

/** Finds the longest array that keys alone lead to. */
function findList(root: OutlineNode): List | undefined {
  let best: List | undefined;
  const visit = (node: OutlineNode, path: string, depth: number): void => {
    if (node.types.has('array') && node.longest > (best?.node.longest ?? 0)) best = { node, path, isTop: depth <= 1 };
    if (depth < 3) for (const [key, child] of node.keys) visit(child, path + segment(key), depth + 1);
  };
  visit(root, '$', 0);
  return best;
}

function firstText(node: OutlineNode): string | undefined {
  return [...node.keys].find(([, child]) => child.types.has('string'))?.[0];
}

/**
 * Returns whether a selector can name a key. The outline has keys as written, so keys with an escape do not qualify.
 */
function isPlainKey(key: string): boolean {
  return !/["\\]/.test(key) && key.length <= 80;
}

function segment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `['${key.replaceAll("'", "\\'")}']`;
}
