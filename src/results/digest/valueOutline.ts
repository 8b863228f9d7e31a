import { isRecord } from '../../lib/isRecord.ts';
import {
  type JsonOutline,
  type JsonType,
  MAX_OUTLINE_DEPTH,
  MAX_OUTLINE_KEYS,
  newNode,
  type OutlineNode,
} from './jsonOutline.ts';

/** Inspected elements of one array; all are counted. */
const MAX_ELEMENTS = 2_000;
/** Inspected values in all. */
const MAX_VALUES = 50_000;
const MAX_FIRST_CHARS = 80;

/** Outlines a value that exists as objects: making its text would double it in memory. */
export function outlineValue(value: object): JsonOutline {
  const root = newNode();
  let left = MAX_VALUES;
  let isComplete = true;
  const visit = (node: OutlineNode, item: unknown, depth: number): void => {
    left -= 1;
    const type = typeOf(item);
    node.types.set(type, (node.types.get(type) ?? 0) + 1);
    if (Array.isArray(item)) {
      node.shortest = Math.min(node.shortest, item.length);
      node.longest = Math.max(node.longest, item.length);
      if (depth > MAX_OUTLINE_DEPTH || item.length === 0) return;
      node.items ??= newNode();
      const looked = Math.max(1, Math.min(item.length, MAX_ELEMENTS, left));
      if (looked < item.length) isComplete = false;
      for (let i = 0; i < looked; i++) visit(node.items, item[i], depth + 1);
    } else if (isRecord(item)) {
      if (depth <= MAX_OUTLINE_DEPTH) visitMembers(node, item, depth);
    } else {
      node.first ??= (JSON.stringify(item) ?? 'null').slice(0, MAX_FIRST_CHARS + 1);
    }
  };
  const visitMembers = (node: OutlineNode, item: Record<string, unknown>, depth: number): void => {
    for (const written of Object.keys(item)) {
      // The key as JSON writes it, as in the outline of a text.
      const key = JSON.stringify(written).slice(1, -1);
      let child = node.keys.get(key);
      if (!child && node.keys.size < MAX_OUTLINE_KEYS) {
        child = newNode();
        node.keys.set(key, child);
      }
      if (child && left > 0) visit(child, item[written], depth + 1);
      else if (!child) node.furtherKeys += 1;
    }
  };
  visit(root, value, 0);
  return { root, isComplete };
}

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'object' || type === 'string' || type === 'number' || type === 'boolean' ? type : 'null';
}
