/**
 * Measures the time to build the catalog: `node test/bench/catalog.ts [--tools FILE]`. FILE has the form of
 * `shared/data/catalog/real-tools.json`; without it the tools are generated. Three copies of every server under other
 * names make about ten thousand tools. Cold is the first run in the process, warm the median of the other runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { toCard } from '../../src/catalog/cards/card.ts';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import { groupBy } from '../../src/catalog/cluster.ts';
import { countTokens } from '../../src/catalog/tokenizer/tokens.ts';
import type { ServerListing } from '../../src/catalog/types.ts';
import { generatedListings } from '../catalog/sampleListings.ts';

const { values } = parseArgs({
  options: { tools: { type: 'string', default: '../shared/data/catalog/real-tools.json' } },
});
const ROUNDS = 8;
const COPIES = ['', 'second-', 'third-'];

const listings = COPIES.flatMap((prefix) =>
  readListings(values.tools).map((listing) => ({ ...listing, server: prefix + listing.server })),
);
const firstCatalog = buildCatalog(listings);
console.log(`${firstCatalog.tools.length} tools of ${firstCatalog.servers.length} servers`);

report('build without graph', () => buildCatalog(listings).tools.length);
report('build with graph', () => buildCatalog(listings).graph.nodes.length);
const json = JSON.stringify(listings);
report('for comparison: JSON.parse of the listings', () => JSON.parse(json).length);

report('first token counted, ranks loaded', () => countTokens('a'), 1);
const descriptions = firstCatalog.tools.map((tool) => tool.description);
const tokens = descriptions.reduce((sum, description) => sum + countTokens(description), 0);
const perSecond = tokens / (median(timed(() => descriptions.map(countTokens).length)) / 1000);
console.log(`tokens: ${tokens} in descriptions, ${(perSecond / 1e6).toFixed(1)} million a second`);
for (const [name, text] of Object.entries({
  '10,000 × a': 'a'.repeat(10_000),
  '10,000 spaces': ' '.repeat(10_000),
  '50,000 CJK': Array.from({ length: 50_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 20_000))).join(
    '',
  ),
  '50,000 hex': Array.from({ length: 50_000 }, (_, at) => 'abcdef'[(at * at * 31 + at * 7) % 6]).join(''),
})) {
  report(`count ${name}`, () => countTokens(text));
}

const fresh = buildCatalog(listings);
const start = performance.now();
let cards = 0;
for (const tool of fresh.tools) cards += toCard(tool).description.length > 0 ? 1 : 0;
console.log(
  `cards: ${(((performance.now() - start) * 1000) / fresh.tools.length).toFixed(0)} µs each, ${cards} in all`,
);

function report(what: string, run: () => number, rounds = ROUNDS): void {
  const [cold, ...warm] = timed(run, rounds) as [number, ...number[]];
  const rest = warm.length > 0 ? `, warm ${median(warm).toFixed(1)} ms` : '';
  console.log(`${what}: cold ${cold.toFixed(1)} ms${rest}`);
}

function timed(run: () => number, rounds = ROUNDS): number[] {
  return Array.from({ length: rounds }, () => {
    const begin = performance.now();
    run();
    return performance.now() - begin;
  });
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
}

function readListings(path: string): ServerListing[] {
  if (!existsSync(path)) return generatedListings(55, 60);
  const { tools } = JSON.parse(readFileSync(path, 'utf8')) as { tools: { server: string }[] };
  return Array.from(
    groupBy(tools, (tool) => tool.server),
    ([server, own]) => ({ server, tools: own }),
  );
}
