import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compiledVocabulary } from '../../src/ranking/words/vocabulary.ts';

const FOLDER = new URL('../../src/ranking/data/', import.meta.url);
const WORD = "[a-z0-9]+(?:[-'][a-z0-9]+)*";
const ITEM = `${WORD}(?:_${WORD})*~{0,2}`;
const LIST = `${ITEM}(?:, ${ITEM})*`;
const LINE = new RegExp(`^(?:|#.*|${LIST}|${LIST} > ${LIST})$`);

/** Returns the malformed lines of a file, with their numbers. */
const malformed = (text: string): string[] =>
  text.split('\n').flatMap((line, at) => (LINE.test(line) ? [] : [`${at + 1}: ${line}`]));

describe('vocabulary files', () => {
  const files = readdirSync(FOLDER).filter((name) => name !== 'README.md');

  test('are text files', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((name) => !/^[a-z]+\.txt$/.test(name))).toEqual([]);
  });

  test.each(files)('%s has the documented format', (name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    expect(malformed(text)).toEqual([]);
    expect(text.split('\n')[0]).toMatch(/^# \w/);
    expect(text.endsWith('\n')).toBe(true);
  });

  test.each(['a,b', 'a, b > ', ' a, b', 'a > b > c', 'A, b', 'a, , b', 'a~~~, b', 'a\tb, c', 'a=b, c', '_a, b'])(
    'a line like %j is rejected',
    (line) => {
      expect(malformed(`# good\na, b_c~ > d\n${line}\n`)).toEqual([`3: ${line}`]);
    },
  );
});

describe('compiled vocabulary', () => {
  test('contains no word that means itself, and no empty word', () => {
    for (const [key, meanings] of compiledVocabulary().meanings) {
      expect(key).toMatch(/^[^\s_,>~#]+( [^\s_,>~#]+)*$/);
      for (const { stems, weight } of meanings) {
        expect(stems.join(' ')).not.toBe(key);
        expect(weight).toBeGreaterThan(0);
        expect(weight).toBeLessThanOrEqual(1);
      }
    }
  });
});
