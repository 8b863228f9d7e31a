import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCard } from '../../src/catalog/cards/card.ts';
import { cardsWithinBudget } from '../../src/catalog/cards/cardBudget.ts';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/catalogError.ts';
import { parseToolId } from '../../src/catalog/toolId.ts';
import type { CatalogTool, ServerListing } from '../../src/catalog/types.ts';
import { sampleListings, shuffled } from './sampleListings.ts';

const good = { name: 'good', description: 'Works.', inputSchema: { type: 'object' } };

function nested(levels: number): Record<string, unknown> {
  let schema: Record<string, unknown> = {};
  for (let level = 1; level < levels; level++) schema = { properties: schema };
  return schema;
}

describe('a bad tool does not affect the rest of its server', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'x'],
    ['a list', []],
    ['no name', { description: 'd' }],
    ['an empty name', { name: '' }],
    ['a name of white space', { name: ' \n' }],
    ['a name that is a number', { name: 7 }],
    ['a schema that would overflow a stack', { name: 'deep', inputSchema: nested(5000) }],
  ])('%s is skipped and reported', (_, bad) => {
    const catalog = buildCatalog([{ server: 's', tools: [bad, good] }]);
    expect(catalog.tools.map((tool) => tool.name)).toEqual(['good']);
    expect(catalog.findings).toHaveLength(1);
    expect(catalog.findings[0]).toMatchObject({ server: 's', kind: 'skipped' });
    expect(() => buildCatalog([{ server: 's', tools: [bad, good] }], { onInvalid: 'raise' })).toThrow(CatalogError);
  });

  it.each<[string, unknown]>([
    ['no description', { name: 'odd' }],
    ['a description that is no text', { name: 'odd', description: { en: 'x' } }],
    ['a schema that is no object', { name: 'odd', description: 'd', inputSchema: 'object' }],
    ['an output schema that is no object', { name: 'odd', description: 'd', outputSchema: [] }],
    ['annotations that are none', { name: 'odd', description: 'd', annotations: 1 }],
    ['a version that does not fit', { name: 'odd', description: 'd', _meta: { version: 'one two' } }],
    ['a version that is an object', { name: 'odd', description: 'd', _meta: { version: {} } }],
    ['a name that does not fit', { name: 'odd name', description: 'd' }],
  ])('%s is reported as a flaw, and the tool is usable', (_, bad) => {
    const catalog = buildCatalog([{ server: 's', tools: [bad, good] }]);
    expect(catalog.tools).toHaveLength(2);
    expect(catalog.findings).toHaveLength(1);
    expect(catalog.findings[0]?.kind).toBe('flagged');
    expect(() => buildCatalog([{ server: 's', tools: [bad, good] }], { onInvalid: 'raise' })).toThrow(CatalogError);
  });

  it.each<[string, unknown]>([
    ['no input schema', { name: 'odd', description: 'd' }],
    ['an input schema without type', { name: 'odd', description: 'd', inputSchema: { $schema: 'x' } }],
    ['a description of ten thousand words', { name: 'odd', description: 'word '.repeat(10_000) }],
    ['a description in Chinese', { name: 'odd', description: '查询天气。' }],
    ['the name __proto__', { name: '__proto__', description: 'd' }],
    ['the name constructor', { name: 'constructor', description: 'd' }],
    ['_meta that is no object', { name: 'odd', description: 'd', _meta: 'x' }],
  ])('%s is no flaw', (_, tool) => {
    const catalog = buildCatalog([{ server: 's', tools: [tool] }], { onInvalid: 'raise' });
    expect(catalog.tools).toHaveLength(1);
    expect(catalog.findings).toEqual([]);
    const [only] = catalog.tools;
    expect(catalog.byId.get(only?.id ?? '')).toBe(only);
    expect(catalog.graph.pathOf(only?.id ?? '')).toBeDefined();
  });

  it('uses the first of two equal tools', () => {
    const again = { ...good, description: 'Again.' };
    const { tools, findings } = buildCatalog([{ server: 's', tools: [good, again] }]);
    expect(tools.map((tool) => tool.description)).toEqual(['Works.']);
    expect(findings).toEqual([expect.objectContaining({ kind: 'skipped', tool: 'good' })]);
  });
});

