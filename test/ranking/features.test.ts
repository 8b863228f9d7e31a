import { describe, expect, test } from 'vitest';
import type { CatalogTool } from '../../src/catalog/types.ts';
import {
  buildRankIndex,
  explainRanking,
  type RankOptions,
  type RankServer,
  rank,
} from '../../src/ranking/rankIndex.ts';
import { makeTool, SMALL_CATALOG, SMALL_SERVERS } from './smallCatalog.ts';

/** Returns the ids found in a catalog of these tools. */
function found(
  tools: readonly CatalogTool[],
  query: string,
  options: Partial<RankOptions> & { servers?: readonly RankServer[] } = {},
): string[] {
  const index = buildRankIndex(tools, options.servers ?? []);
  return rank(index, query, { topK: 10, ...options }).hits.map(({ tool }) => tool.id);
}

/** Other tools, so that common words differ from rare ones. */
const AROUND = SMALL_CATALOG.filter(({ server }) => server === 'docstore' || server === 'podyard');

describe('words', () => {
  test('a platform keeps its joined name: GitLab does not match every git tool', () => {
    const tools = [
      makeTool('vcs', 'git_lab_notes', { description: 'Show the notes of the git lab course.' }),
      makeTool('gitlab', 'list_projects', { description: 'List projects.' }),
      ...AROUND,
    ];
    expect(found(tools, 'projects in GitLab')[0]).toBe('gitlab:list_projects');
  });

  test('identifiers are split at case and digits', () => {
    const tools = [
      makeTool('a', 'listUserRepositories2Go'),
      makeTool('a', 'other', { description: 'Nothing.' }),
      ...AROUND,
    ];
    expect(found(tools, 'repositories')[0]).toBe('a:listUserRepositories2Go');
  });

  test('a word in the name weighs more than in the description, and there more than in the arguments', () => {
    const tools = [
      makeTool('a', 'zeta', { properties: { walrus: {} } }),
      makeTool('b', 'zeta', { description: 'About a walrus.' }),
      makeTool('c', 'walrus'),
      ...AROUND,
    ];
    expect(found(tools, 'walrus')).toEqual(['c:walrus', 'b:zeta', 'a:zeta']);
  });

  test('argument texts, enumerations, titles, tags and server instructions are searched', () => {
    const tools = [
      makeTool('a', 'one', { properties: { x: { description: 'The flavour of quark.' } } }),
      makeTool('a', 'two', { properties: { x: { enum: ['lengthwise', 'upright'] } } }),
      makeTool('a', 'three', { title: 'Mongoose Keeper' }),
      makeTool('a', 'four', { tags: ['kumquat'] }),
      makeTool('b', 'five'),
      ...AROUND,
    ];
    const servers = [{ name: 'b', namespace: 'b', instructions: 'All about porcupines.' }];
    expect(found(tools, 'quark')).toEqual(['a:one']);
    expect(found(tools, 'lengthwise')).toEqual(['a:two']);
    expect(found(tools, 'mongoose')).toEqual(['a:three']);
    expect(found(tools, 'kumquat')).toEqual(['a:four']);
    expect(found(tools, 'porcupine', { servers })).toEqual(['b:five']);
  });

  test('a word deep in a long description does not make a tool the answer', () => {
    const tools = [makeTool('a', 'draw', { description: `Draw. ${'Filler text. '.repeat(400)} zebra` }), ...AROUND];
    expect(found(tools, 'zebra')).toEqual([]);
  });

  test('a typo in an unknown word is corrected; a rare word is not', () => {
    const tools = [
      makeTool('a', 'kubernetify', { description: 'Make it so.' }),
      makeTool('a', 'thicket', { description: 'Bushes.' }),
      ...AROUND,
    ];
    expect(found(tools, 'kubernettify')[0]).toBe('a:kubernetify');
    expect(found(tools, 'kuberentify')[0]).toBe('a:kubernetify');
    expect(found(tools, 'ticket')).not.toContain('a:thicket');
    expect(found(tools, 'sync Thickey')).not.toContain('a:thicket');
    expect(found(tools, 'sync thickey')).toContain('a:thicket');
  });

  test('a compound finds its two words, and two words find their compound', () => {
    const tools = [
      makeTool('a', 'probe', { description: 'Asks for the pulse rate.' }),
      makeTool('a', 'list_moonbeams', { description: 'Rays.' }),
      ...AROUND,
      makeTool('c', 'x1', { description: 'pulse' }),
      makeTool('c', 'x2', { description: 'rate' }),
    ];
    expect(found(tools, 'pulserate')[0]).toBe('a:probe');
    expect(found(tools, 'moon beams')[0]).toBe('a:list_moonbeams');
  });

  test('CJK text is found by pairs of characters', () => {
    const tools = [
      makeTool('a', 'q', { description: '查询天气预报' }),
      makeTool('a', 'r', { description: '发送邮件' }),
      ...AROUND,
    ];
    expect(found(tools, '天气')).toEqual(['a:q']);
  });

  test('accents and full-width forms are folded', () => {
    const tools = [makeTool('a', 'cafe_finder', { description: 'Find a café.' }), ...AROUND];
    expect(found(tools, 'ｃａｆé')[0]).toBe('a:cafe_finder');
  });
});

