import { canonicalString } from '../../catalog/canonicalJson.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { JsonObject } from '../json.ts';

/** Cost of a schema, estimated without compiling it. Schemas are untrusted: nothing here is recursive. */
export interface SchemaProfile {
  /** Size of the canonical JSON, which G6.2 limits. */
  bytes: number;
  /** Levels of objects and arrays: one nested property adds two. */
  depth: number;
  /** Entries of all `properties` together. */
  properties: number;
  /** Number of values of any kind. */
  nodes: number;
  /** Number of objects and arrays. Compile time is proportional to it; a long `enum` adds nothing. */
  containers: number;
  /** Branches of all `anyOf`, `oneOf` and `allOf` together. */
  branches: number;
  refs: number;
  /** Sources of `pattern` and `patternProperties`. */
  patterns: readonly string[];
  /** Whether `uniqueItems` compares items with each other, which is quadratic in the value. */
  comparesItems: boolean;
  /** Upper bound of the nodes that one walk visits with every reference followed; capped. */
  expandedNodes: number;
  /** Whether a reference leads back to an open node. The time of a check then depends on the value alone. */
  recursive: boolean;
  /**
   * Whether a reference goes by identifier, by anchor or dynamically, where `expandedNodes` and `recursive` do not
   * follow.
   */
  elsewhere: boolean;
  /** `$async` makes ajv answer with a promise. */
  async: boolean;
  /** Whether the walk ended early at a cap: the numbers are lower bounds. */
  truncated: boolean;
}

/** Caps of the walk, well above any limit that a user would set: a schema of megabytes is not read to its end. */
const MAX_WALK_NODES = 35_000;
const MAX_WALK_BYTES = 262_144;
/** A schema with more objects goes to the thread whatever its references add. */
const MAX_EXPANDED_CONTAINERS = 5_000;
const MAX_EXPANDED = 10_000_000;

export function profileSchema(schema: unknown): SchemaProfile {
  const walk = new Walk();
  walk.run(schema);
  const unfollowed = walk.profile.truncated || walk.profile.containers > MAX_EXPANDED_CONTAINERS;
  const { expandedNodes, recursive } = unfollowed ? { expandedNodes: MAX_EXPANDED, recursive: true } : expand(schema);
  return { ...walk.profile, expandedNodes, recursive };
}

class Walk {
  readonly profile = {
    bytes: 0,
    depth: 0,
    properties: 0,
    nodes: 0,
    containers: 0,
    branches: 0,
    refs: 0,
    patterns: [] as string[],
    comparesItems: false,
    elsewhere: false,
    async: false,
    truncated: false,
  };

  run(root: unknown): void {
    const { profile } = this;
    const values: unknown[] = [root];
    const levels: number[] = [1];
    while (values.length > 0) {
      const value = values.pop();
      const level = levels.pop() as number;
      profile.nodes += 1;
      if (profile.nodes > MAX_WALK_NODES || profile.bytes > MAX_WALK_BYTES) {
        profile.truncated = true;
        return;
      }
      if (typeof value !== 'object' || value === null) {
        profile.bytes += scalarBytes(value);
        continue;
      }
      profile.containers += 1;
      if (level > profile.depth) profile.depth = level;
      const children = Array.isArray(value) ? value : this.#keyword(value as JsonObject, level === 1);
      // Brackets, and a comma between any two.
      profile.bytes += 2 + Math.max(0, children.length - 1);
      for (const child of children) {
        values.push(child);
        levels.push(level + 1);
      }
    }
  }

  /** Records the keywords of one object and returns its values. */
  #keyword(object: JsonObject, root: boolean): unknown[] {
    const { profile } = this;
    const children: unknown[] = [];
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (value === undefined) continue;
      // The walk ends with this object, so the rest is not needed.
      if (children.length > MAX_WALK_NODES || profile.bytes > MAX_WALK_BYTES) break;
      profile.bytes += canonicalString(key).length + 1;
      children.push(value);
      switch (key) {
        case 'properties':
          if (isRecord(value)) profile.properties += Object.keys(value).length;
          break;
        case 'patternProperties':
          // A spread of hostile length would overflow the stack.
          if (isRecord(value)) for (const pattern of Object.keys(value)) profile.patterns.push(pattern);
          break;
        case 'pattern':
          if (typeof value === 'string') profile.patterns.push(value);
          break;
        case 'anyOf':
        case 'oneOf':
        case 'allOf':
          if (Array.isArray(value)) profile.branches += value.length;
          break;
        case '$ref':
          if (typeof value !== 'string') break;
          profile.refs += 1;
          // An anchor, an identifier, or "": not followed here.
          if (value !== '#' && !value.startsWith('#/')) profile.elsewhere = true;
          break;
        case 'uniqueItems':
          if (value === true) profile.comparesItems = true;
          break;
        case '$async':
          if (value === true) profile.async = true;
          break;
        // References below an identifier resolve against it.
        case '$id':
        case 'id':
        case '$anchor':
        case '$dynamicAnchor':
        case '$dynamicRef':
        case '$recursiveRef':
          if (typeof value === 'string' && !(root && key === '$id')) profile.elsewhere = true;
      }
    }
    return children;
  }
}

function scalarBytes(value: unknown): number {
  if (typeof value === 'string') return canonicalString(value).length;
  return value === undefined ? 0 : String(value).length;
}

/**
 * Counts the nodes with every reference followed: a chain of `anyOf` with two references each doubles at every link,
 * and a reference back to an open node has no bound. Post-order over objects and arrays, with marks in place of a call
 * stack.
 */
function expand(root: unknown): { expandedNodes: number; recursive: boolean } {
  if (typeof root !== 'object' || root === null) return { expandedNodes: 1, recursive: false };
  const weights = new Map<object, number>();
  const open = new Set<object>();
  const stack: { node: object; children: object[] | undefined }[] = [{ node: root, children: undefined }];
  let recursive = false;
  while (stack.length > 0) {
    const frame = stack[stack.length - 1] as (typeof stack)[number];
    if (frame.children === undefined) {
      if (weights.has(frame.node)) {
        stack.pop();
        continue;
      }
      open.add(frame.node);
      frame.children = childrenOf(frame.node, root);
      for (const child of frame.children) {
        if (open.has(child)) recursive = true;
        else if (!weights.has(child)) stack.push({ node: child, children: undefined });
      }
      continue;
    }
    let weight = 1;
    for (const value of Object.values(frame.node)) if (typeof value !== 'object' || value === null) weight += 1;
    for (const child of frame.children) weight += weights.get(child) ?? 0;
    weights.set(frame.node, Math.min(weight, MAX_EXPANDED));
    open.delete(frame.node);
    stack.pop();
  }
  return { expandedNodes: weights.get(root) ?? 1, recursive };
}

function childrenOf(node: object, root: object): object[] {
  const children: object[] = Object.values(node).filter((value) => typeof value === 'object' && value !== null);
  const ref = (node as JsonObject).$ref;
  if (typeof ref === 'string') {
    const target = resolvePointer(root, ref);
    if (typeof target === 'object' && target !== null) children.push(target);
  }
  return children;
}

/** Returns the target of `#`, `#/properties/a` or a plain JSON pointer; undefined if there is none in this schema. */
export function resolvePointer(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  if (ref === '#' || ref === '#/') return root;
  if (!ref.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    if (typeof value !== 'object' || value === null) return undefined;
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
