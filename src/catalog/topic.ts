import {
  ADJECTIVES,
  COMPOUNDS,
  LEADING_VERBS,
  MASS_NOUNS,
  NOUNS_IN_ING,
  PLAIN_VERBS,
  PREPOSITIONS,
  QUALIFIERS,
  SHORT_NOUNS,
} from './words.ts';

/** Topic in a tool's name: its action and its objects, the general before the special. */
export interface Topic {
  verb: string;
  /** Nouns, singular, compounds joined: `list_pull_request_files` is about `pull-request`, `file`. */
  nouns: readonly string[];
  /** Nouns after a preposition: `cycle` in `add_issue_to_cycle`. */
  related: readonly string[];
}

/** Derives the topic of a tool from its own name alone, so that no other tool can change it. */
export function topicOf(nameWords: readonly string[], skippedWords: ReadonlySet<string>): Topic {
  const all = nameWords.filter((word) => !/^\d+$/.test(word));
  const words = all.slice(skippedCount(all, skippedWords));
  const verbAt = findVerb(words);
  const verb = verbAt < 0 ? '' : (words[verbAt] as string);
  const rest = verbAt < 0 ? words : [...words.slice(0, verbAt), ...afterVerb(words, verbAt)];
  const preposition = rest.findIndex((word, index) => index > 0 && PREPOSITIONS.has(word));
  const about = preposition < 0 ? rest : rest.slice(0, preposition);
  const related = toNouns(preposition < 0 ? [] : rest.slice(preposition + 1), skippedWords);
  const nouns = toNouns(about, skippedWords);
  return nouns.length > 0 ? { verb, nouns, related } : { verb, nouns: related, related: [] };
}

/** Returns how many words at the front repeat the server or a prefix of all its tools. Never all words. */
export function skippedCount(words: readonly string[], skipped: ReadonlySet<string>): number {
  let count = 0;
  while (count < words.length - 1 && skipped.has(words[count] as string)) count++;
  return count;
}

/** Returns the lower-case words of a name in any style: snake, kebab, camel, dotted. */
export function splitWords(name: string): string[] {
  const spaced = /[A-Z]/.test(name) ? spaceCamelCase(name).toLowerCase() : name.toLowerCase();
  return spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

function spaceCamelCase(name: string): string {
  return name
    .replaceAll('OAuth', 'Oauth')
    .replaceAll('GraphQL', 'Graphql')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2');
}

function findVerb(words: readonly string[]): number {
  const first = words.findIndex((word) => !QUALIFIERS.has(word) && word !== 'batch' && word !== 'bulk');
  if (first < 0) return -1;
  const leading = words[first] as string;
  if (words.length > first + 1 && isVerb(leading)) return first;
  return words.findIndex((word, index) => index > first && PLAIN_VERBS.has(word));
}

export function isVerb(word: string): boolean {
  return PLAIN_VERBS.has(word) || LEADING_VERBS.has(word);
}

/** Skips a second verb: in `create_or_update_file` a word joined to the verb by "or" is a verb too. */
function afterVerb(words: readonly string[], verbAt: number): string[] {
  let next = verbAt + 1;
  while ((words[next] === 'or' || words[next] === 'and') && next + 2 < words.length) next += 2;
  return words.slice(next);
}

function toNouns(words: readonly string[], skipped: ReadonlySet<string>): string[] {
  const singulars = words.filter((word) => !QUALIFIERS.has(word) && !PREPOSITIONS.has(word)).map(singular);
  const distinctive = singulars.filter((word) => !skipped.has(word));
  const joined: string[] = [];
  for (const word of distinctive.length > 0 ? distinctive : singulars) {
    const pair = `${joined.at(-1)}-${word}`;
    if (COMPOUNDS.has(pair)) joined[joined.length - 1] = pair;
    else joined.push(word);
  }
  const nouns: string[] = [];
  let adjectives = '';
  joined.forEach((word, index) => {
    if (index < joined.length - 1 && isAdjective(word)) adjectives += `${word}-`;
    else {
      const noun = adjectives + word;
      if (!nouns.includes(noun)) nouns.push(noun);
      adjectives = '';
    }
  });
  // "API" before a noun is the way to reach it; alone, it is the topic.
  return nouns.length > 1 && nouns[0] === 'api' ? nouns.slice(1) : nouns;
}

function isAdjective(word: string): boolean {
  return ADJECTIVES.has(word) || (/.{3}(ed|ing)$/.test(word) && !NOUNS_IN_ING.has(word));
}

/** Returns a singular that suffices for tool names. Wrong forms do no harm, since only equality counts. */
export function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word;
  if (/(ss|us|is|ics)$/.test(word) || word === 'news' || word === 'kubernetes' || word === 'aws') return word;
  if (/(ch|sh|x|ss|zz)es$/.test(word)) return word.slice(0, -2);
  if (/statuses$|aliases$|buses$/.test(word)) return word.slice(0, -2);
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  return word.slice(0, -1);
}

/**
 * Returns the label of a cluster: the noun as a person would head a list. Depends on the noun alone, so it never
 * changes.
 */
export function plural(noun: string): string {
  const head = noun.slice(noun.lastIndexOf('-') + 1);
  if (MASS_NOUNS.has(head) || isAbbreviation(head)) return noun;
  if (/(ss|us|ch|sh|x|z)$/.test(head)) return `${noun}es`;
  if (head.endsWith('s')) return noun;
  if (/[^aeiou]y$/.test(head)) return `${noun.slice(0, -1)}ies`;
  return `${noun}s`;
}

/** Returns whether a word is too short or has no vowel: `kv`, `sdk`, `lwc`. */
function isAbbreviation(word: string): boolean {
  return word.length < 3 || (word.length === 3 && !SHORT_NOUNS.has(word)) || !/[aeiouy]/.test(word);
}
