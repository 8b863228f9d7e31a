export type JsonObject = Record<string, unknown>;

/** Path of a place in a value: keys and indices from the root. */
export type JsonPath = readonly (string | number)[];

/** Returns a path as `items.0.name`, and "" for the root. */
export function dotted(path: JsonPath): string {
  return path.join('.');
}

export interface ValueSize {
  /** Number of values of any kind, the root included. */
  nodes: number;
  /** Characters of all strings and keys. */
  chars: number;
  /** Levels of objects and arrays. */
  depth: number;
}

/** Measures a value without recursion and stops after `maxNodes`, so no value is too deep or too wide. */
export function measureValue(root: unknown, maxNodes: number): ValueSize {
  const size: ValueSize = { nodes: 0, chars: 0, depth: 0 };
  const values: unknown[] = [root];
  const levels: number[] = [1];
  while (values.length > 0 && size.nodes <= maxNodes) {
    const value = values.pop();
    const level = levels.pop() as number;
    size.nodes += 1;
    if (typeof value === 'string') size.chars += value.length;
    if (typeof value !== 'object' || value === null) continue;
    if (level > size.depth) size.depth = level;
    // Arrays go by index: `for in` would create a string per index.
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    const count = keys?.length ?? (value as unknown[]).length;
    if (values.length + count > maxNodes) return { ...size, nodes: maxNodes + 1 };
    for (let i = 0; i < count; i++) {
      const key = keys?.[i] ?? i;
      if (keys) size.chars += (key as string).length;
      values.push((value as Record<string | number, unknown>)[key]);
      levels.push(level + 1);
    }
  }
  return size;
}
