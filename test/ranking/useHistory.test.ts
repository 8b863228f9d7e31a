import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildRankIndex, rank } from '../../src/ranking/rankIndex.ts';
import {
  emptyHistory,
  forgetUses,
  learnedFor,
  MAX_HISTORY_ENTRIES,
  MAX_LEARNED,
  parseHistory,
  recordUse,
  serializeHistory,
  type UseHistory,
} from '../../src/ranking/useHistory.ts';
import { makeTool, SMALL_CATALOG, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
const QUERY = 'read a message or file';

function used(times: number, query: string, toolId: string, start: UseHistory = emptyHistory()): UseHistory {
  let history = start;
  for (let i = 0; i < times; i++) history = recordUse(history, query, toolId);
  return history;
}

const order = (history: UseHistory | undefined, query = QUERY) =>
  rank(index, query, { topK: 10, ...(history ? { history } : {}) }).hits.map(({ tool }) => tool.id);

describe('learning from use', () => {
  test('decides between near equals, for the same query and similar queries', () => {
    const twins = ['vercel', 'sentry'].map((server) =>
      makeTool(server, 'list_projects', { description: 'List projects' }),
    );
    const catalog = buildRankIndex([...twins, ...SMALL_CATALOG], SMALL_SERVERS);
    const first = (query: string, history: UseHistory) => rank(catalog, query, { topK: 5, history }).hits[0]?.tool.id;
    const history = used(2, 'list projects', 'vercel:list_projects');
    expect(first('list projects', emptyHistory())).toBe('sentry:list_projects');
    expect(first('list projects', history)).toBe('vercel:list_projects');
    expect(first('list all my projects', history)).toBe('vercel:list_projects');
    expect(first('projects of a customer with overdue invoices', history)).toBe(
      first('projects of a customer with overdue invoices', emptyHistory()),
    );
  });

  test('prefers the used tool among identical tools', () => {
    const clone = (server: string) =>
      makeTool(server, 'search_notes', { description: 'Search the notes of a notebook.' });
    const catalog = buildRankIndex([clone('a'), clone('b')], []);
    const history = used(1, 'search notes', 'b:search_notes');
    expect(rank(catalog, 'search notes', { topK: 1 }).hits[0]?.tool.id).toBe('a:search_notes');
    expect(rank(catalog, 'search notes', { topK: 1, history }).hits[0]?.tool.id).toBe('b:search_notes');
  });

  test('is bounded, however often a tool is used', () => {
    const history = used(500, 'list containers on this host', 'daybook:delete_event');
    expect(Math.max(...learnedFor(history, 'list containers on this host').values())).toBeLessThanOrEqual(MAX_LEARNED);
    expect(order(history, 'list containers on this host')[0]).toBe('podyard:list_containers');
  });

  test('grows with use', () => {
    const value = (times: number) => learnedFor(used(times, QUERY, 'a:b'), QUERY).get('a:b') ?? 0;
    expect(value(1)).toBeGreaterThan(0);
    expect(value(4)).toBeGreaterThan(value(1));
  });

  test('gives the same order for the same history, and ignores missing tools', () => {
    const history = used(3, QUERY, 'gone:tool', used(2, QUERY, 'docstore:read_file'));
    expect(order(history)).toEqual(order(parseHistory(serializeHistory(history))));
  });

  test('can be erased, for one tool or all', () => {
    const history = used(1, QUERY, 'x:y', used(1, QUERY, 'a:b'));
    expect([...learnedFor(forgetUses(history, 'a:b'), QUERY).keys()]).toEqual(['x:y']);
    expect(forgetUses(history)).toEqual(emptyHistory());
  });

  test('keeps a bounded number of entries, with nothing of a query but its stems', () => {
    let history = emptyHistory();
    for (let i = 0; i < MAX_HISTORY_ENTRIES + 50; i++)
      history = recordUse(history, `thing${'x'.repeat(i % 20)} number${i}`, `a:t${i}`);
    expect(history.entries).toHaveLength(MAX_HISTORY_ENTRIES);
    expect(history.entries.at(-1)?.toolId).toBe(`a:t${MAX_HISTORY_ENTRIES + 49}`);
    expect(recordUse(emptyHistory(), 'Send the invoices to Bob', 'a:b').entries).toEqual([
      { words: ['bob', 'invoic', 'send'], toolId: 'a:b', uses: 1 },
    ]);
    expect(recordUse(emptyHistory(), 'the of', 'a:b')).toEqual(emptyHistory());
  });
});

describe('a stored history', () => {
  test('is read unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 30 }), (uses) => {
        let history = emptyHistory();
        for (const [query, id] of uses) history = recordUse(history, query, id);
        expect(parseHistory(serializeHistory(history))).toEqual(history);
      }),
    );
  });

  test.each([
    '',
    'null',
    '[]',
    '{"entries":7}',
    '{"entries":[null,{"words":"x"},{"words":[],"toolId":"a","uses":1},{"words":["x"],"toolId":1,"uses":1},{"words":["x"],"toolId":"a","uses":0.5}]}',
  ])('is empty if it is invalid: %s', (text) => expect(parseHistory(text)).toEqual(emptyHistory()));
});
