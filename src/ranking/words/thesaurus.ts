import { STOP_STEMS, stemOf } from './text.ts';

/** Another wording of a word or phrase, from a line of the vocabulary (`src/ranking/data`). */
export interface Meaning {
  /** Stems of one word, or of a phrase whose stems must all be in a tool. */
  stems: readonly string[];
  weight: number;
}

export type Lookup<T> = Pick<ReadonlyMap<string, T>, 'get' | 'has'>;

export interface Thesaurus {
  /** Keyed by stems joined with a space: a word or a phrase of the query. */
  meanings: Lookup<readonly Meaning[]>;
  /** Phrases without their stop words, if two words remain: `turn the lights off` contains an extra `the`. */
  loosePhrases: Lookup<readonly Meaning[]>;
  /** Every word of the vocabulary, with the length of the longest phrase that begins with it; 0 if none does. */
  phraseLengths: Lookup<number>;
}

/** Thesaurus that can be serialised. */
export interface CompiledThesaurus extends Thesaurus {
  meanings: ReadonlyMap<string, readonly Meaning[]>;
  loosePhrases: ReadonlyMap<string, readonly Meaning[]>;
  phraseLengths: ReadonlyMap<string, number>;
}

const FAINT = 0.35;
const LESS_SURE = 0.6;

function parseItem(text: string): Meaning {
  const marks = /~*$/.exec(text)?.[0].length ?? 0;
  const words = text
    .slice(0, text.length - marks)
    .trim()
    .toLowerCase()
    .split('_');
  return { stems: words.map(stemOf), weight: marks === 0 ? 1 : marks === 1 ? LESS_SURE : FAINT };
}

export function compileThesaurus(texts: readonly string[]): CompiledThesaurus {
  const meanings = new Map<string, Map<string, Meaning>>();
  const lengths = new Map<string, number>();
  const noteLength = (stems: readonly string[]) => {
    for (const [place, stem] of stems.entries()) {
      const length = place === 0 && stems.length > 1 ? stems.length : 0;
      lengths.set(stem, Math.max(lengths.get(stem) ?? 0, length));
    }
  };
  const add = (from: Meaning, to: Meaning, weight: number) => {
    const key = from.stems.join(' ');
    const target = to.stems.join(' ');
    if (key === target || key === '' || target === '') return;
    noteLength(from.stems);
    for (const stem of to.stems) noteLength([stem]);
    let row = meanings.get(key);
    if (row === undefined) {
      row = new Map();
      meanings.set(key, row);
    }
    const known = row.get(target);
    if (known === undefined || known.weight < weight) row.set(target, { stems: to.stems, weight });
  };
  const items = (list: string) => list.split(',').map((item) => parseItem(item.trim()));
  for (const line of texts.join('\n').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [left = '', right] = line.split('>');
    const sources = items(left);
    if (right === undefined) {
      for (const from of sources) for (const to of sources) add(from, to, Math.min(from.weight, to.weight));
    } else {
      for (const from of sources) for (const to of items(right)) add(from, to, to.weight * from.weight);
    }
  }
  const loose = new Map<string, Meaning[]>();
  for (const [key, row] of meanings) {
    const content = key.split(' ').filter((stem) => !STOP_STEMS.has(stem));
    if (content.length < 2) continue;
    const looseKey = content.join(' ');
    loose.set(looseKey, [...(loose.get(looseKey) ?? []), ...row.values()]);
    noteLength(content);
  }
  return {
    meanings: new Map([...meanings].map(([key, row]) => [key, [...row.values()]])),
    loosePhrases: loose,
    phraseLengths: lengths,
  };
}
