import { describe, expect, test } from 'vitest';
import { compileThesaurus } from '../../src/ranking/words/thesaurus.ts';
import { readThesaurus, writeThesaurus } from '../../src/ranking/words/thesaurusText.ts';
import { compiledVocabulary } from '../../src/ranking/words/vocabulary.ts';

describe('a serialised thesaurus', () => {
  const compiled = compiledVocabulary();
  const read = readThesaurus(writeThesaurus(compiled));

  test.each(['meanings', 'loosePhrases', 'phraseLengths'] as const)('has the same %s, in the same order', (part) => {
    expect(compiled[part].size).toBeGreaterThan(500);
    for (const [key, value] of compiled[part]) {
      expect(read[part].has(key)).toBe(true);
      expect(read[part].get(key)).toEqual(value);
    }
  });

  test('contains nothing else', () => {
    for (const part of ['meanings', 'loosePhrases', 'phraseLengths'] as const) {
      for (const key of ['', 'zyxwv', 'delet\tremov', 'constructor']) {
        expect(read[part].has(key)).toBe(false);
        expect(read[part].get(key)).toBeUndefined();
      }
    }
  });

  test('keeps the weights', () => {
    const { meanings } = readThesaurus(writeThesaurus(compileThesaurus(['a1, b2~ > c3~, d_e~~'])));
    expect(meanings.get('b2')).toEqual([
      { stems: ['c3'], weight: 0.6 * 0.6 },
      { stems: ['d', 'e'], weight: 0.35 * 0.6 },
    ]);
  });

  test('of nothing is empty', () => {
    expect(readThesaurus(writeThesaurus(compileThesaurus([]))).meanings.has('a')).toBe(false);
  });

  test('rejects a word that would be parsed differently', () => {
    expect(() => writeThesaurus(compileThesaurus(['k=v, pair']))).toThrow(/vocabulary has a word with/);
  });
});
