import { canonicalJson } from '../../catalog/canonicalJson.ts';
import { pinOf } from '../../catalog/shapeHash.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type Drift, driftOf } from './drift.ts';
import { type ItemState, type ServerPins, stateOf } from './pinBook.ts';
import type { PinnedItem, PinnedPart } from './pinnedItems.ts';
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
  /** Key under which the same schema was pinned before, if the item has only another name; `before` is that item. */
  readonly movedFrom?: string;
}

/** Items of a listing that differ from the pins, sorted by key, and the keys of the others. */
export interface Review {
  readonly items: readonly ReviewedItem[];
  readonly approved: readonly PinnedItem[];
}

export function reviewOf(
  listed: readonly PinnedItem[],
  pins: Pick<ServerPins, 'pins' | 'blocked'>,
  texts: PinnedTexts,
): Review {
  const known = new Set(listed.map(({ key }) => key));
  const gone = new Set(Object.keys(pins.pins).filter((key) => !known.has(key)));
  const textOf = (key: string): unknown => texts[pins.pins[key] ?? ''];
  const former = new Map<string, string[]>();
  for (const key of gone) {
    const shape = callShapeOf(textOf(key));
    if (shape !== undefined) former.set(shape, [...(former.get(shape) ?? []), key]);
  }
  /** Takes the key of a tool that is gone and only has another name now. Each former name explains one new name. */
  const movedTo = (raw: unknown): string | undefined => {
    const old = (former.get(callShapeOf(raw) ?? '') ?? []).filter((key) => gone.has(key));
    const from = old.find((key) => descriptionOf(textOf(key)) === descriptionOf(raw)) ?? old[0];
    if (from !== undefined) gone.delete(from);
    return from;
  };
  const approved: PinnedItem[] = [];
  const reviewed = listed.flatMap((item): ReviewedItem[] => {
    const { key, part, name, raw, pin } = item;
    const state = stateOf(pins, key, pin);
    if (state === 'approved') approved.push(item);
    if (state === 'approved') return [];
    const movedFrom = state === 'new' && part === 'tools' ? movedTo(raw) : undefined;
    const before = textOf(movedFrom ?? key);
    return [
      {
        ...{ key, part, name, state, pin, after: raw },
        ...(before !== undefined && {
          before,
          drift: driftOf(movedFrom ? { ...before, name: nameOf(raw) } : before, raw),
        }),
        ...(movedFrom !== undefined && { movedFrom }),
      },
    ];
  });
  const missing = [...gone].map((key): ReviewedItem => {
    const [part, ...name] = key.split(':');
    return { key, part: part as PinnedPart, name: name.join(':'), state: 'gone', before: textOf(key) };
  });
  return { items: [...reviewed, ...missing].sort((a, b) => (a.key < b.key ? -1 : 1)), approved };
}

/** Identifies a tool by its arguments. Without arguments they identify nothing, and its description does. */
function callShapeOf(raw: unknown): string | undefined {
  const schema = (raw as { inputSchema?: unknown } | null | undefined)?.inputSchema;
  if (schema === undefined) return undefined;
  const { properties } = (schema ?? {}) as { properties?: unknown };
  const isBare = Object.keys(properties ?? {}).length === 0;
  return `${pinOf(schema)} ${isBare ? String(descriptionOf(raw)) : ''}`;
}

const nameOf = (raw: unknown): unknown => (raw as { name?: unknown } | null | undefined)?.name;
const descriptionOf = (raw: unknown): unknown => (raw as { description?: unknown } | null | undefined)?.description;

/**
 * Renders an item for a person: sorted keys, one line for each line of a text, hidden characters escaped. Differences
 * are made of these lines, so different items have different lines.
 */
export function readableItem(raw: unknown): string {
  return raw === undefined ? '' : visibleText(`${blockOf(raw, '').join('\n')}\n`.replace(/\r/g, '\\r'));
}

/** Text that needs no quotes, because it can be nothing else. A backslash could be that of an escape. */
const PLAIN = /^(?!(?:true|false|null)$)[^\s"\\\-[\]{}|\d](?:[^\n\\]*[^\s\\])?$/u;
const PLAIN_KEY = /^[\w$./-]+$/;

/** Deepest nesting that is indented. Deeper values take one line. */
const MAX_INDENT = 100;

function blockOf(value: unknown, indent: string): string[] {
  if (indent.length > MAX_INDENT) return [`${indent}${canonicalJson(value)}`];
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const inline = inlineOf(item);
      return inline === undefined ? [`${indent}-`, ...blockOf(item, `${indent}  `)] : [`${indent}- ${inline}`];
    });
  }
  if (typeof value === 'string') return value.split('\n').map((line) => `${indent}| ${line.replace(/\\/g, '\\\\')}`);
  if (typeof value !== 'object' || value === null) return [`${indent}${inlineOf(value)}`];
  return Object.keys(value)
    .filter((key) => key !== '_meta' || indent !== '')
    .sort()
    .flatMap((key) => {
      const item = (value as Record<string, unknown>)[key];
      const [inline, name] = [inlineOf(item), PLAIN_KEY.test(key) ? key : JSON.stringify(key)];
      return inline === undefined
        ? [`${indent}${name}:`, ...blockOf(item, `${indent}  `)]
        : [`${indent}${name}: ${inline}`];
    });
}

/** Returns a value on one line; `undefined` for a value that takes several. */
function inlineOf(value: unknown): string | undefined {
  if (typeof value === 'string')
    return PLAIN.test(value) ? value : value.includes('\n') ? undefined : JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? (Array.isArray(value) ? '[]' : '{}') : undefined;
}
