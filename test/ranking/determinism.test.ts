import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildRankIndex, type RankIndex, rank } from '../../src/ranking/rankIndex.ts';
import { withCompileCache } from '../support/compileCache.ts';
import { SMALL_CATALOG, SMALL_QUERIES, SMALL_SERVERS } from './smallCatalog.ts';

function rankings(index: RankIndex): string {
  return JSON.stringify(
    SMALL_QUERIES.map(([query]) => rank(index, query, { topK: 10 }).hits.map(({ tool, score }) => [tool.id, score])),
  );
}

const expected = rankings(buildRankIndex(SMALL_CATALOG, SMALL_SERVERS));

test('the order of tools and servers changes nothing', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...SMALL_CATALOG], { minLength: SMALL_CATALOG.length }),
      fc.shuffledSubarray([...SMALL_SERVERS], { minLength: SMALL_SERVERS.length }),
      (tools, servers) => rankings(buildRankIndex(tools, servers)) === expected,
    ),
    { numRuns: 10 },
  );
});

test('earlier queries change nothing', () => {
  const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
  for (const [query] of [...SMALL_QUERIES].reverse()) rank(index, `${query} zzzz`, { topK: 3 });
  expect(rankings(index)).toBe(expected);
});

test('the locale of the machine changes nothing', () => {
  const script = fileURLToPath(new URL('./printRankings.ts', import.meta.url));
  const run = (locale: string) =>
    JSON.parse(
      execFileSync(process.execPath, [script], {
        encoding: 'utf8',
        env: withCompileCache({ ...process.env, LC_ALL: locale, LANG: locale }),
      }),
    ) as { locale: string; rankings: unknown };
  const turkish = run('tr_TR.UTF-8');
  expect(turkish.locale).toMatch(/^tr/);
  expect(turkish.rankings).toEqual(run('en_US.UTF-8').rankings);
});

test('scores are descending integers; equal scores are ordered by id', () => {
  const twins = ['delta', 'alpha', 'charlie', 'bravo'].map((server) => ({
    ...(SMALL_CATALOG[0] as (typeof SMALL_CATALOG)[number]),
    id: `${server}:same`,
    server: 'same',
    namespace: 'same',
    upstreamName: 'same_thing',
    description: 'Short text.',
  }));
  const { hits } = rank(buildRankIndex(twins, []), 'same thing', { topK: 10 });
  expect(new Set(hits.map(({ score }) => Number.isInteger(score)))).toEqual(new Set([true]));
  const [first, ...rest] = hits;
  expect(first?.tool.id).toBe('alpha:same');
  expect(rest.map(({ tool }) => tool.id)).toEqual(['bravo:same', 'charlie:same', 'delta:same']);
  expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
});