describe('meanings', () => {
  const issue = makeTool('a', 'create_issue', { description: 'Create an issue.' });

  test('a synonym of the trade matches', () => {
    expect(found([issue, ...AROUND], 'raise a ticket')[0]).toBe('a:create_issue');
  });

  test('an abbreviation matches a phrase if all words of the phrase are present', () => {
    const tools = [
      makeTool('a', 'request_leave', { description: 'Request leave.' }),
      makeTool('a', 'open_pull_request', { description: 'Open one.' }),
      makeTool('a', 'pull_image'),
      makeTool('a', 'pull_lever'),
      makeTool('a', 'pull_weight'),
      ...AROUND,
    ];
    expect(found(tools, 'a PR')).toEqual(['a:open_pull_request']);
  });

  test('a verb and its particle may be separated', () => {
    const tools = [
      makeTool('a', 'disable_rule'),
      makeTool('a', 'enable_rule'),
      makeTool('a', 'describe_rule'),
      ...AROUND,
    ];
    expect(found(tools, 'turn the old rule off')[0]).toBe('a:disable_rule');
  });

  test('five synonyms do not beat the word itself', () => {
    const tools = [
      makeTool('a', 'wipe', { description: 'Delete, erase, purge, destroy and drop.' }),
      makeTool('a', 'remove_badger', { description: 'Remove a badger.' }),
      ...AROUND,
    ];
    expect(found(tools, 'remove the badger')[0]).toBe('a:remove_badger');
  });

  test('a rare synonym does not outweigh a common word', () => {
    const common = Array.from({ length: 12 }, (_, i) => makeTool('a', `issue_${'abcdefghijkl'[i]}q`));
    expect(found([...common, makeTool('b', 'ticket'), ...AROUND], 'issue')[0]).toMatch(/^a:issue/);
  });
});

describe('servers', () => {
  const trio = ['elasticsearch', 'mongodb', 'redis'].map((server) =>
    makeTool(server, 'count', { description: 'Count things.' }),
  );

  test('the named server comes first, also by a prefix of its name', () => {
    expect(found(trio, 'count in redis')[0]).toBe('redis:count');
    expect(found(trio, 'count in elastic')[0]).toBe('elasticsearch:count');
    expect(found(trio, 'count in mongo')[0]).toBe('mongodb:count');
    const two = ['alpha', 'pelicanbase'].map((server) => makeTool(server, 'count', { description: 'Count things.' }));
    expect(found(two, 'count in pelican')[0]).toBe('pelicanbase:count');
  });

  test('a server whose tools match the query comes before other servers', () => {
    const tools = [
      makeTool('a', 'get_status', { description: 'Status.' }),
      makeTool('b', 'get_status', { description: 'Status.' }),
      makeTool('b', 'walrus', { description: 'Walrus.' }),
      makeTool('b', 'walrus_food', { description: 'Feed a walrus.' }),
      ...AROUND,
    ];
    const order = found(tools, 'walrus get status');
    expect(order.indexOf('b:get_status')).toBeLessThan(order.indexOf('a:get_status'));
  });

  test('words of the server do not count as words of the name', () => {
    const tools = [
      makeTool('trello', 'trello_get_cards', { description: 'Cards.' }),
      makeTool('x', 'trello', { description: 'Imports.' }),
      ...AROUND,
    ];
    expect(found(tools, 'cards')[0]).toBe('trello:trello_get_cards');
  });

  test('only tools of the requested server are returned', () => {
    const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
    const { hits } = rank(index, 'list', { topK: 50, server: 'podyard' });
    expect(hits.length).toBeGreaterThan(0);
    expect(new Set(hits.map(({ tool }) => tool.server))).toEqual(new Set(['podyard']));
    expect(rank(index, 'list', { topK: 50, server: 'nowhere' }).hits).toEqual([]);
  });
});

