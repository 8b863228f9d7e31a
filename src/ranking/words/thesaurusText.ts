import type { CompiledThesaurus, Lookup, Meaning, Thesaurus } from './thesaurus.ts';

/**
 * Serialised thesaurus, searched in place: a row is parsed when its key is first looked up. A row has a key and its
 * meanings, separated by tabs; a weight other than 1 precedes its meaning with an equals sign. Empty lines separate
 * three parts: meanings, loose phrases, lengths of phrases.
 */
const PART = '\n\n';
const RESERVED = /[\t\n=]/;

export function writeThesaurus({ meanings, loosePhrases, phraseLengths }: CompiledThesaurus): string {
  const lengths = [...phraseLengths].map(([key, length]) => `${plain(key)}\t${length}`);
  return [rowsOf(meanings), rowsOf(loosePhrases), lengths].map((rows) => rows.join('\n')).join(PART);
}

function rowsOf(meanings: ReadonlyMap<string, readonly Meaning[]>): string[] {
  return [...meanings].map(([key, row]) =>
    [
      plain(key),
      ...row.map(({ stems, weight }) => `${weight === 1 ? '' : `${weight}=`}${plain(stems.join(' '))}`),
    ].join('\t'),
  );
}

function plain(text: string): string {
  if (RESERVED.test(text))
    throw new Error(`The vocabulary has a word with a tab, a newline or an equals sign: ${text}`);
  return text;
}

export function readThesaurus(text: string): Thesaurus {
  const [meanings = '', loosePhrases = '', lengths = ''] = text.split(PART);
  return {
    meanings: new Rows(meanings, readMeanings),
    loosePhrases: new Rows(loosePhrases, readMeanings),
    phraseLengths: new Rows(lengths, Number),
  };
}

class Rows<T> implements Lookup<T> {
  readonly #unread = new Map<string, string>();
  readonly #values = new Map<string, T>();
  readonly #read: (row: string) => T;

  constructor(text: string, read: (row: string) => T) {
    this.#read = read;
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      const tab = text.indexOf('\t', at);
      this.#unread.set(text.slice(at, tab), text.slice(tab + 1, end));
      at = end + 1;
    }
  }

  has(key: string): boolean {
    return this.#unread.has(key);
  }

  get(key: string): T | undefined {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const row = this.#unread.get(key);
    if (row === undefined) return undefined;
    const value = this.#read(row);
    this.#values.set(key, value);
    return value;
  }
}

function readMeanings(row: string): readonly Meaning[] {
  return row.split('\t').map((item) => {
    const equals = item.indexOf('=');
    const weight = equals < 0 ? 1 : Number(item.slice(0, equals));
    return { stems: item.slice(equals + 1).split(' '), weight };
  });
}
