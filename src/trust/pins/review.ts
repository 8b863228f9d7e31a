import { pinOf } from '../../catalog/shapeHash.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type Drift, driftOf } from './drift.ts';
import { type ItemState, type ServerPins, stateOf } from './pinBook.ts';
import { itemsOf, type Listing, type PinnedPart } from './pinnedItems.ts';
import type { PinnedTexts } from './pinStore.ts';

/** Item that is not approved as it is, for the user's review. */
export interface ReviewedItem {
  readonly key: string;
  readonly part: PinnedPart;
  readonly name: string;
  readonly state: Exclude<ItemState, 'approved'>;
  /** Pin of the listed item; absent if it is gone. */
  readonly pin?: string;
  /** Pinned item and listed item, as the server sent them. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** Difference between both; absent if one of them is missing. */
  readonly drift?: Drift;
  /** Key under which the same schema was pinned before, if the item has only another name. */
  readonly movedFrom?: string;
}

/** Items of a listing that differ from the pins, sorted by key, and the number of the others. */
export interface Review {
  readonly items: readonly ReviewedItem[];
  readonly approved: number;
}

export function reviewOf(listing: Listing, pins: ServerPins, texts: PinnedTexts): Review {
  const listed = itemsOf(listing);
  const known = new Set(listed.map(({ key }) => key));
  const gone = Object.keys(pins.pins).filter((key) => !known.has(key));
  const textOf = (key: string): unknown => texts[pins.pins[key] ?? ''];
  const reviewed = listed.flatMap(({ key, part, name, raw }): ReviewedItem[] => {
    const pin = pinOf(raw);
    const state = stateOf(pins, key, pin);
    if (state === 'approved') return [];
    const before = textOf(key);
    const movedFrom = state === 'new' ? gone.find((old) => sameSchema(textOf(old), raw)) : undefined;
    return [
      {
        ...{ key, part, name, state, pin, after: raw },
        ...(before !== undefined && { before }),
        ...(before !== undefined && { drift: driftOf(before, raw) }),
        ...(movedFrom !== undefined && { movedFrom }),
      },
    ];
  });
  const missing = gone.map((key): ReviewedItem => {
    const [part, ...name] = key.split(':');
    return { key, part: part as PinnedPart, name: name.join(':'), state: 'gone', before: textOf(key) };
  });
  const items = [...reviewed, ...missing].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { items, approved: listed.length - reviewed.length };
}

/** Reports whether two tools differ in their names alone, as far as callers are concerned. */
function sameSchema(before: unknown, after: unknown): boolean {
  const schema = (raw: unknown): unknown => (raw as { inputSchema?: unknown } | null | undefined)?.inputSchema;
  return schema(before) !== undefined && pinOf(schema(before)) === pinOf(schema(after));
}

/**
 * Renders an item for a person: sorted keys, one line for each line of a text, hidden characters escaped. Differences
 * are made of these lines.
 */
export function readableItem(raw: unknown): string {
  return raw === undefined ? '' : visibleText(`${linesOf(raw, '').join('\n')}\n`);
}

function linesOf(value: unknown, indent: string): string[] {
  if (typeof value === 'string') return value.split('\n').map((line) => `${indent}${line}`);
  if (value === null || typeof value !== 'object') return [`${indent}${String(value)}`];
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = linesOf(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  return Object.keys(value)
    .filter((key) => key !== '_meta')
    .sort()
    .flatMap((key) => {
      const lines = linesOf((value as Record<string, unknown>)[key], `${indent}  `);
      const isShort = lines.length === 1 && typeof (value as Record<string, unknown>)[key] !== 'object';
      return isShort ? [`${indent}${key}: ${(lines[0] as string).trimStart()}`] : [`${indent}${key}:`, ...lines];
    });
}
