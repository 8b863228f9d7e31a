import { randomUUID } from 'node:crypto';
import { CacheStableSession } from '../../catalog/cards/cacheStable.ts';
import type { ChoiceCard } from '../../catalog/cards/card.ts';

/** Number of browses after which a found tool says nothing about the query any more. */
const REMEMBERED_QUERIES = 5;

/** State of one MCP session in the gateway. */
export class SessionState {
  /** Id for the event log, unrelated to the client. */
  readonly id = randomUUID().replaceAll('-', '');
  readonly #seen = new CacheStableSession();
  #seenRevision = -1;
  #held = 0;
  #queries: { query: string; toolIds: ReadonlySet<string> }[] = [];

  /** Returns the cards in cache-stable order (G9.2). A refreshed catalog starts anew (G9.6). */
  arrange(cards: readonly ChoiceCard[], revision: number): ChoiceCard[] {
    this.#follow(revision);
    return this.#seen.arrange(cards);
  }

  /** Records a hydrated tool. Call it on success only (G9.1). */
  recordHydrated(toolId: string, revision: number): void {
    this.#follow(revision);
    this.#seen.recordHydrated(toolId);
  }

  /** Reports whether this number of tools that wait for a review is news for the session. */
  notesHeld(count: number): boolean {
    const isNews = count > this.#held;
    this.#held = Math.max(this.#held, count);
    return isNews;
  }

  recordQuery(query: string, toolIds: readonly string[]): void {
    this.#queries = [{ query, toolIds: new Set(toolIds) }, ...this.#queries].slice(0, REMEMBERED_QUERIES);
  }

  /** Returns the query that most likely led to a tool: the last one whose answer contained it. */
  queryFor(toolId: string): string | undefined {
    return this.#queries.find(({ toolIds }) => toolIds.has(toolId))?.query;
  }

  #follow(revision: number): void {
    if (revision !== this.#seenRevision) this.#seen.clear();
    this.#seenRevision = revision;
  }
}

/** States of all sessions, each kept while its session lives. */
export class SessionStates {
  readonly #states = new WeakMap<object, SessionState>();

  of(session: object): SessionState {
    const known = this.#states.get(session) ?? new SessionState();
    this.#states.set(session, known);
    return known;
  }
}
