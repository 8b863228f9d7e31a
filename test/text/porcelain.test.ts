import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorText, GatewayError } from '../../src/errors/gatewayError.ts';
import { compareBuilds } from '../../src/lib/build.ts';
import { contractOf } from '../../src/replay/replay.ts';
import { boundData } from '../../src/text/boundData.ts';
import { nearest } from '../../src/text/nearest.ts';
import {
  boundText,
  count,
  duration,
  firstLines,
  groupDigits,
  inLines,
  latency,
  oneLine,
  quoted,
  shortened,
  table,
} from '../../src/text/porcelain.ts';
import { visibleJson } from '../../src/text/visibleText.ts';

describe('porcelain', () => {
  it('bounds a text without splitting a character', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '😀', '\n', 'é'), maxLength: 400 });
    fc.assert(
      fc.property(text, fc.integer({ min: 60, max: 300 }), (whole, limit) => {
        const bounded = boundText(whole, limit);
        expect(bounded.length).toBeLessThanOrEqual(limit);
        expect(bounded).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
        if (whole.length <= limit) expect(bounded).toBe(whole);
      }),
      { seed: 5, numRuns: 1_000 },
    );
  });

  it('states how much it omitted', () => {
    expect(boundText('x'.repeat(200), 100)).toBe(`${'x'.repeat(60)}\n… 140 more characters`);
  });

  it('makes one line of any text', () => {
    expect(oneLine(' a\u0000b\n\tc\u009b ')).toBe('a b c');
    expect(oneLine('x'.repeat(20), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(oneLine('a\u2028b\u202ec\u{e0041}')).toBe('a b\\u202ec\\u{e0041}');
  });

  it('quotes a name so that its end is visible, and makes the texts of a report single lines', () => {
    expect(quoted('a"\nb\u202e')).toBe('"a\\"\\nb\\u202e"');
    expect(quoted('x'.repeat(100))).toBe(`"${'x'.repeat(59)}…"`);
    expect(inLines({ 'a\nb': ['c\nd', 1] })).toEqual({ 'a b': ['c d', 1] });
  });

  it('shortens to the limit with a mark, without splitting a character', () => {
    expect([shortened('abc', 3), shortened('abcd', 3), shortened('a😀b', 3)]).toEqual(['abc', 'ab…', 'a…']);
  });

  it('formats times and latencies with sensible precision', () => {
    expect([0, 119_400, 180_000, 7_199_000, 7_200_000, -5].map(duration)).toEqual([
      '0 s',
      '119 s',
      '3 min',
      '2 h',
      '2 h',
      '0 s',
    ]);
    expect([0, 0.4321, 12.345, 999, 1_500].map(latency)).toEqual(['0 ms', '0.432 ms', '12.3 ms', '999 ms', '1.5 s']);
  });

  it('formats a table: numbers to the right and grouped, texts to the left, no trailing space', () => {
    expect(
      table(
        ['tool', 'calls', 'last'],
        [
          ['a', 1_234, '1 ms'],
          ['longer', 7, ''],
        ],
      ),
    ).toEqual(['tool    calls  last', 'a       1,234  1 ms', 'longer      7']);
  });

  it('states how many lines it omitted', () => {
    expect(firstLines(['a', 'b', 'c'], 3)).toEqual(['a', 'b', 'c']);
    expect(firstLines(['a', 'b', 'c'], 1)).toEqual(['a', '… 2 lines omitted']);
  });

  it('formats counts with singular, plural and digit groups', () => {
    expect([count(1, 'tool'), count(0, 'tool'), count(3288, 'tool'), count(2, 'entry', 'entries')]).toEqual([
      '1 tool',
      '0 tools',
      '3,288 tools',
      '2 entries',
    ]);
    expect([999, 1000, 1234567].map(groupDigits)).toEqual(['999', '1,000', '1,234,567']);
  });

  it('renders an error with its advice', () => {
    const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'It is gone.', { path: 'x', details: { a: 1, b: 'c' } });
    expect(errorText(error)).toBe(
      'Error UPSTREAM_UNAVAILABLE: It is gone.\na: 1\nb: c\nretryable: the same call may succeed later',
    );
    expect(error.toObject()).toEqual({
      error: 'UPSTREAM_UNAVAILABLE',
      message: 'It is gone.',
      path: 'x',
      retryable: true,
      details: { a: 1, b: 'c' },
    });
    expect(new GatewayError('ARGS_INVALID', 'No.', { details: {} }).toObject()).not.toHaveProperty('details');
  });
});

describe('overlong data', () => {
  it('counts the escapes of hidden characters', () => {
    const cards = Array.from({ length: 30 }, () => '\u202e'.repeat(100));
    expect(visibleJson(boundData({ cards })).length).toBeLessThan(8_000);
  });

  it('always fits, and stays unchanged if it is short', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })),
        fc.integer({ min: 30, max: 2_000 }),
        (data, limit) => {
          const bounded = boundData(data, limit);
          expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(limit);
          if (JSON.stringify(data).length <= limit) expect(bounded).toBe(data);
          else expect(bounded).toMatchObject({ truncated: true });
        },
      ),
      { seed: 6, numRuns: 500 },
    );
  });

  it('loses the ends of texts before members, and never an id', () => {
    const cards = Array.from({ length: 20 }, (_, i) => ({ id: `server:tool_${i}#abcdef01`, text: 'x'.repeat(2_000) }));
    const { cards: kept } = boundData({ cards }) as { cards: typeof cards };
    expect(kept.map(({ id }) => id)).toEqual(cards.map(({ id }) => id));
  });

  it('may be too deep for serialization', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(boundData({ deep })).length).toBeLessThan(8_000);
  });
});

describe('a mistyped word', () => {
  it.each([
    ['serv', ['serve', 'status'], 'serve'],
    ['stauts', ['serve', 'status'], 'status'],
    ['SERVE', ['serve'], 'serve'],
    ['xyz', ['serve', 'status'], undefined],
    ['ab', ['ac', 'ad'], 'ac'],
    ['', ['a'], 'a'],
    ['a'.repeat(40), [`${'a'.repeat(32)}bbbbbbbb`], `${'a'.repeat(32)}bbbbbbbb`],
    ['a'.repeat(40), [`${'a'.repeat(31)}bbbbbbbbb`], undefined],
    ['abcdefghijkl', ['badcfehgjilk', 'bacdefghijlk'], 'bacdefghijlk'],
  ])('%j of %j is %j', (word, known, meant) => {
    expect(nearest(word, known)).toBe(meant);
  });
});

describe('builds', () => {
  it('are ordered by version, then by build time', () => {
    const order = ['nonsense', '0.1.0+20260101000000', '0.1.0+20260102000000', '0.2.0-beta.1+1', '0.10.0+0', '1.0.0+0'];
    for (let i = 1; i < order.length; i++) {
      expect(compareBuilds(order[i - 1] as string, order[i] as string)).toBeLessThan(0);
      expect(compareBuilds(order[i] as string, order[i - 1] as string)).toBeGreaterThan(0);
    }
    expect(compareBuilds('0.1.0+5', '0.1.0+5')).toBe(0);
  });
});

describe('replay contracts', () => {
  it.each([
    ['tools/list', 'convergent'],
    ['resources/subscribe', 'convergent'],
    ['resources/unsubscribe', 'convergent'],
    ['tasks/get', 'convergent'],
    ['tasks/result', 'convergent'],
    ['tasks/cancel', 'convergent'],
    ['tools/call', 'never_replay'],
    ['something/new', 'never_replay'],
  ])('%s is %s', (method, contract) => {
    expect(contractOf(method)).toBe(contract);
  });
});