describe('cards', () => {
  const clone = (server: string) =>
    makeTool(server, 'search_notes', { description: 'Search the notes of a notebook by their words.' });

  test('identical tools of several servers are one card that lists them, led by the named server', () => {
    const tools = [clone('notes-a'), clone('notes-b'), clone('pelican'), ...AROUND];
    const index = buildRankIndex(tools, []);
    const plain = rank(index, 'search notes', { topK: 5 }).hits[0];
    expect(plain?.tool.id).toBe('notes-a:search_notes');
    expect(plain?.clones.map(({ id }) => id)).toEqual(['notes-b:search_notes', 'pelican:search_notes']);
    const named = rank(index, 'search notes in pelican', { topK: 5 }).hits[0];
    expect(named?.tool.id).toBe('pelican:search_notes');
    expect(rank(index, 'search notes', { topK: 5, server: 'notes-b' }).hits[0]?.tool.id).toBe('notes-b:search_notes');
  });

  test('releases of a tool that differ in optional arguments are one card; other differences make two', () => {
    const release = (server: string, properties: string[], required: string[], more = '') =>
      makeTool(server, 'draw_walrus', {
        description: `Draws a walrus on the beach, in colour.${more}`,
        properties: Object.fromEntries(properties.map((name) => [name, { type: 'string' }])),
        required,
      });
    const first = release('art-a', ['size', 'pose'], ['size']);
    const cards = (other: CatalogTool) => found([first, other, ...AROUND], 'draw walrus');
    expect(cards(release('art-b', ['size', 'pose', 'theme'], ['size']))).toEqual(['art-a:draw_walrus']);
    expect(cards(release('art-b', ['size'], ['size']))).toEqual(['art-a:draw_walrus']);
    expect(cards(release('art-b', ['size', 'pose', 'theme'], ['size', 'theme']))).toHaveLength(2);
    expect(cards(release('art-b', ['size', 'theme'], ['size']))).toHaveLength(2);
    expect(cards(release('art-b', ['size', 'pose'], ['size'], ' With ice.'))).toHaveLength(2);
  });

  test('equal short texts do not make two tools the same', () => {
    const tools = ['vercel', 'sentry'].map((server) =>
      makeTool(server, 'list_projects', { description: 'List projects' }),
    );
    expect(found(tools, 'list projects')).toHaveLength(2);
  });

  test('a variant of a shown tool is ranked lower', () => {
    const tools = [
      makeTool('a', 'create_quote', { description: 'Create a quote.' }),
      makeTool('a', 'create_quote_v2', { description: 'Create a quote (version 2).' }),
      makeTool('b', 'draw_quote', { description: 'Create a quote.' }),
      ...AROUND,
    ];
    expect(found(tools, 'create a quote').slice(0, 3)).toEqual(['a:create_quote', 'b:draw_quote', 'a:create_quote_v2']);
  });

  test('one server does not fill the list unless the query names it', () => {
    const crowd = Array.from({ length: 12 }, (_, i) =>
      makeTool('crowd', `pick_lemon_${'abcdefghijkl'[i]}x`, {
        description: `Pick a lemon, kind ${'abcdefghijkl'[i]}x.`,
      }),
    );
    const others = ['p', 'q', 'r', 's'].map((server) =>
      makeTool(server, 'pick_lemon_orchard_stall', { description: 'Pick a lemon, any kind, ripe or not.' }),
    );
    const place = (list: string[]) => list.findIndex((id) => !id.startsWith('crowd:'));
    expect(place(found([...crowd, ...others, ...AROUND], 'pick lemon'))).toBe(5);
    const index = buildRankIndex([...crowd, ...others, ...AROUND], []);
    const stoodBack = (query: string) =>
      explainRanking(index, query, { topK: 10 }).hits.filter(
        ({ toolId, contributions }) =>
          toolId.startsWith('crowd:') && contributions.some(({ from }) => from === 'variant or sibling'),
      ).length;
    expect(stoodBack('pick lemon')).toBeGreaterThan(0);
    expect(stoodBack('pick lemon from the crowd')).toBe(0);
  });
});

