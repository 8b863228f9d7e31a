import { expect, test } from 'vitest';
import { buildRankIndex, rank } from '../../src/ranking/rankIndex.ts';
import { SMALL_CATALOG, SMALL_QUERIES, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);

test('the rankings of a small catalog match the golden file', async () => {
  const blocks = SMALL_QUERIES.map(([query, wanted]) => {
    const { hits, confidence } = rank(index, query, { topK: 5 });
    const lines = hits.map(({ tool }, place) => `  ${place + 1} ${tool.id}${tool.id === wanted ? '  <' : ''}`);
    return [`${query}  (${confidence})`, ...lines].join('\n');
  });
  await expect(`${blocks.join('\n\n')}\n`).toMatchFileSnapshot('./rankings.golden.txt');
});

test('four of five queries rank their tool first, and nearly all in the first five', () => {
  const places = SMALL_QUERIES.map(([query, wanted]) =>
    rank(index, query, { topK: 5 }).hits.findIndex(({ tool }) => tool.id === wanted),
  );
  expect(places.filter((place) => place === 0).length).toBeGreaterThanOrEqual(24);
  expect(places.filter((place) => place >= 0).length).toBeGreaterThanOrEqual(29);
});
