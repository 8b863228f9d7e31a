import { skeleton, withLatinLetters } from '../../text/lookAlikes.ts';
import { type Piece, quotation } from './document.ts';
import type { Findings } from './finding.ts';

/** Parameter names that take what a tool has no use for: the conversation, the prompt, the environment (P3). */
const SINKS =
  /^(?:side ?notes?|(?:conversation|chat|dialog(?:ue)?|message) (?:history|context|log|transcript)|(?:full|whole|entire|complete) (?:conversation|chat|context|transcript|prompt)|(?:previous|prior|all|past) (?:messages|conversations?|prompts?|turns)|(?:system|initial|original|hidden|internal|developer) (?:prompt|message|instructions?)|(?:model|assistant|agent|llm) (?:instructions?|prompt|context|memory|reasoning)|chain of thought|(?:internal|hidden|your|model) (?:reasoning|thoughts)|scratch ?pad|env(?:ironment)? (?:dump|vars?|variables)|(?:all|available|your) tools|tools? list|user (?:secrets|credentials|memory))$/;

/** Splits a name into words: `toolsList`, `tools_list` and `Tools-List` are `tools list`. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

export const isSink = (parameter: string): boolean => parameter.length <= 64 && SINKS.test(wordsOf(parameter));

const COMPUTING = new Set(
  'add addition sum subtract multiply divide power sqrt abs round min max average mean median mod factorial fibonacci prime calc calculate calculator count upper uppercase lower lowercase capitalize reverse sort shuffle trim concat join split length slug slugify palindrome echo hash md5 sha1 sha256 uuid random dice roll coin flip time clock date now today day month year week even odd'.split(
    ' ',
  ),
);
const FILLERS = new Set(
  'a an the is are of two get make to number numbers text string strings word words list lists line lines current character characters char chars value values digits integer integers tool case'.split(
    ' ',
  ),
);

/** Returns whether a name means a computation, which needs no file and no address (M1). */
export function isComputation(name: string): boolean {
  const words = wordsOf(name).split(' ');
  return words.some((word) => COMPUTING.has(word)) && words.every((word) => COMPUTING.has(word) || FILLERS.has(word));
}

/** Returns whether a word joins Latin letters with letters of another script that look Latin. */
export function mixesLookAlikes(name: string): boolean {
  return name.split(/[^\p{L}]+/u).some((word) => {
    const others = word.replace(/\p{Script=Latin}/gu, '');
    return others !== '' && others.length < word.length && withLatinLetters(others) !== others;
  });
}

/** Returns the form that names of the same looks share. */
const looksOf = (name: string): string => skeleton(name).replaceAll('5', 's');

/** Names of the tools of other servers, prepared once for many tools. */
export class OtherTools {
  readonly #names = new Map<string, Set<string>>();
  readonly #looks = new Map<string, Set<string>>();

  constructor(tools: Iterable<{ readonly server: string; readonly name: string }>) {
    for (const { server, name } of tools) {
      note(this.#names, name, server);
      // A model may know a tool by the part behind its prefix.
      const tail = /[^./:]+$/.exec(name)?.[0];
      if (tail !== undefined && tail !== name) note(this.#names, tail, server);
      note(this.#looks, looksOf(name), name);
    }
  }

  /** Returns whether only servers other than `server` have a tool of this name. */
  has(name: string, server: string): boolean {
    const servers = this.#names.get(name);
    return servers !== undefined && !servers.has(server);
  }

  /** Returns a tool of another server whose name looks like `name` and differs in more than case. */
  lookAlikeOf(name: string, server: string): string | undefined {
    const alike = this.#looks.get(looksOf(name)) ?? [];
    return [...alike]
      .filter((other) => other.toLowerCase() !== name.toLowerCase() && this.has(other, server))
      .sort()[0];
  }
}

function note(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key);
  if (values) values.add(value);
  else map.set(key, new Set([value]));
}

/** Name of a tool in a text: words joined by `_` or `-`, or camel case. A single word is a word of the language. */
const IDENTIFIER =
  /(?<![\w/@-])[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+(?![\w/@-])|(?<![\w/@-])[a-z]+(?:[A-Z][a-z0-9]+)+(?![\w/@-])/g;

/** Name in a text that may be a tool of another server (S1). Few are, so its quotation is made when it is. */
export interface Mention {
  readonly name: string;
  readonly where: string;
  readonly text: string;
  readonly index: number;
  /** Whether a value or key of the tool itself has the name. */
  readonly own: boolean;
}

const MIN_DISTINCTIVE_CHARS = 8;

/** Returns the names in the texts of a tool that may be tools of another server. */
export function mentionsOf(pieces: readonly Piece[]): Mention[] {
  const texts = new Set(pieces.map(({ text }) => text));
  return pieces.flatMap(({ text, where, key }) => {
    if (key || where === '/name') return [];
    return Array.from(text.matchAll(IDENTIFIER)).flatMap(({ 0: name, index }) => {
      if (name.length < MIN_DISTINCTIVE_CHARS || name === text) return [];
      return [{ name, where, text, index, own: texts.has(name) }];
    });
  });
}

/** Characters on each side of a name in which words that direct its use are looked for. */
const DIRECTIVE_REACH = 60;
const DIRECTIVE =
  /\b(?:when(?:ever)?|every|each time|always|must|instead of|if|broken|deprecated|insecure|never|change|wenn|quand|lorsque|cuando|quando|si)\b|当|使用|とき|場合/i;

/**
 * Adds the mentions of tools that only other servers have (S1). A value or parameter of the tool itself is its own word,
 * unless the text directs the use of it.
 */
export function addMentions(mentions: readonly Mention[], server: string, others: OtherTools, found: Findings): void {
  for (const { name, where, text, index, own } of mentions) {
    if (!others.has(name, server)) continue;
    const from = Math.max(0, index - DIRECTIVE_REACH);
    const directs = DIRECTIVE.test(text.slice(from, index + name.length + DIRECTIVE_REACH));
    if (own && !directs) continue;
    found.add('S1', directs && !own ? 'hard' : 'soft', { where, quote: quotation(text, index, name.length) });
  }
}
