/**
 * Measures how much the words of an agent are worth, beside a user's, on the queries that `fixtures/agent-words.tsv`
 * has words for, and how often requests that no tool serves are called that:
 *   npm run bench:words -- --tools FILE [--queries FILE] [--words NAME] [--more FILE]... [--copies N] [--json]
 * `--queries` is as for `bench:browse`. `--words second-author` takes the words of another author. The queries of a set
 * without such words are an agent's words already. `--more` adds the tools of further catalogs, which makes the search
 * harder.
 * Each way of asking has its share at 1, 5 and 10, the share of queries whose tool is named in the answer at all, and
 * the processor time of a query, beside the same for MiniSearch in the same run.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRankIndex, rank } from '../../src/ranking/rankIndex.ts';
import { loadDataSet, replicate, withMore } from './dataSet.ts';
import { ENGINES, type Searcher } from './engines.ts';
import { judge, percentile } from './measure.ts';

const TOP = 10;
const ROUNDS = 5;

const fixture = (name: string): string[] =>
  readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Reads an author's words for a set of queries, by position. */
function agentWords(author: string, set: string): ReadonlyMap<number, string> {
  const rows = fixture(`${author}.tsv`).map((line) => line.split('\t') as [string, string, string]);
  return new Map(rows.filter(([name]) => name === set).map(([, position, words]) => [Number(position) - 1, words]));
}

/** Ways of asking, from a user's words and an agent's. */
const WAYS: Readonly<Record<string, (raw: string, words: string) => string>> = {
  "user's words": (raw) => raw,
  'one wording': (_, words) => (words.split('|')[0] as string).trim(),
  wordings: (_, words) => words,
  "wordings and user's": (raw, words) => `${words} | ${raw}`,
};

function timed(search: (query: string) => unknown, queries: readonly string[]): number {
  for (const query of queries) search(query);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of queries) {
      const start = performance.now();
      search(query);
      times.push((performance.now() - start) * 1_000);
    }
  }
  return Math.round(
    percentile(
      times.sort((a, b) => a - b),
      0.5,
    ),
  );
}

function main(): void {
  const { values } = parseArgs({
    options: {
      tools: { type: 'string' },
      queries: { type: 'string' },
      words: { type: 'string', default: 'agent-words' },
      more: { type: 'string', multiple: true, default: [] },
      copies: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.tools === undefined) {
    console.error('Say which catalog to judge: npm run bench:words -- --tools FILE [--queries FILE] [--more FILE]…');
    process.exitCode = 2;
    return;
  }
  const data = withMore(
    replicate(loadDataSet(values.tools, values.queries), Number(values.copies), true),
    values.more.map((file) => loadDataSet(file)),
  );
  const words = agentWords(values.words, basename(values.queries ?? values.tools).replace(/\.\w+$/, ''));
  const index = buildRankIndex(data.tools, data.servers);
  const peer = ENGINES.find(({ name }) => name === 'minisearch')?.build(data) as Searcher;
  const asked = data.queries.flatMap((query, place) => {
    const own = words.size === 0 ? query.text : words.get(place);
    return own === undefined ? [] : [{ query, own }];
  });
  const ways = Object.fromEntries(
    Object.entries(WAYS).map(([way, phrase]) => {
      const queries = asked.map(({ query, own }) => phrase(query.text, own));
      const answers = queries.map((query) => rank(index, query, { topK: TOP }));
      const cards = answers.map(({ hits }) => hits.map(({ tool, clones }) => [tool.id, ...clones.map(({ id }) => id)]));
      const named = answers.filter(({ further }, place) =>
        [...(cards[place] as string[][]).flat(), ...further.map(({ id }) => id)].some((id) =>
          asked[place]?.query.gold.includes(id),
        ),
      );
      const {
        count,
        mrr: _,
        ...share
      } = judge(
        cards,
        asked.map(({ query }) => query),
        false,
      );
      const p50Us = timed((query) => rank(index, query, { topK: TOP }), queries);
      const peerUs = timed((query) => peer(query, TOP), queries);
      const refused = answers.filter(refuses).length;
      return [way, { count, ...share, named: named.length / Math.max(1, count), refused, p50Us, peerUs }];
    }),
  );
  const noTool = fixture('no-tool.txt').map((query) => refuses(rank(index, query, { topK: TOP })));
  const half = noTool.length / 2;
  const report = {
    tools: data.tools.length,
    ways,
    noTool: [noTool.slice(0, half), noTool.slice(half)].map((part) => part.filter(Boolean).length),
  };
  console.log(values.json ? JSON.stringify(report) : table(report));
}

/** Returns whether an answer says that the request may have no tool. */
function refuses({ confidence, unmentioned }: ReturnType<typeof rank>): boolean {
  return confidence !== 'good' || unmentioned.length > 0;
}

function table({ tools, ways, noTool }: { tools: number; ways: Record<string, object>; noTool: number[] }): string {
  const rows = Object.entries(ways).map(([way, figures]) => {
    const cells = Object.entries(figures).map(
      ([name, value]) => `${name} ${Number(value).toFixed(3).replace('.000', '')}`,
    );
    return `${way.padEnd(20)} ${cells.join('  ')}`;
  });
  return [`${tools} tools`, ...rows, `requests without a tool, called so: ${noTool.join(' and ')} (of half each)`].join(
    '\n',
  );
}

main();
