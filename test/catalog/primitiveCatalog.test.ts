import { describe, expect, it } from 'vitest';
import { toCard } from '../../src/catalog/cards/card.ts';
import { buildPrimitiveCatalog, type PrimitiveListing } from '../../src/catalog/primitives/primitiveCatalog.ts';

const listing = (more: Partial<PrimitiveListing>): PrimitiveListing => ({
  server: 'docs',
  resources: [],
  resourceTemplates: [],
  prompts: [],
  readsResources: true,
  ...more,
});
const build = (...listings: Partial<PrimitiveListing>[]) => buildPrimitiveCatalog(listings.map(listing));

describe('resources and prompts of all servers', () => {
  it('are under the namespaces of their servers, with separate kinds', () => {
    const catalog = build(
      { server: 'My Docs', resources: [{ uri: 'file:///a.md', name: 'A' }] },
      { server: 'gh', prompts: [{ name: 'gh.triage', arguments: [{ name: 'repo', required: true }] }] },
    );
    expect(catalog.resourceChoices.tools.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^resource::my-docs:A#[0-9a-f]{8}$/),
    ]);
    expect(catalog.promptChoices.tools.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^prompt::gh:gh\.triage#[0-9a-f]{8}$/),
    ]);
    // A namespace without this kind is absent from browsing.
    expect(catalog.resourceChoices.graph.children('/').map(({ path, hint }) => [path, hint])).toEqual([
      ['/my-docs', '1 resource: a'],
    ]);
    expect(catalog.promptChoices.graph.children('/').map(({ path }) => path)).toEqual(['/gh']);
  });

  it('are the same in any order of the servers', () => {
    const a = { server: 'a', resources: [{ uri: 'x://1', name: 'one' }] };
    const b = { server: 'b', resources: [{ uri: 'x://1', name: 'one' }] };
    expect(build(a, b).resources).toEqual(build(b, a).resources);
    expect(build(a, b).resourceChoices.hash).toBe(build(b, a).resourceChoices.hash);
    expect(build(a, b).resourceChoices.hash).not.toBe(build(a).resourceChoices.hash);
  });

  it('with the same id get a suffix, and distinct paths (G10.3)', () => {
    const { prompts, promptChoices, resourceChoices } = build({
      prompts: [{ name: 'a b' }, { name: 'a:b' }, { name: 'a/b' }],
      resources: [1, 2, 3].map((n) => ({ uri: `file:///${n}/readme`, name: 'readme' })),
    });
    const [first] = prompts.map(({ id }) => id);
    expect(prompts.map(({ id }) => id)).toEqual([first, `${first}~2`, `${first}~3`]);
    expect(promptChoices.tools).toHaveLength(3);
    for (const { graph, tools } of [promptChoices, resourceChoices]) {
      const paths = tools.map(({ id }) => graph.pathOf(id));
      expect(new Set(paths).size).toBe(3);
      for (const [i, path] of paths.entries()) {
        expect(graph.resolve(path)).toMatchObject([{ toolId: tools[i]?.id }]);
      }
    }
  });

  it('lose only invalid items, with the reason', () => {
    let deep: unknown = {};
    for (let i = 0; i < 20_000; i++) deep = [deep];
    const catalog = build({
      resources: [
        null,
        7,
        {},
        { uri: '' },
        { uri: ' \t' },
        { uri: 'x://a', name: 'a' },
        { uri: 'x://a', name: 'again' },
      ],
      resourceTemplates: [{ uri: 'x://{a}' }, { uriTemplate: 'x://{b}', name: 'b' }],
      prompts: [{ name: 'p', _meta: deep }, { name: 'large', description: 'x'.repeat(300_000) }, { name: 'q' }],
    });
    expect(catalog.resources.map(({ name, isTemplate }) => [name, isTemplate])).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(catalog.prompts.map(({ name }) => name)).toEqual(['q']);
    expect(catalog.findings.map(({ tool, reason }) => `${tool}: ${reason}`)).toEqual([
      'number 1 of its list: A resource has no uri.',
      'number 2 of its list: A resource has no uri.',
      'number 3 of its list: A resource has no uri.',
      'number 4 of its list: A resource has no uri.',
      'number 5 of its list: A resource has no uri.',
      'again: It is listed twice: the first is used.',
      'number 1 of its list: A resource has no uri.',
      'p: It nests too deep.',
      'large: Its description has 300033 characters.',
    ]);
  });

  it('have cards of their kind; the card of a template shows its variables', () => {
    const { resourceChoices, promptChoices } = build({
      resources: [{ uri: 'file:///a/long/way/notes.md', name: 'notes' }],
      resourceTemplates: [{ uriTemplate: 'log://{day}', name: 'log', description: 'What was logged.' }],
      prompts: [{ name: 'plain' }, { name: 'filled', arguments: [{ name: 'x' }] }],
    });
    expect(resourceChoices.tools.map((tool) => toCard(tool))).toMatchObject([
      {
        kind: 'resource',
        name: 'log',
        description: 'log://{day} What was logged.',
        has_schema: false,
        safety: 'read_only',
      },
      { kind: 'resource', name: 'notes', description: 'file:///a/long/way/notes.md', side_effects: false },
    ]);
    expect(promptChoices.tools.map((tool) => toCard(tool))).toMatchObject([
      { kind: 'prompt', name: 'filled', has_schema: true },
      { kind: 'prompt', name: 'plain', has_schema: false },
    ]);
  });
});
