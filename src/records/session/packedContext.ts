import { countTokens } from '../../catalog/tokenizer/tokens.ts';
import { byId, renderItem } from './conversation.ts';
import type { Session, SessionItem } from './sessionFile.ts';

export interface PackedContext {
  /** Items in the order of the session, as Markdown. */
  readonly text: string;
  readonly tokens: number;
  readonly included: readonly string[];
  /** Whether any item has a word of the question; else the newest items are packed. */
  readonly isMatch: boolean;
  /** Ranked items that the budget left out. */
  readonly omitted: readonly string[];
}

/** Share of the score that the newest item has before the oldest, where both mention the same. */
const RECENCY = 0.25;
/** Text of an item that is searched; the rest of a log says little about its subject. */
const SEARCHED_CHARS = 256 * 1024;
/** Forms of an item, from the fullest to the shortest that still helps. */
const FORMS = [
  { whole: 2_000, digest: 1_500 },
  { whole: 500, digest: 400 },
] as const;

/**
 * Packs what a session says about a question into a token budget (M8.3). Items rank by the question's words, rarer words
 * first, and newer before older. An item comes with those that it answers, because a result without its call, or a call
 * without its request, has no meaning.
 */
export async function packContext({ items }: Session, question: string, budget: number): Promise<PackedContext> {
  const { ranked, isMatch } = rankItems(items, question);
  const known = byId(items);
  const chosen = new Map<SessionItem, { text: string; tokens: number }>();
  const omitted: string[] = [];
  let tokens = 0;
  for (const item of ranked) {
    if (chosen.has(item)) continue;
    const added = await formThatFits(withAncestors(item, known, chosen), known, budget - tokens);
    if (added === undefined) {
      omitted.push(item.id);
      continue;
    }
    for (const [one, form] of added) {
      chosen.set(one, form);
      tokens += form.tokens;
    }
  }
  const included = items.filter((item) => chosen.has(item));
  return {
    text: included.map((item) => chosen.get(item)?.text).join(''),
    tokens,
    isMatch,
    included: included.map(({ id }) => id),
    omitted,
  };
}

/** Renders items in the fullest form that the room has; undefined if it has none for them. */
async function formThatFits(
  items: readonly SessionItem[],
  known: ReadonlyMap<string, SessionItem>,
  room: number,
): Promise<[SessionItem, { text: string; tokens: number }][] | undefined> {
  for (const form of FORMS) {
    const rendered = await Promise.all(
      items.map(async (item) => {
        const text = `${await renderItem(item, known, form)}\n`;
        return [item, { text, tokens: countTokens(text) }] as [SessionItem, { text: string; tokens: number }];
      }),
    );
    if (rendered.reduce((sum, [, { tokens }]) => sum + tokens, 0) <= room) return rendered;
  }
  return undefined;
}

/** Returns an item and the items that it answers, unless they are chosen already. */
function withAncestors(
  item: SessionItem,
  known: ReadonlyMap<string, SessionItem>,
  chosen: ReadonlyMap<SessionItem, unknown>,
): SessionItem[] {
  const found: SessionItem[] = [];
  let next: SessionItem | undefined = item;
  while (next && !chosen.has(next) && !found.includes(next)) {
    found.push(next);
    next = next.parentId === undefined ? undefined : known.get(next.parentId);
  }
  return found;
}

/** Returns the items that share a word with the question, best first; the newest items if none does. */
function rankItems(items: readonly SessionItem[], question: string): { ranked: SessionItem[]; isMatch: boolean } {
  const asked = [...new Set(wordsOf(question))];
  const words = items.map(({ text }) => new Set(wordsOf(text.head(SEARCHED_CHARS))));
  const weights = asked.map((word) => {
    const having = words.filter((set) => set.has(word)).length;
    return Math.log(1 + items.length / (1 + having));
  });
  const scored = items.map((item, at) => {
    const matched = asked.reduce((sum, word, of) => sum + (words[at]?.has(word) ? (weights[of] as number) : 0), 0);
    return { item, at, score: matched * (1 + (RECENCY * at) / items.length) };
  });
  const matching = scored.filter(({ score }) => score > 0);
  const isMatch = matching.length > 0;
  const ranked = (isMatch ? matching : scored).sort((a, b) => b.score - a.score || b.at - a.at);
  return { ranked: ranked.map(({ item }) => item), isMatch };
}

/** Splits text into words, names in camel case or with underscores into theirs. A plural counts as its singular. */
function wordsOf(text: string): string[] {
  const parts = text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (parts ?? []).filter((word) => word.length > 1).map((word) => word.replace(/(?<=\p{L}{3})s$/u, ''));
}
