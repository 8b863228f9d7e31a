import fc from 'fast-check';
import { Tiktoken } from 'js-tiktoken/lite';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { describe, expect, it } from 'vitest';
import { countTokens, fitsTokens, prefixHorizon } from '../../src/catalog/tokenizer/tokens.ts';
import { computedMs } from '../support/computedMs.ts';
import { sampleListings } from './sampleListings.ts';

const reference = new Tiktoken(cl100k);
/** Special tokens are ordinary text here. */
const referenceCount = (text: string): number => reference.encode(text, [], []).length;

/** Parts that the pattern treats differently, for all combinations of neighbours. */
const PARTS = [
  ...[
    'a',
    'A',
    'the',
    ' the',
    "'s",
    "'S",
    "'re",
    "'LL",
    "'x",
    "''",
    '’s',
    'ſ',
    'É',
    'e\u0301',
    'ß',
    'İ',
    '日本',
    '説明',
    '한',
  ],
  ...[
    '1',
    '12',
    '1234',
    '٣',
    '½',
    'Ⅷ',
    '𝟘',
    ' ',
    '  ',
    '   ',
    '\t',
    '\n',
    '\r\n',
    '\n\n',
    '\u00a0',
    '\u2028',
    '\u0085',
  ],
  ...['\ufeff', '.', '...', '!?', '_', '-', '--', '/', '<', '<|endoftext|>', '<|fim_prefix|>', '🚀', '👩‍👩‍👧', '🇩🇪'],
  ...['\ud800', '\udc00', '\u0000', '\u200b', '"', '{"a":1}', '`x`', '\\', '—', '…', 'ā', '𐐷', 'ﬁ', 'zqx9', 'deadbeef'],
];
const text = fc.oneof(
  fc.array(fc.constantFrom(...PARTS), { maxLength: 24 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ maxLength: 60 }),
);

describe('countTokens', () => {
  it('agrees with js-tiktoken on texts of every kind', () => {
    fc.assert(
      fc.property(text, (sample) => {
        expect(countTokens(sample)).toBe(referenceCount(sample));
      }),
      { numRuns: 6000, seed: 1 },
    );
  });

  it('agrees with js-tiktoken on long pieces, where the heap is used', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', 'e', 't', 'x', 'é', '語'),
      minLength: 40,
      maxLength: 160,
    });
    fc.assert(
      fc.property(letters, (sample) => {
        expect(countTokens(sample)).toBe(referenceCount(sample));
      }),
      { numRuns: 400, seed: 2 },
    );
    for (const run of ['a', ' ', '\n', '=', '説', '🚀']) {
      for (const length of [47, 48, 49, 200]) {
        expect(countTokens(run.repeat(length)), `${length} × ${run}`).toBe(referenceCount(run.repeat(length)));
      }
    }
  });

  it('agrees with js-tiktoken on descriptions of real tools', () => {
    const descriptions = sampleListings().flatMap(({ tools }) =>
      tools.map((tool) => (tool as { description?: string }).description ?? ''),
    );
    const sample = descriptions.filter((_, at) => at % 8 === 0).map((description) => description.slice(0, 600));
    for (const description of sample) expect(countTokens(description)).toBe(referenceCount(description));
  });

  it('is fast on any input', () => {
    const hostile = {
      letters: 'a'.repeat(10_000),
      spaces: ' '.repeat(10_000),
      'spaces before a word': `${' '.repeat(10_000)}x`,
      cjk: Array.from({ length: 50_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 20_000))).join(''),
      hex: Array.from({ length: 50_000 }, (_, at) => 'abcdef'[(at * at * 31 + at * 7) % 6]).join(''),
    };
    countTokens('warm');
    for (const [name, sample] of Object.entries(hostile)) {
      // About 20 ms each; quadratic work takes minutes.
      expect(
        computedMs(() => countTokens(sample)),
        name,
      ).toBeLessThan(500);
    }
  });
});

/** Runs of white space, whose pieces a cut can change. */
const blank = fc.tuple(fc.constantFrom(' ', '\t', '\n', ' \n', '\r\n'), fc.integer({ min: 1, max: 90 }));
const spaced = fc
  .array(fc.oneof(blank, fc.constant<[string, number]>(['x', 1])), { maxLength: 5 })
  .map((runs) => runs.map(([unit, times]) => unit.repeat(times)).join(''));

describe('limits', () => {
  it('decides whether a text fits, as a full count would', () => {
    fc.assert(
      fc.property(text, fc.nat(30), (sample, limit) => {
        expect(fitsTokens(sample, limit)).toBe(countTokens(sample) <= limit);
      }),
      { numRuns: 1500, seed: 3 },
    );
  });

  it('allows for more white space being fewer tokens', () => {
    // 82 spaces are two tokens and 83 are one: the last space belongs to the following word until it is cut off.
    const text = `x${' '.repeat(83)}y`;
    expect(countTokens(text)).toBe(4);
    expect(countTokens(text.slice(0, 84))).toBe(2);
    expect(prefixHorizon(text, 2)).toBeGreaterThanOrEqual(84);
  });

  it('bounds the length of a fitting prefix', () => {
    fc.assert(
      fc.property(fc.oneof(text, spaced), fc.nat(8), (sample, limit) => {
        const horizon = prefixHorizon(sample, limit);
        if (horizon === undefined) return;
        for (let end = horizon + 1; end <= sample.length; end++) {
          expect(countTokens(sample.slice(0, end))).toBeGreaterThan(limit);
        }
      }),
      { numRuns: 1200, seed: 4 },
    );
  });
});
