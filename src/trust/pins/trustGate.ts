import { pinOf } from '../../catalog/shapeHash.ts';
import { type GatedServer, heldOffer, type Offer, type OfferPorts, offerOf } from './offer.ts';
import type { PinBook, ServerPins } from './pinBook.ts';
import { itemsOf, type Listing, PINNED_PARTS, type PinnedItem, type PinnedPart } from './pinnedItems.ts';
import type { PinnedTexts, PinStore } from './pinStore.ts';
import { type Review, reviewOf } from './review.ts';

export interface TrustGatePorts extends Omit<OfferPorts, 'texts'> {
  store: PinStore;
  /** Items that a lock file of the workspace pins for a server; `undefined` without one (T3). */
  locked(server: GatedServer): readonly PinnedItem[] | undefined;
  now(): Date;
  log(line: string): void;
  /** Called after a baseline, for the trust log. */
  onBaseline(server: string, pins: ServerPins): void;
  onChange(): void;
}

interface Judged {
  readonly book: PinBook | undefined;
  readonly server: GatedServer;
  readonly isUnsaved: boolean;
  readonly offer: Offer<Listing>;
}

/**
 * Decides which items of a listing are offered (T2). The state of an item is a function of the pins on disk and of the
 * listing; the gate keeps nothing of its own but answers that it has computed.
 */
export class TrustGate {
  readonly #ports: TrustGatePorts;
  readonly #judged = new WeakMap<Listing, Judged>();
  /** Servers whose baseline could not be stored, with the reason. */
  readonly #unsaved = new Map<string, string>();

  constructor(ports: TrustGatePorts) {
    this.#ports = ports;
  }

