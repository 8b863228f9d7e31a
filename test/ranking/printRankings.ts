/** Prints the rankings of the small catalog as JSON; `determinism.test.ts` runs it in other locales. */
import { buildRankIndex, rank } from '../../src/ranking/rankIndex.ts';
import { SMALL_CATALOG, SMALL_QUERIES, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
const upperCase = SMALL_QUERIES.map(([query]) => query.toUpperCase());
const rankings = [...SMALL_QUERIES.map(([query]) => query), ...upperCase].map((query) =>
  rank(index, query, { topK: 10 }).hits.map(({ tool, score }) => [tool.id, score]),
);
process.stdout.write(JSON.stringify({ locale: Intl.DateTimeFormat().resolvedOptions().locale, rankings }));
