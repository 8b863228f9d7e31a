import { expect, test } from 'vitest';
import {
  DIMENSIONS,
  decodeWordTable,
  indexWordTable,
  openWordTable,
  WordTableError,
} from '../../src/ranking/words/wordTable.ts';
import { WORD_TABLE } from './smallCatalog.ts';

function vector(stem: string): number[] {
  const { rows, cells, scales } = decodeWordTable(WORD_TABLE);
  const row = rows.get(stem) as number;
  return Array.from(cells.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS), (cell) => cell * (scales[row] as number));
}

function cosine(a: number[], b: number[]): number {
  const dot = (x: number[], y: number[]) => x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

test('the shipped table matches its notice', () => {
  const table = decodeWordTable(WORD_TABLE);
  expect(table.rows.size).toBe(18_950);
  expect(table.cells).toHaveLength(18_950 * DIMENSIONS);
  expect([...table.rows.keys()].slice(0, 3)).toEqual(['firecrawl', 'scrape', 'web']);
});

test('related words are close, unrelated words are not', () => {
  expect(cosine(vector('remark'), vector('comment'))).toBeCloseTo(0.767, 2);
  expect(cosine(vector('delet'), vector('remov'))).toBeGreaterThan(0.6);
  expect(cosine(vector('delet'), vector('github'))).toBeLessThan(0.4);
});

test('a truncated or random table is rejected in one sentence', () => {
  expect(() => decodeWordTable(new Uint8Array(10))).toThrow(WordTableError);
  expect(() => decodeWordTable(WORD_TABLE.subarray(0, WORD_TABLE.length - 1))).toThrow(WordTableError);
  expect(() => decodeWordTable(new Uint8Array(WORD_TABLE.length).fill(0xff))).toThrow(/word table cannot be read/);
});

test('a table inside a larger buffer is read from its own offset', () => {
  const larger = new Uint8Array(WORD_TABLE.length + 7);
  larger.set(WORD_TABLE, 7);
  const { cells } = decodeWordTable(larger.subarray(7));
  expect(cells.slice(0, 48)).toEqual(decodeWordTable(WORD_TABLE).cells.slice(0, 48));
});

test('a table in a Buffer gives the same result', () => {
  // `slice` of a Buffer copies nothing: its `buffer` would begin with the words.
  const { cells, scales } = decodeWordTable(Buffer.from(WORD_TABLE));
  expect(cells).toEqual(decodeWordTable(WORD_TABLE).cells);
  expect(scales).toEqual(decodeWordTable(WORD_TABLE).scales);
});

test('a table with its index gives the same result', () => {
  const { rows, cells, scales } = decodeWordTable(WORD_TABLE);
  const indexed = openWordTable(Buffer.from(WORD_TABLE), Buffer.from(indexWordTable(WORD_TABLE)));
  expect(indexed.cells).toEqual(cells);
  expect(indexed.scales).toEqual(scales);
  for (const [word, row] of rows) expect(indexed.rows.get(word)).toBe(row);
  const unknown = [...rows.keys()].map((word) => `${word}_`).filter((word) => !rows.has(word));
  expect(unknown.length).toBeGreaterThan(10_000);
  expect(unknown.filter((word) => indexed.rows.has(word))).toEqual([]);
  for (const word of ['', '日本', 'x'.repeat(300)]) expect(indexed.rows.get(word)).toBeUndefined();
});

test('a truncated index is rejected', () => {
  expect(() => openWordTable(WORD_TABLE, new Uint8Array(10))).toThrow(WordTableError);
});
