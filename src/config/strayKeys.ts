import type { Node } from 'jsonc-parser';
import { once } from '../lib/once.ts';
import { nearest } from '../text/nearest.ts';
import { POLICY_PRESET } from './declaration/callBlocks.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, TOP_LEVEL_KEYS } from './declaration/document.ts';
import type { JsonSchema } from './declaration/field.ts';
import { INPUTS } from './declaration/gatewayBlocks.ts';
import { SERVER_KEYS } from './declaration/server.ts';
import { members } from './jsonNodes.ts';

/** Top-level keys that fail closed: an error in one makes all of it unreadable. */
export type GuardedKey = BlockName | 'policyPreset' | 'servers';

interface Shape {
  properties?: Readonly<Record<string, Shape>>;
  items?: Shape;
  additionalProperties?: Shape | false;
  enum?: readonly unknown[];
}

const shapesOf = (names: readonly BlockName[]) =>
  names.map((name) => [name, (BLOCKS[name].field as { schema: JsonSchema }).schema as Shape] as const);
const { tools, disabled } = SERVER_KEYS.shared;
/** Shapes of the guarded keys; of a server, the keys that take something from it. */
const GUARDED: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ...shapesOf(BLOCK_NAMES.filter((name) => 'safety' in BLOCKS[name])),
  ['policyPreset', POLICY_PRESET.schema as Shape],
  ['servers', { properties: { tools: tools.schema as Shape, disabled: disabled.schema as Shape } }],
]);
/** Shapes in which a key can be unknown. A server with an unknown key does not start. */
const KNOWN: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ...shapesOf(BLOCK_NAMES),
  ['inputs', INPUTS.schema as Shape],
]);

export function isGuarded(key: string): key is GuardedKey {
  return GUARDED.has(key);
}

/** Guarded keys by the keys and values of their shapes. */
const owners = once(() => ownersOf(wordsOf));
/** The same for the keys directly in them. */
const directOwners = once(() => ownersOf(({ properties = {} }) => Object.keys(properties)));

function ownersOf(words: (shape: Shape) => string[]): ReadonlyMap<string, ReadonlySet<GuardedKey>> {
  const keysOf = new Map<string, Set<GuardedKey>>();
  for (const [key, shape] of GUARDED) {
    for (const word of words(shape)) keysOf.set(word, (keysOf.get(word) ?? new Set()).add(key as GuardedKey));
  }
  return keysOf;
}

function wordsOf({ properties = {}, items, additionalProperties, enum: values = [] }: Shape): string[] {
  const inner = [...Object.values(properties), items, additionalProperties].flatMap((one) => (one ? wordsOf(one) : []));
  return [...Object.keys(properties), ...values.filter((value) => typeof value === 'string'), ...inner];
}

/**
 * Returns the guarded keys that an unknown top-level key may stand for: a misspelled one, or one whose content is at the
 * wrong level (`maskSecrets`, `rules`).
 */
export function meaningsOf(name: string): readonly GuardedKey[] {
  const words = [...TOP_LEVEL_KEYS, ...owners().keys()];
  const near = nearest(name.normalize('NFKC'), words);
  const meant = near === undefined ? resembling(name.normalize('NFKC'), words) : [near];
  const isTopLevel = meant.some((word) => TOP_LEVEL_KEYS.includes(word));
  const keys = isTopLevel ? meant.filter(isGuarded) : meant.flatMap((word) => [...(owners().get(word) ?? [])]);
  return [...new Set(keys)];
}

const STEM = 5;

/**
 * Returns the words that a key such as `policies`, `gatewayLimits` or `waygate.maskSecrets` contains, although it differs
 * too much for a typo; and those that it may look like, if it has foreign letters.
 */
function resembling(name: string, words: readonly string[]): string[] {
  const snake = snakeCase(name);
  const isAlike = (word: string): boolean =>
    [...word].length === [...name].length && [...name].every((char, index) => char > '\x7f' || char === word[index]);
  const sharesStem = (part: string): boolean =>
    part.length >= STEM
      ? snake.includes(part.slice(0, STEM))
      : part.length === STEM - 1 && `_${snake}`.includes(`_${part}`);
  const found = words.filter((word) => isAlike(word) || snakeCase(word).split('_').some(sharesStem));
  const topLevel = found.filter((word) => TOP_LEVEL_KEYS.includes(word));
  return topLevel.length > 0 ? topLevel : found;
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])|[^A-Za-z]+/g, '_').toLowerCase();
}

/** Returns the unknown keys within a top-level key that would set a guarded key at another place, with that key. */
export function misplacedKeys(outer: string, value: Node): [Node, GuardedKey][] {
  return unknownKeys(value, KNOWN.get(outer)).flatMap((key) => {
    const name = key.value as string;
    const [owner, ...others] = isGuarded(name) ? [name] : (directOwners().get(name) ?? []);
    return owner && others.length === 0 ? [[key, owner] as [Node, GuardedKey]] : [];
  });
}

/** Returns the keys of a value that its shape does not have, and all keys within them. */
function unknownKeys(node: Node, shape: Shape | undefined): Node[] {
  if (node.type === 'array') return (node.children ?? []).flatMap((item) => unknownKeys(item, shape?.items));
  if (node.type !== 'object') return [];
  const { properties = {}, additionalProperties: each } = shape ?? { additionalProperties: false };
  // The user chooses the keys of such an object.
  if (each === undefined) return [];
  return members(node).flatMap(([key, value]) => {
    const own = Object.hasOwn(properties, key.value) ? properties[key.value] : each || undefined;
    return [...(own ? [] : [key]), ...unknownKeys(value, own)];
  });
}
