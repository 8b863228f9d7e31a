import { expect, test } from 'vitest';
import { buildRankIndex, explainRanking, rank } from '../../src/ranking/rankIndex.ts';
import { recordUse } from '../../src/ranking/useHistory.ts';
import { makeTool, SMALL_CATALOG, SMALL_QUERIES, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
const sum = (amounts: readonly { amount: number }[]) => amounts.reduce((total, { amount }) => total + amount, 0);

test('the contributions add up to the score of a hit, with nearly no rounding', () => {
  const history = recordUse({ entries: [] }, 'bill the client', 'ledgerBook:create_invoice_v2');
  for (const [query] of SMALL_QUERIES) {
    const options = { topK: 10, history };
    const { hits } = explainRanking(index, query, options);
    expect(hits.map(({ toolId, score }) => [toolId, score])).toEqual(
      rank(index, query, options).hits.map(({ tool, score }) => [tool.id, score]),
    );
    for (const { score, contributions } of hits) {
      expect(sum(contributions)).toBeCloseTo(score, 3);
      expect(Math.abs(sum(contributions.filter(({ from }) => from === 'rounding')))).toBeLessThan(3);
    }
  }
});

test('lists the words with their fields, the expansions, the server and the intent', () => {
  const { hits, words, concepts, intent } = explainRanking(index, 'throw away the invoice, ledgerBook', { topK: 3 });
  const all = hits.flatMap(({ contributions }) => contributions);
  expect(words.find(({ word }) => word === 'invoice')).toEqual({ word: 'invoice', known: true, stop: false });
  expect(concepts.find(({ asked }) => asked === 'throw away')?.standsFor).toContain('delet');
  expect(intent).toBe('unknown');
  expect(all).toContainEqual(
    expect.objectContaining({ from: 'word', what: 'invoic', fields: expect.arrayContaining(['name', 'description']) }),
  );
  expect(all).toContainEqual(expect.objectContaining({ from: 'server named', what: 'ledgerBook' }));
});

test('marks a variant that is ranked lower', () => {
  const { hits } = explainRanking(index, 'create an invoice for a customer', { topK: 10 });
  const variant = hits.find(({ toolId }) => toolId === 'ledgerBook:create_invoice_v2');
  expect(variant?.contributions).toContainEqual(
    expect.objectContaining({ from: 'variant or sibling', what: 'times 0.6' }),
  );
});

test('explains an empty catalog and an empty query', () => {
  expect(explainRanking(buildRankIndex([], []), 'anything', { topK: 5 }).hits).toEqual([]);
  expect(explainRanking(buildRankIndex([makeTool('a', 'b')], []), '', { topK: 5 }).hits).toEqual([]);
});