  /**
   * Pins the first list of each part as the baseline of a server, under the launch that was approved. Later lists of the
   * part change no pin. A hard finding quarantines the server instead of approving what it lists.
   */
  onListed(server: GatedServer, listing: Listing, listed: readonly PinnedPart[]): void {
    const { store, log } = this.#ports;
    const book = store.read();
    const own = book && pinsIn(book, server);
    if (!book || (own && listed.every((part) => own.parts.includes(part)))) return;
    const [items, locked] = [itemsOf(listing), this.#ports.locked(server)];
    let baseline: ServerPins | undefined;
    try {
      store.update(
        (current) => {
          // Another worker may have pinned these parts since.
          const present = pinsIn(current, server);
          const parts = listed.filter((part) => !present?.parts.includes(part));
          if (parts.length === 0) return current;
          const first = { parts, items: inParts(items, parts), locked: locked && inParts(locked, parts) };
          baseline = this.#baseline(server, present ?? pinsOf(current, server.name), first);
          return { ...current, [server.name]: baseline };
        },
        { server: server.name, items: textsOf([...items, ...(locked ?? [])]) },
      );
      this.#unsaved.delete(server.name);
    } catch (error) {
      const reason = (error as Error).message;
      if (this.#unsaved.get(server.name) !== reason) log(`${server.name}: its tools could not be pinned: ${reason}`);
      this.#unsaved.set(server.name, reason);
      this.#ports.onChange();
      return;
    }
    if (baseline) this.#ports.onBaseline(server.name, baseline);
    this.#ports.onChange();
  }

  /** Runs a function that asks about many servers and decides nothing. */
  steady<T>(run: () => T): T {
    return this.#ports.store.steady(run);
  }

  /** Returns what is offered of a listing. The same listing under the same pins gives the same objects. */
  offer<L extends Listing>(server: GatedServer, listing: L): Offer<L> {
    const book = this.#ports.store.read();
    const judged = this.#judged.get(listing);
    const isUnsaved = this.#unsaved.has(server.name);
    if (judged?.isUnsaved === isUnsaved && judged.book === book && isSame(judged.server, server))
      return judged.offer as Offer<L>;
    const offer = this.#judge(server, listing, book);
    this.#judged.set(listing, { book, server, isUnsaved, offer });
    return offer;
  }

  /** Compares a listing with the pins that count now, for the user. On a damaged book everything is new. */
  review(server: GatedServer, listing: Listing): Review & { pins: ServerPins | undefined } {
    const { store } = this.#ports;
    const pins = pinsOf(store.read(), server.name);
    return { ...reviewOf(itemsOf(listing), pins ?? { pins: {}, blocked: [] }, store.texts(server.name)), pins };
  }

  /** Whether the last baseline of a server could not be stored, so that nothing of it is offered. */
  isUnsaved(server: string): boolean {
    return this.#unsaved.has(server);
  }

  /** Reason why the pins of a server count for nothing. */
  problemOf(server: string): string | undefined {
    const { store } = this.#ports;
    if (!store.read()) return `${store.file} is damaged, so nothing is offered until its tools are accepted again.`;
    const unsaved = this.#unsaved.get(server);
    return unsaved === undefined ? undefined : `Its tools could not be pinned, so none is offered: ${unsaved}`;
  }

  /** Approves items as they were shown. On a damaged book, `all` lists the servers that start without a baseline. */
  accept(server: GatedServer, shown: readonly PinnedItem[], all: readonly GatedServer[] = []): void {
    const { store } = this.#ports;
    if (!store.read()) store.replaceDamaged(Object.fromEntries(all.map((one) => [one.name, this.#nothing(one)])));
    store.update(
      (book) => {
        const own = pinsOf(book, server.name) ?? this.#nothing(server);
        const keys = new Set(shown.map(({ key }) => key));
        const pins = { ...own.pins, ...this.pinsFor(shown) };
        return { ...book, [server.name]: { ...own, pins, blocked: own.blocked.filter((key) => !keys.has(key)) } };
      },
      { server: server.name, items: textsOf(shown) },
    );
    this.#ports.onChange();
  }

  block(server: string, keys: readonly string[]): void {
    this.#change(server, (own) => ({ ...own, blocked: [...new Set([...own.blocked, ...keys])] }));
  }

  quarantine(server: string, reason: string): void {
    this.#change(server, (own) => ({ ...own, quarantine: reason }));
  }

  release(server: string): void {
    this.#change(server, ({ quarantine: _lifted, ...own }) => own);
  }

  /** Returns the pins of items, by key. */
  pinsFor(items: readonly PinnedItem[]): Record<string, string> {
    return Object.fromEntries(items.map(({ key, raw }) => [key, pinOf(raw)]));
  }

  #change(server: string, change: (own: ServerPins) => ServerPins): void {
    this.#ports.store.update((book) => {
      const own = pinsOf(book, server);
      if (!own) throw new Error(`no tools of ${server} are pinned yet`);
      return { ...book, [server]: change(own) };
    });
    this.#ports.onChange();
  }

  #nothing({ launch }: GatedServer): ServerPins {
    return { launch, since: this.#ports.now().toISOString(), parts: PINNED_PARTS, pins: {}, blocked: [] };
  }

  #baseline(
    { name, launch }: GatedServer,
    before: ServerPins | undefined,
    first: { parts: readonly PinnedPart[]; items: readonly PinnedItem[]; locked: readonly PinnedItem[] | undefined },
  ): ServerPins {
    const { parts, items, locked } = first;
    const present = before?.launch === launch ? before : undefined;
    // Anything that becomes a pin is scanned, whether or not the server lists it yet.
    const scanned = [...items, ...(locked ?? [])];
    const findings = this.#ports.scan(scanned, name, true);
    const flagged = scanned.flatMap(({ key }) => findings.get(key)?.hard ?? [])[0];
    // A quarantine that the user imposed outlives a new baseline.
    const quarantine = flagged ?? before?.quarantine;
    return {
      launch,
      since: present?.since ?? this.#ports.now().toISOString(),
      parts: [...(present?.parts ?? []), ...parts],
      // A lock file never replaces a pin that the user has under this launch.
      pins: { ...this.pinsFor(locked ?? items), ...present?.pins },
      blocked: before?.blocked ?? [],
      ...(quarantine === undefined ? {} : { quarantine }),
    };
  }

  #judge<L extends Listing>(server: GatedServer, listing: L, book: PinBook | undefined): Offer<L> {
    if (!book) return heldOffer(listing, 'damaged');
    // Pins of an earlier launch count until the server has listed under the present one.
    const pins = pinsOf(book, server.name);
    if (!pins) return heldOffer(listing, this.#unsaved.has(server.name) ? 'unsaved' : 'new');
    if (pins.quarantine !== undefined) return heldOffer(listing, 'quarantined');
    return offerOf({ ...this.#ports, texts: (name) => this.#ports.store.texts(name) }, server, listing, pins);
  }
}

function pinsOf(book: PinBook | undefined, name: string): ServerPins | undefined {
  return book && Object.hasOwn(book, name) ? book[name] : undefined;
}

/** Pins of a server; `undefined` if it has none under its present launch. */
function pinsIn(book: PinBook, { name, launch }: GatedServer): ServerPins | undefined {
  const pins = pinsOf(book, name);
  return pins?.launch === launch ? pins : undefined;
}

function isSame(a: GatedServer, b: GatedServer): boolean {
  return a.name === b.name && a.launch === b.launch && a.onChange === b.onChange;
}

const inParts = (items: readonly PinnedItem[], parts: readonly PinnedPart[]): readonly PinnedItem[] =>
  items.filter(({ part }) => parts.includes(part));

function textsOf(items: readonly PinnedItem[]): PinnedTexts {
  return Object.fromEntries(items.map(({ raw }) => [pinOf(raw), raw]));
}
