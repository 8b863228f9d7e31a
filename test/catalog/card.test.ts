import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CacheStableSession } from '../../src/catalog/cards/cacheStable.ts';
import { type ChoiceCard, capTags, createCard, nodeCard, toCard, uncutCard } from '../../src/catalog/cards/card.ts';
import { cardsWithinBudget, fitCard, responseCapTokens } from '../../src/catalog/cards/cardBudget.ts';
import { cardToJson, renderCardLine, visibleLine } from '../../src/catalog/cards/cardText.ts';
import { truncateToTokens } from '../../src/catalog/cards/truncate.ts';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import { ingestTool } from '../../src/catalog/ingest.ts';
import { countTokens } from '../../src/catalog/tokenizer/tokens.ts';
import { computedMs } from '../support/computedMs.ts';
import { sampleListings } from './sampleListings.ts';

const BANNED = /"(args_schema|inputSchema|output_schema|outputSchema|examples|annotations|metadata|_meta|url|server)"/;

function tool(fields: object) {
  return ingestTool({ name: 'do_it', description: 'Does it.', ...fields }, { server: 's', namespace: 's' }).tool;
}

describe('cards of a catalog', () => {
  const { tools, graph } = buildCatalog(sampleListings());

  it('meet the token target, on one line, without any part of a schema', () => {
    const { cards, omitted } = cardsWithinBudget(tools, toCard);
    expect(omitted).toEqual([]);
    for (const card of cards) {
      const line = renderCardLine(card, 50, 50);
      expect(line).not.toMatch(/[\r\n\t]| {2}/);
      expect(countTokens(line), card.id).toBeLessThanOrEqual(80);
      expect(JSON.stringify(cardToJson(card))).not.toMatch(BANNED);
    }
    const overTarget = cards.filter((card) => countTokens(renderCardLine(card, 1, 1)) > 60);
    expect(overTarget.length).toBeLessThan(cards.length / 100);
    const lines = cards.slice(0, 50).map((card, at) => renderCardLine(card, at + 1, 50));
    expect(countTokens(lines.join('\n'))).toBeLessThanOrEqual(responseCapTokens(50));
  });

  it('of nodes name the path to browse next', () => {
    for (const node of graph.nodes.filter((node) => node.toolId === undefined)) {
      const card = nodeCard(node);
      expect(card).toMatchObject({ id: node.path, kind: 'internal', namespace: '' });
      expect(card.description).toMatch(/^(\d+ tools?: |No tools yet)/);
    }
  });
});

describe('card', () => {
  it('over the cap is set aside, and the others stay', () => {
    const long = `${'x9_zqx9_'.repeat(15)}`;
    const items = [tool({}), tool({ name: long }), tool({ name: 'other' })];
    const { cards, omitted } = cardsWithinBudget(items, toCard);
    expect(cards.map((card) => card.name)).toEqual(['do_it', 'other']);
    expect(omitted).toEqual([{ id: items[1]?.id, reason: expect.stringContaining('80 tokens') }]);
  });

  it('with an error of another kind throws', () => {
    const broken = () => {
      throw new TypeError('a bug');
    };
    expect(() => cardsWithinBudget([tool({})], broken)).toThrow(TypeError);
  });

  it('loses only its description', () => {
    const original = uncutCard(tool({ description: 'word '.repeat(300), annotations: { readOnlyHint: true } }));
    const fitted = fitCard(original);
    expect(fitted).toEqual({ ...original, description: fitted.description });
    expect(fitted.description.endsWith('…')).toBe(true);
  });

  it('omits the score in a prompt, and has it in the JSON', () => {
    const card = toCard(tool({}), 0.5);
    expect(renderCardLine(card, 1, 1)).not.toContain('score');
    expect(renderCardLine(card, 1, 1, { score: true })).toContain(' score=0.50');
    expect(cardToJson(card)).toMatchObject({ score: 0.5 });
    expect(cardToJson(toCard(tool({})))).not.toHaveProperty('score');
  });

  it('shows the title of a tool without a description, or else its name in words', () => {
    expect(toCard(tool({ description: undefined, title: 'Do it' })).description).toBe('Do it');
    expect(toCard(tool({ description: '🚀', name: 'readArticle' })).description).toBe('read article');
  });

  it('cuts a name between characters', () => {
    expect([...uncutCard(tool({ name: '𠮷'.repeat(70) })).name]).toHaveLength(64);
  });

  it('does not compile with banned fields', () => {
    // @ts-expect-error: a card has no schema (G2.2)
    const banned: ChoiceCard = { ...createCard({ id: 'a', name: 'a' }), inputSchema: {} };
    // @ts-expect-error: a card has no other field either
    const unknown: ChoiceCard = { ...createCard({ id: 'a', name: 'a' }), transport: 'stdio' } satisfies ChoiceCard;
    expect([banned, unknown]).toHaveLength(2);
  });
});

describe('tags', () => {
  it('keep safety tags, and stay within the limits', () => {
    const tag = fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('destructive', 'read-only', 'READ_ONLY', 'a'));
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 12 }), (tags) => {
        const capped = capTags(tags);
        expect(capped.length).toBeLessThanOrEqual(5);
        expect(capped.every((one) => [...one].length <= 24)).toBe(true);
        expect(new Set(capped).size).toBe(capped.length);
        for (const safety of ['destructive', 'read-only']) expect(capped.includes(safety)).toBe(tags.includes(safety));
      }),
    );
  });
});

