import { describe, expect, it } from 'vitest';
import { halfOf, readCorpus } from './corpus.ts';

const { attacks, negatives } = readCorpus();
const all = [...attacks, ...negatives];

describe('the corpus of the scan', () => {
  it('has at least 150 attacks of twelve kinds and 150 harmless texts that come close', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    expect(negatives.length).toBeGreaterThanOrEqual(150);
    expect(new Set(attacks.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(12);
  });

  it.each(['de', 'fr', 'es', 'pt', 'zh', 'ja'])('has attacks and harmless texts in %s', (language) => {
    expect(attacks.filter((one) => one.language === language).length).toBeGreaterThanOrEqual(10);
    expect(negatives.filter((one) => one.language === language).length).toBeGreaterThanOrEqual(2);
  });

  it('has every text once', () => {
    const texts = all.map(({ tool, text }) => JSON.stringify(tool ?? text));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(
      all.filter(({ tool, surface, text }) => (tool === undefined) !== (surface !== undefined && text !== undefined)),
    ).toEqual([]);
  });

  it('has attacks of nearly every kind in both halves', () => {
    for (const entries of [attacks, negatives]) {
      const share = entries.filter((entry) => halfOf(entry) === 'development').length / entries.length;
      expect(share).toBeGreaterThan(0.4);
      expect(share).toBeLessThan(0.6);
    }
    for (const half of ['development', 'held-out'] as const) {
      expect(new Set(attacks.filter((one) => halfOf(one) === half).map(({ kind }) => kind)).size).toBeGreaterThan(12);
    }
  });
});
