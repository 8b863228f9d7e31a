import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildRankIndex, explainRanking, rank } from '../../src/ranking/rankIndex.ts';
import { argumentWords } from '../../src/ranking/scoring/toolText.ts';
import { computedMs } from '../support/computedMs.ts';
import { makeTool, SMALL_CATALOG, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);

/** Generous for a slow machine: quadratic work on a megabyte takes minutes. */
const PATIENCE_MS = 10_000;

describe('a hostile query', () => {
  const megabyte = 1_000_000;
  test.each([
    ['one word', 'a'.repeat(megabyte)],
    ['many words', 'list the issues '.repeat(megabyte / 16)],
    ['an unfinished quotation', `"${'x '.repeat(megabyte / 2)}`],
    ['an unfinished address', `http://${'a.'.repeat(megabyte / 2)}`],
    ['an unfinished mail address', `${'a.'.repeat(megabyte / 2)}@`],
    ['slashes', '/a'.repeat(megabyte / 2)],
    ['digits', '1.'.repeat(megabyte / 2)],
    ['select without from', `select ${'a '.repeat(megabyte / 2)}`],
    ['emoji', '🚀'.repeat(megabyte / 4)],
    ['ideographs', '查'.repeat(megabyte / 4)],
    ['accents', `e${'\u0301'.repeat(megabyte / 4)}`],
    ['control characters', '\u0000\u0007\u202e'.repeat(megabyte / 4)],
    ['half surrogates', '\ud800'.repeat(megabyte / 4)],
  ])('of a megabyte, %s, is answered at once', (_, query) => {
    expect(computedMs(() => rank(index, query, { topK: 10 }))).toBeLessThan(PATIENCE_MS);
  });

  test.each(['__proto__', 'constructor', 'toString hasOwnProperty', 'x.__proto__ x.constructor', '.constructor'])(
    '%s finds no prototype',
    (query) => {
      expect(() => rank(index, query, { topK: 10 })).not.toThrow();
      expect(() => explainRanking(index, query, { topK: 10 })).not.toThrow();
    },
  );

  test('of any kind is answered with descending integer scores', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: -3, max: 90 }), (query, topK) => {
        const { hits } = rank(index, query, { topK });
        const scores = hits.map(({ score }) => score);
        expect(scores.every((score) => Number.isInteger(score) && score > 0)).toBe(true);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(hits.length).toBeLessThanOrEqual(Math.max(0, topK));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a hostile catalog', () => {
  const nested = (depth: number): unknown =>
    depth === 0 ? {} : { type: 'object', properties: { inner: nested(depth - 1) } };

  test.each([
    ['no schema', undefined],
    ['a list', []],
    ['a number', 7],
    ['null properties', { properties: null }],
    ['properties that are no schemas', { properties: { a: null, b: 3, c: 'x', d: [] } }],
    ['an enumeration of anything', { properties: { a: { enum: [null, {}, 1, 'valid'] } } }],
    ['deep nesting', nested(5_000)],
    ['wide choice', { anyOf: Array.from({ length: 20_000 }, () => ({ properties: { a: {} } })) }],
    ['own __proto__', JSON.parse('{"properties":{"__proto__":{"description":"pollute"},"constructor":{}}}')],
    [
      'many properties',
      {
        properties: Object.fromEntries(
          Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { description: 'x'.repeat(400) }]),
        ),
      },
    ],
  ])('with %s is indexed', (_, inputSchema) => {
    const tool = { ...makeTool('a', 'walrus_tool'), inputSchema };
    let built = index;
    expect(
      computedMs(() => {
        built = buildRankIndex([tool, ...SMALL_CATALOG], SMALL_SERVERS);
      }),
    ).toBeLessThan(PATIENCE_MS);
    expect(rank(built, 'walrus tool', { topK: 3 }).hits[0]?.tool.id).toBe('a:walrus_tool');
  });

  test('is indexed to a limited part of a schema', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`p${i}`, { description: 'y'.repeat(9_000) }]),
    );
    const { names, texts } = argumentWords({ properties });
    expect(names).toHaveLength(80);
    expect(Math.max(...texts.map((text) => text.length))).toBe(300);
  });

  test('with any text is indexed and searched', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, anyText, anyText), { maxLength: 12 }), anyText, (sketches, query) => {
        const tools = sketches.map(([server, name, description], i) => ({
          ...makeTool(server, name, { description }),
          id: `s:t${i}`,
        }));
        const built = buildRankIndex(tools, []);
        expect(rank(built, query, { topK: 20 }).searched).toBe(tools.length);
      }),
      { numRuns: 200 },
    );
  });

  test('is indexed to a limited part of a description', () => {
    const tool = makeTool('a', 'walrus', { description: '<a href="&amp;'.repeat(70_000) });
    expect(computedMs(() => buildRankIndex([tool], []))).toBeLessThan(PATIENCE_MS);
  });

  test('without tools returns nothing', () => {
    expect(rank(buildRankIndex([], []), 'anything', { topK: 10 })).toMatchObject({
      hits: [],
      confidence: 'none',
      searched: 0,
      nearestNames: [],
    });
  });
});
