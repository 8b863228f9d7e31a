/** Verbs of tools that take something away for good, or change it beyond repair. */
const VERBS = new Set(
  (
    'delete del drop remove rm destroy wipe erase purge truncate reset revoke kill format overwrite uninstall ' +
    'terminate merge unlink shred flush clear prune obliterate discard deprovision decommission annihilate expunge ' +
    'nuke rollback'
  ).split(' '),
);

/** Verbs of tools that only read; a destructive word behind one is its object, as in `get_reset_status`. */
const READING = new Set(
  'get list read show search find describe check view count fetch query lookup is has'.split(' '),
);
const JOINS = new Set(['and', 'or', 'then']);

/**
 * Reports whether a call of a tool may destroy something (T2.11): the server says so, or it says nothing about it and the
 * name or title has a verb for it (MCP reads a missing hint as destructive). An explicit `false` is the server's word. A
 * hint that is no boolean counts as missing.
 */
export function isDestructive(tool: { name?: unknown; title?: unknown; annotations?: unknown }): boolean {
  const { destructiveHint, readOnlyHint, title } = (tool.annotations ?? {}) as Record<string, unknown>;
  if (typeof destructiveHint === 'boolean') return destructiveHint;
  if (readOnlyHint === true) return false;
  return [tool.name, tool.title, title].some((text) => typeof text === 'string' && hasDestructiveVerb(wordsOf(text)));
}

function hasDestructiveVerb(words: readonly string[]): boolean {
  const isVerb = (word: string): boolean => VERBS.has(word) || VERBS.has(word.replace(/s$/, ''));
  if (!READING.has(words[0] ?? '')) return words.some(isVerb);
  return words.some((word, index) => isVerb(word) && JOINS.has(words[index - 1] ?? ''));
}

function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}
