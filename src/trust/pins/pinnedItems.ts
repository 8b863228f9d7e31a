import { pinOf } from '../../catalog/shapeHash.ts';

/** Lists of a server that a model can see, unchanged as received. */
export interface Listing {
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resourceTemplates: readonly unknown[];
  /** Have no pins: servers list others all the time. */
  readonly resources?: readonly unknown[];
  readonly instructions?: string | undefined;
}

export const PINNED_PARTS = ['tools', 'prompts', 'resourceTemplates', 'instructions'] as const;
export type PinnedPart = (typeof PINNED_PARTS)[number];

/** Part of a listing with a pin of its own: a tool, a prompt, a resource template or the instructions. */
export interface PinnedItem {
  /** Unique within the server, for example `tools:create_issue`. */
  readonly key: string;
  readonly part: PinnedPart;
  readonly name: string;
  /** Place among the items of this name, from 1. */
  readonly use: number;
  /** Item as its server listed it. */
  readonly raw: unknown;
  readonly pin: string;
}

const COLON = ':'.charCodeAt(0);

const LISTS = ['tools', 'prompts', 'resourceTemplates'] as const;

/** Pins that were stored beside a list, so that a start hashes nothing again. */
const storedPins = new WeakMap<readonly unknown[], readonly string[]>();

/** Returns the items of a listing. Items that share a name are numbered, so that each has a pin. */
export function itemsOf(listing: Listing): PinnedItem[] {
  const items: PinnedItem[] = [];
  const uses = new Map<string, number>();
  const add = (part: PinnedPart, name: string, raw: unknown, stored?: string): void => {
    const base = firstKey(part, name);
    const use = (uses.get(base) ?? 0) + 1;
    uses.set(base, use);
    items.push({ key: use === 1 ? base : `${base}\n${use}`, part, name, use, raw, pin: stored ?? pinOf(raw) });
  };
  for (const list of LISTS) {
    const stored = storedPins.get(listing[list]);
    listing[list].forEach((raw, at) => {
      add(list, nameOfItem(list, raw), raw, stored?.[at]);
    });
  }
  if (listing.instructions) add('instructions', '', listing.instructions);
  return items;
}

/** Returns the key of the first item of a name. */
function firstKey(part: PinnedPart, name: string): string {
  // A line break separates the number, and quotation marks enclose a name that has one.
  return `${part}:${name.includes('\n') || name.startsWith('"') ? JSON.stringify(name) : name}`;
}

/** Reports whether a key is that of a name without quotation marks, without building one. */
function isPlainKey(key: string, part: PinnedPart, name: string): boolean {
  const start = part.length + 1;
  if (key.length !== start + name.length || !key.startsWith(part) || !key.startsWith(name, start)) return false;
  return key.charCodeAt(start - 1) === COLON && !name.startsWith('"') && !name.includes('\n');
}

/**
 * Reports whether all items of a listing equal their pins. Compares them in the order of the baseline, without the cost
 * of `itemsOf`: `false` may also mean that the server has changed the order, listed a name twice, or uses an odd name.
 */
export function equalsPins(listing: Listing, pins: Readonly<Record<string, string>>): boolean {
  // Two arrays in one order: looking each key up takes as long as everything else together.
  const [keys, approved] = [Object.keys(pins), Object.values(pins)];
  for (const list of LISTS) {
    const items = listing[list];
    const stored = storedPins.get(items);
    const start = keys.indexOf(firstKey(list, nameOfItem(list, items[0])));
    for (let at = 0; at < items.length; at++) {
      const key = keys[start + at];
      if (key === undefined || !isPlainKey(key, list, nameOfItem(list, items[at]))) return false;
      if (approved[start + at] !== (stored?.[at] ?? pinOf(items[at]))) return false;
    }
  }
  return !listing.instructions || pins[firstKey('instructions', '')] === pinOf(listing.instructions);
}

/** Returns the name of an item as its server calls it; a template has its address. */
export function nameOfItem(list: (typeof LISTS)[number], raw: unknown): string {
  const name = (raw as Record<string, unknown> | null | undefined)?.[
    list === 'resourceTemplates' ? 'uriTemplate' : 'name'
  ];
  return typeof name === 'string' ? name : '';
}

/** Returns the pins of a listing, list by list, for storage beside it. */
export function pinsOf(listing: Listing): Record<string, string[]> {
  return Object.fromEntries(
    LISTS.map((list) => [list, storedPins.get(listing[list])?.slice() ?? listing[list].map(pinOf)]),
  );
}

/** Adopts the result of `pinsOf` for the same listing, so that no item is hashed again. */
export function adoptPinsOf(listing: Listing, stored: unknown): void {
  for (const list of LISTS) {
    const pins = (stored as Record<string, unknown> | null | undefined)?.[list];
    const fits = Array.isArray(pins) && pins.length === listing[list].length;
    if (fits && pins.every((pin) => typeof pin === 'string')) storedPins.set(listing[list], pins);
  }
}
