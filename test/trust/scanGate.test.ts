import { describe, expect, it } from 'vitest';
import { table } from '../../src/text/porcelain.ts';
import { type Finding, SCAN_RULES, type ScanRule, type Tier } from '../../src/trust/scan/finding.ts';
import { OtherTools } from '../../src/trust/scan/names.ts';
import { scanText, scanTool } from '../../src/trust/scan/scan.ts';
import { sampleListings, shuffled } from '../catalog/sampleListings.ts';
import { type CorpusEntry, halfOf, readCorpus } from './corpus.ts';

const { attacks, negatives, reviewerAttacks, reviewerNegatives } = readCorpus();
const halves = ['development', 'held-out'] as const;
const RULES = Object.keys(SCAN_RULES) as readonly ScanRule[];

function scan({ tool, surface, text, others = [] }: CorpusEntry): Finding[] {
  const names = new OtherTools(others);
  return tool ? scanTool(tool, 'own', names) : scanText(surface ?? 'prompt', text ?? '', 'own', names);
}

const tierOf = (findings: readonly Finding[]): Tier | undefined =>
  findings.some(({ tier }) => tier === 'hard') ? 'hard' : findings[0]?.tier;

/** Results of a set of scans, by tier and by rule. */
function tally(scans: readonly (readonly Finding[])[]) {
  const tiers = scans.map(tierOf);
  const hard = tiers.filter((tier) => tier === 'hard').length;
  const soft = tiers.filter((tier) => tier === 'soft').length;
  const byRule = (rule: ScanRule) => scans.filter((findings) => findings.some((one) => one.rule === rule)).length;
  return { count: scans.length, hard, soft, found: (hard + soft) / scans.length, byRule };
}

const developed = attacks.filter((one) => halfOf(one) === 'development');
const heldOut = attacks.filter((one) => halfOf(one) === 'held-out');
const listings = sampleListings();
const others = new OtherTools(
  listings.flatMap(({ server, tools }) => tools.map((tool) => ({ server, name: (tool as { name: string }).name }))),
);
const real = listings.flatMap(({ server, tools }) =>
  tools.map((listed) => {
    const { server: _, ...tool } = listed as Record<string, unknown>;
    return scanTool(tool, server, others);
  }),
);

const columns = {
  'attacks, development': tally(developed.map(scan)),
  'attacks, held-out': tally(heldOut.map(scan)),
  'harmless, development': tally(negatives.filter((one) => halfOf(one) === 'development').map(scan)),
  'harmless, held-out': tally(negatives.filter((one) => halfOf(one) === 'held-out').map(scan)),
  'attacks, reviewer': tally(reviewerAttacks.map(scan)),
  'harmless, reviewer': tally(reviewerNegatives.map(scan)),
  'listed tools': tally(real),
};

describe('the gate of the scan', () => {
  it('prints the findings of each rule, of which every one finds an attack', () => {
    const sets = Object.values(columns);
    const share = ({ found }: (typeof sets)[0]): string => `${(found * 100).toFixed(2)} %`;
    const rows = [
      ['scanned', ...sets.map(({ count }) => count)],
      ['hard', ...sets.map(({ hard }) => hard)],
      ['soft alone', ...sets.map(({ soft }) => soft)],
      ['found', ...sets.map(share)],
      ...RULES.map((rule) => [`${rule} ${SCAN_RULES[rule]}`, ...sets.map(({ byRule }) => byRule(rule))]),
    ];
    process.stdout.write(`\n${table(['', ...Object.keys(columns)], rows).join('\n')}\n`);
    const [development, held] = sets as [(typeof sets)[0], (typeof sets)[0]];
    expect(RULES.filter((rule) => development.byRule(rule) + held.byRule(rule) === 0)).toEqual([]);
  });

  it.each(halves)('finds at least 95 percent of the attacks of the %s half', (half) => {
    expect(columns[`attacks, ${half}`].found).toBeGreaterThanOrEqual(0.95);
  });

  it('finds at least 95 percent of the attacks of a reviewer, and takes none of his harmless texts for one', () => {
    expect(columns['attacks, reviewer'].found).toBeGreaterThanOrEqual(0.95);
    expect(columns['harmless, reviewer'].hard).toBe(0);
  });

  it('has at most 0.1 percent hard and 1.5 percent soft findings in listed tools', () => {
    const { count, hard, soft } = columns['listed tools'];
    expect(count).toBeGreaterThan(700);
    expect(hard / count).toBeLessThanOrEqual(0.001);
    expect(soft / count).toBeLessThanOrEqual(0.015);
  });

  it.each(halves)('takes few harmless texts of the %s half for attacks', (half) => {
    const { count, hard } = columns[`harmless, ${half}`];
    expect(hard / count).toBeLessThanOrEqual(0.05);
  });

  it('gives the same bytes for every order of tools and keys', () => {
    const entries = [...attacks, ...negatives].filter((_, at) => at % 9 === 0);
    const first = JSON.stringify(entries.map(scan));
    for (let seed = 0; seed < 100; seed++) {
      const byId = new Map(shuffled(entries, seed).map((entry) => [entry.id, scan(reordered(entry, seed))]));
      expect(JSON.stringify(entries.map(({ id }) => byId.get(id)))).toBe(first);
    }
  });
});

/** Returns a value with the keys of every object in another order. */
function reordered<T>(value: T, seed: number): T {
  if (Array.isArray(value)) return value.map((item) => reordered(item, seed)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    shuffled(Object.entries(value), seed).map(([key, item]) => [key, reordered(item, seed)]),
  ) as T;
}
