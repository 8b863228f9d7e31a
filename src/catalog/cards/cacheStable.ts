import { compareCodePoints } from '../codePointOrder.ts';
import { type ChoiceCard, createCard } from './card.ts';

export const CACHE_BREAKPOINT_ID = '__cache_breakpoint__';

/** Marks where a client may set its prompt cache breakpoint: everything before it is unchanged (G9.3). */
export const CACHE_BREAKPOINT: ChoiceCard = createCard({
  id: CACHE_BREAKPOINT_ID,
  name: 'cache_breakpoint',
  description: 'Cards above were shown before and are unchanged; cards below are new.',
  kind: 'internal',
});

/** State of one session: keeps the beginning of every browse answer byte for byte the same (G9). */
export class CacheStableSession {
  /** Seen cards by id; undefined for a tool that was hydrated or executed and not yet shown. */
  readonly #seen = new Map<string, ChoiceCard | undefined>();

  /** Returns seen cards first, as they were first sent, then new ones; both by id, with the marker between them. */
  arrange(cards: readonly ChoiceCard[]): ChoiceCard[] {
    const seen = cards.filter((card) => this.#seen.has(card.id)).map((card) => this.#seen.get(card.id) ?? card);
    const fresh = cards.filter((card) => !this.#seen.has(card.id));
    for (const card of [...seen, ...fresh]) this.#seen.set(card.id, card);
    const boundary = seen.length > 0 && fresh.length > 0 ? [CACHE_BREAKPOINT] : [];
    return [...seen.sort(byId), ...boundary, ...fresh.sort(byId)];
  }

  /** Records a hydrated or executed tool. Call it on success only (G9.1). */
  recordHydrated(toolId: string): void {
    if (!this.#seen.has(toolId)) this.#seen.set(toolId, undefined);
  }

  get seenIds(): string[] {
    return [...this.#seen.keys()].sort(compareCodePoints);
  }

  /** Forgets all cards, for a refreshed catalog (G9.6). */
  clear(): void {
    this.#seen.clear();
  }
}

function byId(a: ChoiceCard, b: ChoiceCard): number {
  return compareCodePoints(a.id, b.id);
}