describe('visible text', () => {
  it.each([
    ['  two\n lines\tof  text ', 'two lines of text'],
    ['# Title\nText', 'Title Text'],
    ['🛡️ Guardrails:\n🎯 Purpose: find', 'Guardrails: Purpose: find'],
    ['**Bold** and `code` and 2 * 3 ** 4', 'Bold and `code` and 2 * 3 ** 4'],
    ['AT&amp;T &lt;b&gt;', 'AT&amp;T &lt;b&gt;'],
    ['a\u200bb\u202ec\u{e0041}d\ufe01\u{e0150}', 'abcd'],
    ['I ❤️ it', 'I ❤️ it'],
    ['bell\u0007 and \u009f', 'bell and'],
    ['Ship it 🚀 now', 'Ship it 🚀 now'],
    ['© 2026 them', '© 2026 them'],
    ['可以 查询', '可以 查询'],
    ['C# is not a heading', 'C# is not a heading'],
  ])('%j is %j', (text, shown) => {
    expect(visibleLine(text)).toBe(shown);
  });

  it('is one clean line, and idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const shown = visibleLine(text);
        expect(shown).not.toMatch(/\p{Cc}|[\u200b\u202e]|^\s|\s$|\s\s/u);
      }),
    );
  });

  it('continues if the start of a long text is blank', () => {
    expect(visibleLine(`${' '.repeat(20_000)}Text`)).toBe('Text');
  });
});

describe('truncation', () => {
  const words = fc.array(
    fc.constantFrom('Find', 'the', 'issue.', 'Done!', 'v1.2.3', '説明', '🚀', 'e.g.', '\n', '...', 'x'.repeat(40)),
    {
      maxLength: 60,
    },
  );

  it('fits, and keeps the start', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 40 }), (parts, budget) => {
        const text = parts.join(' ');
        const cut = truncateToTokens(text, budget);
        // Beside a character of several tokens the ellipsis can take one token more than reserved.
        expect(countTokens(cut)).toBeLessThanOrEqual(budget + 2);
        expect(text.startsWith(cut.replace(/…$/, ''))).toBe(true);
        if (countTokens(text) <= budget) expect(cut).toBe(text);
      }),
      { numRuns: 500, seed: 5 },
    );
  });

  it('ends with the last sentence that fits, as an exhaustive search finds it', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 40 }), (parts, budget) => {
        const text = parts.join(' ');
        if (countTokens(text) <= budget) return;
        const ends = Array.from(text.matchAll(/[.!?](?=\s|$)/g), (match) => match.index + 1);
        const best = ends.findLast((end) => countTokens(text.slice(0, end)) <= budget);
        const cut = truncateToTokens(text, budget);
        if (best === undefined) expect(cut.endsWith('…')).toBe(true);
        else expect(cut).toBe(text.slice(0, best));
      }),
      { numRuns: 500, seed: 6 },
    );
  });

  it('cuts between characters', () => {
    for (let budget = 1; budget < 30; budget++) {
      for (const text of ['🚀'.repeat(40), 'a🚀'.repeat(40), '𠮷野家'.repeat(20)]) {
        expect(truncateToTokens(text, budget)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
      }
    }
  });

  it('is fast on a description of a hundred thousand words and on one very long word', () => {
    truncateToTokens('warm up', 1);
    const ms = computedMs(() => {
      truncateToTokens('word '.repeat(100_000), 40);
      truncateToTokens('a'.repeat(500_000), 40);
    });
    // About 400 ms on an idle machine; quadratic work takes hours.
    expect(ms).toBeLessThan(20_000);
  });
});

describe('cache-stable browsing', () => {
  const card = (id: string, score: number) => createCard({ id, name: id, score });
  const ids = (cards: readonly ChoiceCard[]) => cards.map((one) => one.id);

  it('keeps the start of every answer byte for byte', () => {
    const session = new CacheStableSession();
    const first = session.arrange([card('c', 0.9), card('a', 0.1)]);
    expect(ids(first)).toEqual(['a', 'c']);
    const second = session.arrange([card('b', 0.8), card('c', 0.3), card('a', 0.7)]);
    expect(ids(second)).toEqual(['a', 'c', '__cache_breakpoint__', 'b']);
    expect(second.slice(0, 2)).toEqual(first);
  });

  it('has no marker without a boundary', () => {
    const session = new CacheStableSession();
    expect(ids(session.arrange([card('a', 1)]))).toEqual(['a']);
    expect(ids(session.arrange([card('a', 2)]))).toEqual(['a']);
    expect(ids(session.arrange([card('b', 1)]))).toEqual(['b']);
  });

  it('freezes a hydrated tool when it is first shown', () => {
    const session = new CacheStableSession();
    session.recordHydrated('a');
    expect(session.arrange([card('a', 0.1), card('b', 1)])[0]?.score).toBe(0.1);
    expect(session.arrange([card('a', 0.9)])[0]?.score).toBe(0.1);
    session.clear();
    expect(session.seenIds).toEqual([]);
    expect(session.arrange([card('a', 0.9)])[0]?.score).toBe(0.9);
  });
});
