import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildCatalog, type Catalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/catalogError.ts';
import { fitSegment, formatPath, parsePath } from '../../src/catalog/path.ts';
import type { GraphNode, ServerListing } from '../../src/catalog/types.ts';
import { generatedListings, sampleListings } from './sampleListings.ts';

const catalogOf = (server: string, names: readonly string[]): Catalog =>
  buildCatalog([{ server, tools: names.map((name) => ({ name, description: 'd' })) }]);
const labels = (nodes: readonly GraphNode[]): string[] => nodes.map((node) => node.label);
const pathsOf = ({ tools, graph }: Catalog): Map<string, string> =>
  new Map(tools.map((tool) => [tool.id, graph.pathOf(tool.id) as string]));

function failure(attempt: () => unknown): CatalogError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof CatalogError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

const GITHUB = [
  ...['create_issue', 'get_issue', 'list_issues', 'update_issue', 'add_issue_comment', 'search_issues'],
  ...['create_pull_request', 'get_pull_request', 'list_pull_requests', 'merge_pull_request', 'get_pull_request_files'],
  ...['create_repository', 'fork_repository', 'search_repositories', 'create_branch', 'list_branches', 'delete_branch'],
  ...['create_or_update_file', 'get_file_contents', 'push_files', 'list_commits', 'search_code', 'search_users'],
];

describe('paths', () => {
  it('survive a round trip through their segments', () => {
    const segment = fc.string({ unit: fc.constantFrom(...'ab09_-'), minLength: 1, maxLength: 64 }).map(fitSegment);
    const namespace = segment.filter((text) => /^[a-z]/.test(text));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 4 }), namespace, fc.boolean(), (rest, first, all) => {
        const segments = [first, ...rest, ...(all ? ['*'] : [])];
        expect(parsePath(formatPath(segments))).toEqual(segments);
      }),
    );
    expect(parsePath('/')).toEqual([]);
    expect(formatPath([])).toBe('/');
  });

  it.each([
    42,
    null,
    undefined,
    '',
    'github',
    '/github/',
    '//a',
    '/A',
    '/a b',
    '/0a',
    '/a/*/b',
    '/a\n',
    '/a/..',
    `/a/${'x'.repeat(65)}`,
  ])('%j is not valid', (path) => {
    expect(failure(() => parsePath(path)).code).toBe('PATH_INVALID');
  });
});