describe('intent and form', () => {
  test('a query to see something does not offer a writing tool first', () => {
    const tools = [
      makeTool('a', 'alpha', { description: 'Badge of a person.', annotations: { readOnlyHint: false } }),
      makeTool('b', 'beta', { description: 'Badge of a person.', annotations: { readOnlyHint: true } }),
      ...AROUND,
    ];
    expect(found(tools, 'show the badge')[0]).toBe('b:beta');
    expect(found(tools, 'assign the badge')[0]).toBe('a:alpha');
  });

  test('the name with the fewest extra words comes first', () => {
    const tools = [
      makeTool('a', 'get_walrus_migration_archive', { description: 'Walrus.' }),
      makeTool('a', 'get_walrus', { description: 'Walrus migration archive.' }),
      ...AROUND,
    ];
    expect(found(tools, 'get walrus')[0]).toBe('a:get_walrus');
  });

  test('neighbours in the query are neighbours in the name', () => {
    const tools = [
      makeTool('a', 'create_board', { description: 'Create a board for items.' }),
      makeTool('a', 'create_item', { description: 'Create an item on a board, with values for each of its columns.' }),
      ...AROUND,
    ];
    expect(found(tools, 'create item on board')[0]).toBe('a:create_item');
    expect(found(tools, 'create board for item')[0]).toBe('a:create_board');
    expect(found(tools, 'board | create item')[0]).toBe('a:create_item');
  });

  test('the grammatical number of the query decides between singular and plural', () => {
    const badgers = [makeTool('a', 'get_badgers'), makeTool('a', 'get_badger'), ...AROUND];
    expect(found(badgers, 'get badgers')[0]).toBe('a:get_badgers');
    expect(found(badgers, 'get badger')[0]).toBe('a:get_badger');
  });

  test('this holds for forms that the stemmer keeps apart too', () => {
    const tools = [
      makeTool('a', 'get_walruses', { description: 'Of the zoo.' }),
      makeTool('a', 'get_walrus', { description: 'Of the zoo.' }),
      ...AROUND,
    ];
    expect(found(tools, 'get the walruses')[0]).toBe('a:get_walruses');
    expect(found(tools, 'get the walrus')[0]).toBe('a:get_walrus');
  });
});

describe('values in a query', () => {
  test('words in a value count less than other words', () => {
    const tools = [
      makeTool('a', 'budget_report', { description: 'Budget.' }),
      makeTool('a', 'rename_document', { description: 'Give a document another name.' }),
      ...AROUND,
    ];
    expect(found(tools, 'rename the document "budget report"')[0]).toBe('a:rename_document');
  });

  test.each([
    ['-33.8568, 151.2153', 'what_is_there', 'Takes coordinates.'],
    ['anna@example.org', 'deliver', 'Send an email.'],
    ['203.0.113.7', 'lookup_ip', 'Who owns an ip.'],
    ['notes.xlsx', 'opener', 'Opens an excel spreadsheet.'],
    ['SELECT name FROM users', 'ask', 'Runs sql.'],
    ['s3://acme/2026', 'emptier', 'Lists a bucket.'],
  ])('the form of %s is a hint', (query, name, description) => {
    expect(found([makeTool('a', name, { description }), ...AROUND], query)[0]).toBe(`a:${name}`);
  });
});

describe('poor matches', () => {
  const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);

  test('nothing is returned and reported as such if nothing matches', () => {
    expect(rank(index, 'xyzzy plugh', { topK: 10 })).toMatchObject({
      hits: [],
      confidence: 'none',
      searched: 60,
      nearestNames: [],
      further: [],
    });
    expect(rank(index, '', { topK: 10 }).confidence).toBe('none');
    expect(rank(index, 'the of and', { topK: 10 }).hits).toEqual([]);
  });

  test('a poor match is called weak and lists close names', () => {
    const result = rank(index, 'iron my linen trousers before the wedding page', { topK: 10 });
    expect(result.confidence).toBe('weak');
    expect(result.nearestNames.length).toBeGreaterThan(0);
  });

  test('a fair match is called good', () => {
    expect(rank(index, 'list the commits of a branch', { topK: 10 }).confidence).toBe('good');
  });

  test('results far behind the first are dropped', () => {
    const { hits } = rank(index, 'list the commits of a branch', { topK: 50 });
    expect(hits.length).toBeLessThan(50);
    expect(hits.at(-1)?.score).toBeGreaterThanOrEqual(0.3 * (hits[0]?.score ?? 0));
  });
});
