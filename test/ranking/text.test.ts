import { expect, test } from 'vitest';
import { analyzeWord, documentStems, eachRawWord, foldText } from '../../src/ranking/words/text.ts';

function rawWords(text: string): string[] {
  const words: string[] = [];
  eachRawWord(text, (word) => words.push(word));
  return words;
}

test.each([
  ['get_issue-list.v2', ['get', 'issue', 'list', 'v2']],
  ["don't e-mail", ['don', 't', 'e', 'mail']],
  ['查询天气 ok', ['查询', '询天', '天气', 'ok']],
  ['a🚀b', ['a', 'b']],
  ['', []],
])('%s is split into words', (text, words) => {
  expect(rawWords(text)).toEqual(words);
});

test.each([
  ['GitHub', ['git', 'hub', 'github']],
  ['listAPIKeys', ['list', 'api', 'kei', 'listapikei']],
  ['PRs', ['pr']],
  ['k8s', ['k8s']],
  ['S3', ['s3']],
  ['sha256', ['sha', '256', 'sha256']],
  ['aVeryLongIdentifierOfManyParts', ['a', 'veri', 'long', 'identifi', 'of', 'mani', 'part']],
])('%s gives its parts, and itself if it can be a name', (raw, stems) => {
  expect(documentStems(analyzeWord(raw))).toEqual(stems);
});

test('folding leaves plain text unchanged', () => {
  const text = 'Plain text, 100 %.';
  expect(foldText(text)).toBe(text);
  expect(foldText('Zürich ﬁle')).toBe('Zurich file');
});

test('an overlong word is shortened', () => {
  expect(analyzeWord('x'.repeat(5_000)).lower).toHaveLength(40);
});
