import { addedArguments, loweredHints } from './drift.ts';
import { type ItemState, type ServerPins, stateOf } from './pinBook.ts';
import { equalsPins, itemsOf, type Listing, type PinnedItem } from './pinnedItems.ts';
import type { PinnedTexts } from './pinStore.ts';

/** Treatment of tools that are new or changed: held back, offered with a question at each call, or only reported. */
export type OnChange = 'block' | 'ask' | 'tell';

/** Facts about a configured server that the gate needs. */
export interface GatedServer {
  readonly name: string;
  /** Hash of the launch that the user approved, or wrote himself. */
  readonly launch: string;
  readonly onChange: OnChange;
  /** Whether a lock file beside its configuration counts: not for a server of the user's own file. */
  readonly isForeign: boolean;
}

/** Reason why an item is not offered. */
export type HeldFor = Exclude<ItemState, 'approved' | 'gone'> | 'quarantined' | 'damaged' | 'unsaved' | 'flagged';

export interface HeldItem {
  readonly item: PinnedItem;
  readonly why: HeldFor;
}

/** Listing of a server as a model may see it. */
export interface Offer<L extends Listing> {
  readonly listing: L;
  readonly held: readonly HeldItem[];
  /** Reason why nothing of the server is offered, whatever it lists. */
  readonly whole?: HeldFor;
  /** Offered items that need a question at each call, by their pin. */
  readonly asked: ReadonlyMap<string, 'new' | 'changed'>;
  /** Pins of the offered tools by name. Servers may list two tools under one name. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  /** Number of offered items that are new or changed. */
  readonly drifted: number;
}

/** Result of the scan as far as an offer needs it. */
export interface Verdict {
  /** Sentence about the first hard finding. */
  readonly hard?: string;
}

export interface OfferPorts {
  /** Scans items of a server. */
  scan(items: readonly PinnedItem[], server: string, isBaseline: boolean): ReadonlyMap<string, Verdict>;
  /** Reports whether an argument of this name carries a conversation or a secret away (rule P3 of the scan). */
  isSink(argument: string): boolean;
  /** Pinned items of a server in full, by their pin. */
  texts(server: string): PinnedTexts;
}

/** Returns what a model may see of a listing under pins that can be read. */
export function offerOf<L extends Listing>(
  ports: OfferPorts,
  server: GatedServer,
  listing: L,
  pins: ServerPins,
): Offer<L> {
  const held: HeldItem[] = [];
  const asked = new Map<string, 'new' | 'changed'>();
  const offered: PinnedItem[] = [];
  let texts: PinnedTexts | undefined;
  let drifted = 0;
  const isApproved = pins.blocked.length === 0 && equalsPins(listing, pins.pins);
  for (const item of isApproved ? [] : itemsOf(listing)) {
    const { pin } = item;
    const state = stateOf(pins, item.key, pin);
    if (state !== 'approved') {
      texts ??= ports.texts(server.name);
      // A second tool of a pinned name is compared with that one.
      const pinned = pins.pins[item.key] ?? pins.pins[`${item.part}:${item.name}`];
      const why = holds(ports, server, item, state, texts[pinned ?? '']);
      if (why) {
        held.push({ item, why });
        continue;
      }
      drifted++;
      if (server.onChange === 'ask') asked.set(pin, state === 'new' ? 'new' : 'changed');
    }
    if (item.part === 'tools') offered.push(item);
  }
  let tools: Map<string, string[]> | undefined;
  return {
    listing: held.length === 0 ? listing : without(listing, new Set(held.map(({ item }) => item.raw))),
    held,
    asked,
    drifted,
    // Computed on demand: browsing needs no pins.
    get tools() {
      if (tools) return tools;
      tools = new Map();
      const all = isApproved ? itemsOf(listing).filter(({ part }) => part === 'tools') : offered;
      for (const { name, pin } of all) tools.set(name, [...(tools.get(name) ?? []), pin]);
      return tools;
    },
  };
}

/** Returns an offer of nothing, where a whole server is held back for one reason. */
export function heldOffer<L extends Listing>(listing: L, why: HeldFor): Offer<L> {
  const held = itemsOf(listing).map((item) => ({ item, why }));
  const rest = without(listing, new Set([...held.map(({ item }) => item.raw), ...(listing.resources ?? [])]));
  return { listing: rest, held, whole: why, asked: new Map(), tools: new Map(), drifted: 0 };
}

/** Returns why an item that is not approved is held back; `undefined` if it is offered. */
function holds(
  ports: OfferPorts,
  { name, onChange }: GatedServer,
  item: PinnedItem,
  state: ItemState,
  before: unknown,
): HeldFor | undefined {
  if (state === 'blocked') return 'blocked';
  const why = state === 'new' ? 'new' : 'changed';
  // Only a call of a tool can ask.
  if (onChange === 'block' || (onChange === 'ask' && item.part !== 'tools')) return why;
  if (ports.scan([item], name, false).get(item.key)?.hard !== undefined) return 'flagged';
  // Without the pinned text, nobody can know what was lowered.
  if (before === undefined ? why === 'changed' : loweredHints(before, item.raw).length > 0) return why;
  const added = addedArguments(before, item.raw);
  return added.some((argument) => ports.isSink(argument)) ? why : undefined;
}

/** Returns a listing without some items. Lists that lose nothing stay the same objects. */
function without<L extends Listing>(listing: L, held: ReadonlySet<unknown>): L {
  const rest = (list: readonly unknown[]): readonly unknown[] =>
    list.some((raw) => held.has(raw)) ? list.filter((raw) => !held.has(raw)) : list;
  const { tools, prompts, resources, resourceTemplates, instructions } = listing;
  return {
    ...listing,
    tools: rest(tools),
    prompts: rest(prompts),
    ...(resources && { resources: rest(resources) }),
    resourceTemplates: rest(resourceTemplates),
    instructions: held.has(instructions) ? undefined : instructions,
  };
}
