const MAX_WORDS = 32;
/** Phrase in quotes, or a word with its parts, such as `read_file` and `a.b@c.d`. `*` after a word means its beginning. */
const TERM = /"([^"]*)"|([^\s"]+)/g;
const WORD = /[\p{L}\p{N}]/u;

/** Returns the terms of a query in the syntax of FTS5. Nothing in a query is an operator. */
export function searchTerms(query: string): string[] {
  const terms: string[] = [];
  for (const [, phrase, word] of query.matchAll(TERM)) {
    const text = phrase ?? word ?? '';
    if (!WORD.test(text)) continue;
    const isBeginning = word?.endsWith('*') === true;
    terms.push(`"${text.replaceAll('"', '').replaceAll('\0', ' ')}"${isBeginning ? '*' : ''}`);
  }
  return [...new Set(terms)].slice(0, MAX_WORDS);
}

/** Returns the expression that searches these columns alone. */
export function matchExpression(columns: readonly string[], terms: readonly string[], join: 'AND' | 'OR'): string {
  return `{${columns.join(' ')}} : (${terms.join(` ${join} `)})`;
}
