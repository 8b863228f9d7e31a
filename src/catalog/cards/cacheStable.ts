import { compareCodePoints } from '../codePointOrder.ts';
import { type ChoiceCard, createCard } from './card.ts';

export const CACHE_BREAKPOINT_ID = '__cache_breakpoint__';

/** Where a client may set its prompt cache mark: everything before it is as it was sent before (000 §5.1). */
export const CACHE_BREAKPOINT: ChoiceCard = createCard({
  id: CACHE_BREAKPOINT_ID,
  name: 'cache_breakpoint',
  description: 'Cards above were shown before and are unchanged; cards below are new.',
  kind: 'internal',
});

/** What one session has seen: keeps the start of every browse answer byte for byte the same (000 §5). */
export class CacheStableSession {
  /** By id; undefined for a tool that was hydrated or executed and not yet shown. */
  readonly #seen = new Map<string, ChoiceCard | undefined>();

  /** Seen cards first, as they were first sent, then the new ones; both by id, the marker between them. */
  arrange(cards: readonly ChoiceCard[]): ChoiceCard[] {
    const seen = cards.filter((card) => this.#seen.has(card.id)).map((card) => this.#seen.get(card.id) ?? card);
    const fresh = cards.filter((card) => !this.#seen.has(card.id));
    for (const card of [...seen, ...fresh]) this.#seen.set(card.id, card);
    const boundary = seen.length > 0 && fresh.length > 0 ? [CACHE_BREAKPOINT] : [];
    return [...seen.sort(byId), ...boundary, ...fresh.sort(byId)];
  }

  /** A tool that was hydrated or executed. To be called on success alone (000 §5.5). */
  recordHydrated(toolId: string): void {
    if (!this.#seen.has(toolId)) this.#seen.set(toolId, undefined);
  }

  get seenIds(): string[] {
    return [...this.#seen.keys()].sort(compareCodePoints);
  }

  /** A refreshed catalog starts anew (000 §4.6). */
  clear(): void {
    this.#seen.clear();
  }
}

function byId(a: ChoiceCard, b: ChoiceCard): number {
  return compareCodePoints(a.id, b.id);
}