describe('graph of a catalog', () => {
  const catalog = buildCatalog(sampleListings());
  const { graph, tools, servers } = catalog;

  it('contains every tool exactly once', () => {
    const found: string[] = [];
    const walk = (path: string): void => {
      for (const node of graph.children(path)) {
        if (node.toolId !== undefined) {
          found.push(node.toolId);
          expect(graph.pathOf(node.toolId)).toBe(node.path);
        } else walk(node.path);
      }
    };
    walk('/');
    expect(found.sort()).toEqual(tools.map((tool) => tool.id));
  });

  it('has a namespace for every server at the root', () => {
    expect(labels(graph.children('/'))).toEqual(servers.map((server) => server.namespace).sort());
    expect(graph.children('/').every((node) => node.kind === 'namespace')).toBe(true);
  });

  it('has valid, distinct labels and counts that add up', () => {
    for (const node of [graph.node('/'), ...graph.nodes]) {
      expect(parsePath(node.path)).toBeDefined();
      const children = graph.children(node.path);
      expect(new Set(labels(children)).size).toBe(children.length);
      if (node.toolId !== undefined) expect(children).toEqual([]);
      else expect(children.reduce((sum, child) => sum + child.toolCount, 0)).toBe(node.toolCount);
    }
  });

  it('resolves every path to its children or to the tool itself, also with *', () => {
    for (const node of graph.nodes) {
      const expected = node.toolId === undefined ? graph.children(node.path) : [node];
      expect(graph.resolve(node.path)).toEqual(expected);
      if (node.toolId === undefined) expect(graph.resolve(`${node.path}/*`)).toEqual(expected);
    }
    expect(graph.resolve('/*')).toEqual(graph.children('/'));
  });

  it('seldom lists more than twenty, and never more than thirty, in a namespace', () => {
    const sizes = graph.nodes.map((node) => graph.children(node.path).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(30);
    expect(sizes.filter((size) => size > 24).length).toBeLessThan(graph.nodes.length / 100);
  });
});

describe('clusters', () => {
  it('have natural names', () => {
    const { graph } = catalogOf('github', GITHUB);
    expect(labels(graph.children('/github'))).toEqual([
      'branches',
      'files',
      'issues',
      'list_commits',
      'pull-requests',
      'repositories',
      'search_code',
      'search_users',
    ]);
    expect(labels(graph.children('/github/issues'))).toContain('create_issue');
    expect(graph.node('/github/issues').hint).toMatch(/^6 tools: add_issue_comment, create_issue, /);
  });

  it('do not divide a few tools', () => {
    const { graph } = catalogOf('github', GITHUB.slice(0, 20));
    expect(graph.children('/github')).toHaveLength(20);
  });

  it('ignore the style of names and a common beginning', () => {
    const camel = catalogOf(
      'tracker',
      GITHUB.map((name) => `trk_${name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())}`),
    );
    expect(labels(camel.graph.children('/tracker'))).toContain('pull-requests');
    expect(labels(camel.graph.children('/tracker/issues'))).toContain('trk_add_issue_comment');
    const nounFirst = catalogOf(
      'do',
      ['droplet', 'domain', 'image', 'key', 'volume'].flatMap((noun) =>
        ['create', 'delete', 'get', 'list', 'update'].map((verb) => `${noun}-${verb}`),
      ),
    );
    expect(labels(nounFirst.graph.children('/do'))).toEqual(['domains', 'droplets', 'images', 'keys', 'volumes']);
  });

  it('divide tools with one topic into reading and changing ones', () => {
    const nouns = Array.from({ length: 40 }, (_, at) => `thing_${String.fromCharCode(97 + (at % 26))}${at}`);
    const { graph } = catalogOf(
      'one',
      nouns.map((noun, at) => `${at % 4 ? 'get' : 'set'}_${noun}`),
    );
    expect(labels(graph.children('/one'))).toEqual(['read', 'write']);
    const many = Array.from({ length: 104 }, (_, at) => `set_thing_${String.fromCharCode(97 + (at % 26))}${at}`);
    const ranges = catalogOf('one', many).graph.children('/one');
    expect(labels(ranges)).toEqual(['a-c', 'd-f', 'g-i', 'j-l', 'm-o', 'p-r', 's-u', 'v-z']);
    expect(ranges.map((range) => range.toolCount)).toEqual([12, 12, 12, 12, 12, 12, 12, 20]);
  });

  it('include tools that name their topic later in the name', () => {
    const names = [...GITHUB, 'lock_conversation_on_issue', 'rerun_pull_request_checks', 'enable_alerts_for_branch'];
    const { graph } = catalogOf('github', names);
    expect(labels(graph.children('/github/issues'))).toContain('lock_conversation_on_issue');
    expect(labels(graph.children('/github/pull-requests'))).toContain('rerun_pull_request_checks');
    expect(labels(graph.children('/github/branches'))).toContain('enable_alerts_for_branch');
  });

  it('leave unrelated tools in one listing until it is too long', () => {
    const words = Array.from({ length: 60 }, (_, at) => `${String.fromCharCode(97 + (at % 26))}q${at}x`);
    const issues = GITHUB.filter((name) => name.includes('issue'));
    const some = catalogOf('s', [...issues, ...words.slice(0, 26)]).graph;
    expect(labels(some.children('/s'))).toEqual(['issues', 'other']);
    expect(some.children('/s/other')).toHaveLength(26);
    const many = catalogOf('s', [...issues, ...words]).graph;
    expect(labels(many.children('/s'))).toEqual(['a-c', 'd-f', 'g-i', 'issues', 'j-l', 'm-o', 'p-r', 's-u', 'v-z']);
    const topics = Array.from({ length: 20 }, (_, at) => `thing${String.fromCharCode(97 + at)}`);
    const crowded = [...words, ...topics.flatMap((topic) => ['get', 'set', 'list'].map((verb) => `${verb}_${topic}`))];
    expect(labels(catalogOf('s', crowded).graph.children('/s/other'))).toContain('a-c');
  });

  it('keep every tool reachable, whatever the names', () => {
    const word = fc.constantFrom(
      ...[
        'get',
        'set',
        'list',
        'issue',
        'issues',
        'note',
        'notes',
        'test',
        'tests',
        'other',
        'read',
        'write',
        'a-c',
        '0-9',
      ],
      ...[
        'all',
        'by',
        'of',
        'draft',
        'api',
        'key',
        'merge',
        'request',
        'status',
        'tools',
        'Web',
        'Hook',
        'é',
        '9',
        's',
      ],
    );
    const name = fc.tuple(fc.array(word, { minLength: 1, maxLength: 4 }), fc.constantFrom('_', '-', '', '.'));
    const names = fc.uniqueArray(
      name.map(([words, separator]) => words.join(separator)),
      { minLength: 1, maxLength: 90 },
    );
    fc.assert(
      fc.property(names, (list) => {
        const { graph, tools } = catalogOf('s', list);
        const leaves = graph.nodes.filter((node) => node.toolId !== undefined);
        expect(new Set(graph.nodes.map((node) => node.path)).size).toBe(graph.nodes.length);
        expect(leaves.map((node) => node.toolId).sort()).toEqual(tools.map((tool) => tool.id));
        expect(graph.node('/s').toolCount).toBe(list.length);
      }),
      { numRuns: 400 },
    );
  });

  it('are one for two forms of a word, and leave their name to a tool that has it', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const niches = letters.flatMap((letter) => [`list_niches_${letter}`, `get_niche_${letter}`]);
    const two = catalogOf('s', [...niches, ...letters.map((letter) => `get_user_${letter}`)]).graph;
    expect(labels(two.children('/s'))).toEqual(['niches', 'users']);
    expect(two.node('/s/niches').toolCount).toBe(52);
    const nested = catalogOf('s', ['niches', ...letters.map((letter) => `get_niche_niches_${letter}`)]).graph;
    expect(labels(nested.children('/s'))).toEqual(['niches', 'niches-tools']);
    const twice = ['niches', 'niches-tools', ...letters.map((letter) => `get_niche_niches_${letter}`)];
    expect(labels(catalogOf('s', twice).graph.children('/s'))).toEqual([
      'niches',
      'niches-tools',
      'niches-tools-tools',
    ]);
  });

  it('keep labels distinct that fit to the same', () => {
    const { graph, tools } = catalogOf('s', ['getItem', 'get-item', 'get.item', 'get item', 'GET-ITEM']);
    const paths = tools.map((tool) => graph.pathOf(tool.id));
    expect(new Set(paths).size).toBe(5);
    expect(graph.pathOf(tools.find((tool) => tool.name === 'get-item')?.id ?? '')).toBe('/s/get-item');
  });
});