describe('a bad server does not affect the catalog', () => {
  it('keeps its namespace, and the reason for having no tools is reported', () => {
    const bad = { server: 'bad', tools: null } as unknown as ServerListing;
    const { tools, findings, graph, servers } = buildCatalog([bad, { server: 'fine', tools: [good] }]);
    expect(tools).toHaveLength(1);
    expect(findings).toEqual([expect.objectContaining({ server: 'bad', kind: 'skipped' })]);
    expect(graph.children('/').map((node) => [node.label, node.toolCount])).toEqual([
      ['bad', 0],
      ['fine', 1],
    ]);
    expect(servers.map((server) => server.toolCount)).toEqual([0, 1]);
  });

  it('keeps tools of servers apart whose names fit to the same namespace, and reports it', () => {
    const { tools, findings } = buildCatalog([
      { server: 'GitHub', tools: [good] },
      { server: 'github', tools: [good] },
    ]);
    expect(tools.map((tool) => [tool.server, tool.namespace])).toEqual([
      ['GitHub', 'github-2'],
      ['github', 'github'],
    ]);
    expect(findings).toEqual([expect.objectContaining({ server: 'GitHub', kind: 'flagged' })]);
  });
});

describe('ids', () => {
  it('hash the raw name, under the namespace of the server', () => {
    const tool = { name: 'github.create_issue', inputSchema: { properties: { id: {} }, required: ['id'] } };
    const { tools } = buildCatalog([{ server: 'github', tools: [tool] }]);
    expect(tools[0]?.id).toBe('github:create_issue#6daf10e7');
    expect(tools[0]?.upstreamName).toBe('github.create_issue');
  });

  it('stay distinct if different names give one versioned id', () => {
    const versioned = (name: string) => ({ name, description: 'd', _meta: { version: '1' } });
    const tools = [versioned('s.list'), versioned('list'), versioned('a b'), versioned('a/b'), versioned('other')];
    const catalog = buildCatalog([{ server: 's', tools }]);
    expect(new Set(catalog.tools.map((tool) => tool.id)).size).toBe(5);
    expect(new Set(catalog.tools.map((tool) => tool.upstreamName)).size).toBe(5);
    expect(catalog.byId.get('s:other@1')).toBeDefined();
    for (const { id, fingerprint } of catalog.tools) {
      expect(parseToolId(id).version).toBe('1');
      expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('of a fitted name contain the hash even with a version, so that no later tool can change them', () => {
    const versioned = (name: string) => ({ name, description: 'd', _meta: { version: '1' } });
    const [alone] = buildCatalog([{ server: 's', tools: [versioned('a b')] }]).tools;
    const { tools } = buildCatalog([{ server: 's', tools: [versioned('a/b'), versioned('a b')] }]);
    expect(tools.find((tool) => tool.upstreamName === 'a b')?.id).toBe(alone?.id);
  });

  it('have different fingerprints even if hash8 is equal', () => {
    const of = (description: string) =>
      buildCatalog([{ server: 's', tools: [{ ...good, description }] }]).tools[0] as {
        id: string;
        fingerprint: string;
      };
    expect(of('one').id).toBe(of('two').id);
    expect(of('one').fingerprint).not.toBe(of('two').fingerprint);
  });
});

describe('hints of a server', () => {
  const ingested = (annotations: object) =>
    buildCatalog([{ server: 's', tools: [{ ...good, annotations }] }]).tools[0] as CatalogTool;

  it('count only if they are exactly true', () => {
    expect(ingested({ readOnlyHint: true })).toMatchObject({ sideEffects: false, safety: 'read_only' });
    for (const readOnlyHint of ['true', 1, {}, null, false]) {
      expect(ingested({ readOnlyHint })).toMatchObject({ sideEffects: true, safety: '', tags: ['mcp'] });
    }
    expect(ingested({ readOnlyHint: true, destructiveHint: true }).safety).toBe('destructive');
  });

  it('give a cost only if they are a positive number', () => {
    expect(ingested({ costHint: 0.25 }).costHint).toBe(0.25);
    for (const costHint of [-1, Number.POSITIVE_INFINITY, '1', null]) expect(ingested({ costHint }).costHint).toBe(0);
  });
});

describe('a catalog', () => {
  const listings = sampleListings();
  const catalog = buildCatalog(listings);

  it('has every listed tool, sorted by id', () => {
    const listed = listings.reduce((sum, listing) => sum + listing.tools.length, 0);
    expect(catalog.tools).toHaveLength(listed);
    const ids = catalog.tools.map((tool) => tool.id);
    expect(ids).toEqual([...ids].sort());
    for (const id of ids) expect(parseToolId(id)).toBeDefined();
  });

  it('is the same for listings in another order', () => {
    const other = buildCatalog(
      shuffled(listings, 7).map((listing) => ({ ...listing, tools: shuffled(listing.tools, 11) })),
    );
    expect(other.hash).toBe(catalog.hash);
    expect(JSON.stringify(other.graph.nodes)).toBe(JSON.stringify(catalog.graph.nodes));
  });

  it.each([
    { description: 'Something else.' },
    { title: 'Something else' },
    { inputSchema: { type: 'object', description: 'Something else.' } },
    { annotations: { idempotentHint: true } },
  ])('has another hash with %j', (change) => {
    const [first, ...rest] = listings as [ServerListing, ...ServerListing[]];
    const [tool, ...others] = first.tools as [object, ...object[]];
    const changed = { ...first, tools: [{ ...tool, ...change }, ...others] };
    expect(buildCatalog([changed, ...rest]).hash).not.toBe(catalog.hash);
  });
});

describe('any listing of a server', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('a', 'A', 'a/b', 'a.b', 's.a', '__proto__', '', '\ud800', '日本'),
  );
  const tool = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        name: fc.oneof(name, fc.jsonValue()),
        title: fc.oneof(fc.string(), fc.jsonValue()),
        description: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        inputSchema: fc.oneof(fc.record({ properties: fc.jsonValue(), required: fc.jsonValue() }), fc.jsonValue()),
        outputSchema: fc.jsonValue(),
        annotations: fc.oneof(fc.record({ readOnlyHint: fc.jsonValue(), costHint: fc.jsonValue() }), fc.jsonValue()),
        _meta: fc.oneof(fc.record({ version: fc.oneof(fc.constantFrom('1', 2, 1.5), fc.jsonValue()) }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
  );
  const listing = fc.record({ server: name, tools: fc.array(tool, { maxLength: 12 }) });

  it('gives every named tool once, with an id, a path and a card', () => {
    fc.assert(
      fc.property(fc.array(listing, { maxLength: 4 }), (listings) => {
        const catalog = buildCatalog(listings);
        const named = new Set<string>();
        for (const { server, tools } of listings) {
          for (const raw of tools) {
            const own = (raw as { name?: unknown } | null)?.name;
            if (typeof own === 'string' && own.trim() !== '' && !Array.isArray(raw))
              named.add(JSON.stringify([server, own]));
          }
        }
        expect(new Set(catalog.tools.map((one) => JSON.stringify([one.server, one.upstreamName])))).toEqual(named);
        expect(catalog.tools).toHaveLength(named.size);
        for (const { id } of catalog.tools) {
          expect(parseToolId(id)).toBeDefined();
          const path = catalog.graph.pathOf(id) as string;
          expect(catalog.graph.resolve(path)).toEqual([expect.objectContaining({ toolId: id })]);
        }
        expect(cardsWithinBudget(catalog.tools, toCard).cards).toHaveLength(named.size);
      }),
      { numRuns: 400 },
    );
  });
});
