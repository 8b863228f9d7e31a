import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDataSet, replicate, withMore } from '../bench/dataSet.ts';
import { judge } from '../bench/measure.ts';
import { withCompileCache } from '../support/compileCache.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const TOOLS = [
  { server: 'forge', name: 'create_issue', description: 'Open a new issue.', inputSchema: { type: 'object' } },
  { server: 'forge', name: 'list_branches', description: 'List branches.', annotations: { readOnlyHint: true } },
  { server: 'post', name: 'send_parcel', description: 'Send a parcel.' },
];

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function run(name: string, ...args: string[]): string {
  const script = fileURLToPath(new URL(`../bench/${name}`, import.meta.url));
  return execFileSync(process.execPath, [script, ...args], { encoding: 'utf8', env: withCompileCache() });
}
const bench = (...args: string[]) => run('browse.ts', ...args);

describe('bench:browse', () => {
  test('prints one object for a catalog and its queries', () => {
    const tools = file('tools.json', { tools: TOOLS });
    const queries = file('queries.json', [
      { text: 'raise a ticket', gold: ['forge/create_issue'], kind: 'hard' },
      { text: 'list branches', gold: ['forge/list_branches'], kind: 'easy' },
    ]);
    const report = JSON.parse(bench('--tools', tools, '--queries', queries, '--json'));
    expect(Object.keys(report)).toEqual(['waygate', 'minisearch', 'bm25']);
    for (const engine of Object.values<Record<string, unknown>>(report)) {
      expect(Object.keys(engine).sort()).toEqual(
        ['at1', 'at10', 'at5', 'buildMs', 'byKind', 'heapMb', 'mrr', 'p50Us', 'p99Us'].sort(),
      );
    }
    expect(report.waygate).toMatchObject({ at1: 1, at5: 1, at10: 1, mrr: 1 });
    expect(report.waygate.byKind).toMatchObject({ easy: { at1: 1 }, hard: { at1: 1 } });
    expect(report.bm25.byKind).toMatchObject({ easy: { at1: 1 }, hard: { at1: 0 } });
  });

  test('reads tools and queries from one file, and names the judged queries', () => {
    const both = file('both.json', {
      name: 'tiny',
      tools: TOOLS.map((tool) => ({ ...tool, id: `${tool.server}.${tool.name}` })),
      queries: [{ text: 'send a parcel', gold: ['post.send_parcel'] }],
    });
    expect(bench('--tools', both)).toContain('tiny: 3 tools of 2 servers, 1 queries');
  });

  test('explains its usage without a catalog', () => {
    expect(() => bench('--json')).toThrow(/Say which catalog to judge/);
  });
});

describe('bench:words', () => {
  test("judges a user's words beside the agent's words for the same query", () => {
    const tools = file('lodgings.json', {
      tools: [...TOOLS, { server: 'airbnb', name: 'search_listings', description: 'Search Airbnb listings.' }],
    });
    // The name of the file is the name of a set in the fixture, whose first query has the words "Airbnb search listings".
    const queries = file('own-queries.json', [{ text: 'somewhere to sleep', gold: ['airbnb/search_listings'] }]);
    const report = JSON.parse(run('agentWords.ts', '--tools', tools, '--queries', queries, '--json'));
    expect(report.tools).toBe(4);
    expect(report.ways["user's words"]).toMatchObject({ count: 1, at1: 0 });
    expect(report.ways['one wording']).toMatchObject({ count: 1, at1: 1, named: 1, refused: 0 });
    expect(Math.min(...report.noTool)).toBeGreaterThanOrEqual(36);
  });

  test('takes queries without such words as the words of an agent, beside further catalogs', () => {
    const tools = file('real.json', { tools: TOOLS });
    const queries = file('fresh.json', [{ text: 'create issue | open ticket', gold: ['forge/create_issue'] }]);
    const more = file('more.json', { name: 'more', tools: TOOLS, queries: [] });
    const report = JSON.parse(
      run(
        'agentWords.ts',
        '--tools',
        tools,
        '--queries',
        queries,
        '--more',
        more,
        '--words',
        'second-author',
        '--json',
      ),
    );
    expect(report.tools).toBe(6);
    expect(report.ways.wordings).toMatchObject({ count: 1, at1: 1 });
  });

  test('explains its usage without a catalog', () => {
    expect(() => run('agentWords.ts')).toThrow(/Say which catalog to judge/);
  });
});

describe('judging', () => {
  const query = { text: '', gold: ['a', 'b'], kind: 'all' };

  test('accepts one relevant tool; with recall every tool counts', () => {
    const results = [[['x'], ['a']]];
    expect(judge(results, [query], false)).toMatchObject({ at1: 0, at5: 1, at10: 1, mrr: 0.5 });
    expect(judge(results, [query], true)).toMatchObject({ at1: 0, at5: 0.5, at10: 0.5, mrr: 0.5 });
  });

  test('accepts one tool of a group of alternatives', () => {
    const withGroups = { ...query, alt: [['a', 'c'], ['b']] };
    expect(judge([[['c'], ['b']]], [withGroups], true)).toMatchObject({ at1: 1, at5: 1 });
  });

  test('counts a card for its clones', () => {
    expect(judge([[['x', 'a']]], [query], false)).toMatchObject({ at1: 1 });
  });

  test('adds a catalog whose servers have names that are taken', () => {
    const once = loadDataSet(file('once.json', { name: 'once', tools: TOOLS, queries: [] }));
    const both = withMore(once, [once]);
    expect(both.servers.map(({ name }) => name)).toEqual(['forge', 'post', 'forge-2', 'post-2']);
    expect(both.tools.map(({ server }) => server)).toEqual(['forge', 'forge', 'post', 'forge-2', 'forge-2', 'post-2']);
    expect(new Set(both.tools.map(({ id }) => id)).size).toBe(6);
  });

  test('repeats a catalog with other servers and ids, and with clones unless specified otherwise', () => {
    const path = file('repeat.json', { tools: TOOLS, queries: [] });
    const once = loadDataSet(path);
    const thrice = replicate(once, 3);
    expect(new Set(thrice.tools.map(({ id }) => id)).size).toBe(9);
    expect(new Set(thrice.servers.map(({ name }) => name))).toEqual(
      new Set(['forge', 'post', 'forge-2', 'post-2', 'forge-3', 'post-3']),
    );
    expect(new Set(thrice.tools.map(({ description }) => description)).size).toBe(3);
    expect(new Set(replicate(once, 3, true).tools.map(({ description }) => description)).size).toBe(9);
  });
});