describe('remembered paths', () => {
  it('of the specification work in a small GitHub and in a large one', () => {
    for (const names of [['create_issue', 'close_issue', 'list_repos'], GITHUB]) {
      const { graph } = catalogOf('github', names);
      expect(labels(graph.resolve('/github/issues'))).toContain('create_issue');
      expect(labels(graph.resolve('/github/issues/*'))).toContain('create_issue');
      expect(labels(graph.resolve('/github/issues/create_issue'))).toEqual(['create_issue']);
      expect(labels(graph.resolve('/github/create_issue'))).toEqual(['create_issue']);
    }
  });

  it('do not lead to missing tools', () => {
    const { graph } = catalogOf('github', ['create_issue', 'close_issue']);
    for (const path of [
      '/gitlab',
      '/github/wikis',
      '/github/wikis/create_issue',
      '/github/issues/create_issue/more',
      '/github/other',
    ]) {
      expect(failure(() => graph.resolve(path)).code, path).toBe('PATH_NOT_FOUND');
    }
  });

  it('have an error with the deepest existing part, and the alternatives there', () => {
    const { graph } = catalogOf('github', GITHUB);
    expect(failure(() => graph.resolve('/githbu/issues')).missing).toEqual({
      parent: '/',
      label: 'githbu',
      siblings: ['github'],
    });
    const { parent, label, siblings } = failure(() => graph.resolve('/github/issues/creat_issue')).missing ?? {};
    expect([parent, label]).toEqual(['/github/issues', 'creat_issue']);
    expect(siblings).toContain('create_issue');
  });
});

describe('stability', () => {
  /** Removes each tool of a server in turn: the other tools must be where they were before it was added. */
  function movedBy(listing: ServerListing): { moved: number; lost: number; tries: number } {
    const whole = buildCatalog([listing]);
    const after = pathsOf(whole);
    const result = { moved: 0, lost: 0, tries: 0 };
    listing.tools.forEach((_, at) => {
      const before = buildCatalog([{ ...listing, tools: listing.tools.toSpliced(at, 1) }]);
      for (const [id, path] of pathsOf(before)) {
        result.tries++;
        if (after.get(id) === path) continue;
        result.moved++;
        if (!whole.graph.resolve(path).some((node) => node.toolId === id)) result.lost++;
      }
    });
    return result;
  }

  it('one more tool moves hardly any other, and a moved tool is still found at the old path', () => {
    const large = sampleListings().filter((listing) => listing.tools.length > 25 && listing.tools.length < 70);
    const totals = large.map(movedBy).reduce((sum, one) => ({
      moved: sum.moved + one.moved,
      lost: sum.lost + one.lost,
      tries: sum.tries + one.tries,
    }));
    expect(totals.tries).toBeGreaterThan(1000);
    expect(totals.moved / totals.tries).toBeLessThan(0.03);
    expect(totals.lost).toBe(0);
  });

  it('no tool of another server can move one', () => {
    const [own, other] = generatedListings(2, 60) as [ServerListing, ServerListing];
    const alone = pathsOf(buildCatalog([own]));
    const together = pathsOf(buildCatalog([own, other]));
    for (const [id, path] of alone) expect(together.get(id)).toBe(path);
  });

  it('a tool joins the cluster of its topic and moves no other', () => {
    const before = pathsOf(catalogOf('github', GITHUB));
    const grown = catalogOf('github', [...GITHUB, 'lock_issue']);
    const after = pathsOf(grown);
    for (const [id, path] of before) expect(after.get(id)).toBe(path);
    const lock = grown.tools.find((tool) => tool.name === 'lock_issue');
    expect(after.get(lock?.id ?? '')).toBe('/github/issues/lock_issue');
  });
});
