import { analyzeWord, eachRawWord, isStopWord } from './words/text.ts';

/**
 * Use of a tool after a query, which raises the tool slightly for similar queries (G3.9). The history is ordered
 * without a clock, so that equal histories give equal rankings. Local to a workspace, bounded, and erasable.
 */
export interface UseEntry {
  /** Sorted distinct stems of the query; no other trace of the query is kept. */
  words: readonly string[];
  toolId: string;
  uses: number;
}

/** Oldest first. */
export interface UseHistory {
  entries: readonly UseEntry[];
}

export const MAX_HISTORY_ENTRIES = 400;
/**
 * Limit of the raise. Scores are about 1 to 2, so use decides between near equals and never lifts an unrelated tool.
 */
export const MAX_LEARNED = 0.25;
const MAX_WORDS = 12;
const MAX_USES = 20;
const MIN_OVERLAP = 0.4;

export function emptyHistory(): UseHistory {
  return { entries: [] };
}

export function queryStems(query: string): string[] {
  const stems = new Set<string>();
  eachRawWord(query.slice(0, 500), (raw) => {
    const word = analyzeWord(raw);
    if (!isStopWord(word.lower) && stems.size < MAX_WORDS) stems.add(word.stem);
  });
  return [...stems].sort();
}

/** Returns the history with one more use, dropping the oldest entry if it is full. */
export function recordUse(history: UseHistory, query: string, toolId: string): UseHistory {
  const words = queryStems(query);
  if (words.length === 0) return history;
  const same = (entry: UseEntry) => entry.toolId === toolId && entry.words.join(' ') === words.join(' ');
  const uses = Math.min(MAX_USES, (history.entries.find(same)?.uses ?? 0) + 1);
  const rest = history.entries.filter((entry) => !same(entry));
  return { entries: [...rest, { words, toolId, uses }].slice(-MAX_HISTORY_ENTRIES) };
}

/** Returns the history without one tool's entries, or an empty history. */
export function forgetUses(history: UseHistory, toolId?: string): UseHistory {
  if (toolId === undefined) return emptyHistory();
  return { entries: history.entries.filter((entry) => entry.toolId !== toolId) };
}

/** Returns the raise of each tool for a query: at most `MAX_LEARNED`, by its most similar former query. */
export function learnedFor(history: UseHistory, query: string): Map<string, number> {
  const asked = new Set(queryStems(query));
  const learned = new Map<string, number>();
  if (asked.size === 0) return learned;
  for (const entry of history.entries) {
    let common = 0;
    for (const word of entry.words) if (asked.has(word)) common++;
    const overlap = common / (asked.size + entry.words.length - common);
    if (overlap < MIN_OVERLAP) continue;
    const value = MAX_LEARNED * overlap * (entry.uses / (entry.uses + 1));
    if (value > (learned.get(entry.toolId) ?? 0)) learned.set(entry.toolId, value);
  }
  return learned;
}

export function serializeHistory(history: UseHistory): string {
  return JSON.stringify({ version: 1, entries: history.entries });
}

/** Parses a stored history item by item. Drops invalid items; an unreadable file counts as an empty history. */
export function parseHistory(text: string): UseHistory {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return emptyHistory();
  }
  const list = typeof parsed === 'object' && parsed !== null && 'entries' in parsed ? parsed.entries : undefined;
  if (!Array.isArray(list)) return emptyHistory();
  const entries: UseEntry[] = [];
  for (const item of list as unknown[]) {
    if (typeof item !== 'object' || item === null) continue;
    const { words, toolId, uses } = item as Record<string, unknown>;
    if (typeof toolId !== 'string' || !Array.isArray(words) || typeof uses !== 'number' || !Number.isInteger(uses))
      continue;
    const stems = words.filter((word): word is string => typeof word === 'string').slice(0, MAX_WORDS);
    if (uses >= 1 && stems.length > 0) entries.push({ words: stems, toolId, uses: Math.min(MAX_USES, uses) });
  }
  return { entries: entries.slice(-MAX_HISTORY_ENTRIES) };
}
