import { describe, expect, it } from 'vitest';
import { buildPrimitiveCatalog, type PrimitiveListing } from '../../../src/catalog/primitives/primitiveCatalog.ts';
import { PromptDirectory } from '../../../src/modes/primitives/primitiveView.ts';
import { ResourceDirectory } from '../../../src/modes/primitives/resourceDirectory.ts';
import { primitiveListing } from '../../support/fixedContext.ts';

const build = (...listings: Partial<PrimitiveListing>[]) => buildPrimitiveCatalog(listings.map(primitiveListing));
const directory = (...listings: Partial<PrimitiveListing>[]) => new ResourceDirectory(build(...listings));
const uris = (...list: string[]) => list.map((uri) => ({ uri, name: uri }));

describe('addresses', () => {
  const shared = directory(
    {
      server: 'My Docs',
      resources: uris('file:///a.md', 'docs://1'),
      resourceTemplates: [{ uriTemplate: 'log://{d}' }],
    },
    { server: 'code', resources: uris('file:///a.md', 'git://2'), resourceTemplates: [{ uriTemplate: 'log://{d}' }] },
  );

  it('stay unchanged if unique, and get the prefix of their server otherwise', () => {
    expect(shared.resources.map(({ uri }) => uri)).toEqual([
      'waygate://server/my-docs/file:///a.md',
      'docs://1',
      'waygate://server/code/file:///a.md',
      'git://2',
    ]);
    expect(shared.templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'waygate://server/my-docs/log://{d}',
      'waygate://server/code/log://{d}',
    ]);
  });

  it('resolve to their server, also for filled-in templates and unneeded prefixes', () => {
    expect(shared.resolve('waygate://server/my-docs/file:///a.md')).toEqual({
      server: 'My Docs',
      uri: 'file:///a.md',
      prefix: 'waygate://server/my-docs/',
    });
    expect(shared.resolve('waygate://server/code/log://monday')).toMatchObject({ server: 'code', uri: 'log://monday' });
    expect(shared.resolve('waygate://server/code/git://2')).toMatchObject({ server: 'code', uri: 'git://2' });
    expect(shared.resolve('docs://1')).toEqual({ server: 'My Docs', uri: 'docs://1', prefix: '' });
  });

  it.each(['file:///a.md', 'log://monday'])('of several servers are refused with unambiguous ones: %s', (uri) => {
    expect(shared.resolve(uri)).toEqual({
      instead: [`waygate://server/my-docs/${uri}`, `waygate://server/code/${uri}`],
    });
  });

  it('of a result resolve to the server that sent it, unless another server lists them', () => {
    expect(shared.resolve('new://9', () => ['code'])).toMatchObject({ server: 'code' });
    expect(shared.resolve('docs://1', () => ['code'])).toMatchObject({ server: 'My Docs' });
    expect(shared.resolve('new://9', () => ['gone'])).toBeUndefined();
  });

  it.each(['file:///a.md', 'log://monday', 'new://9'])(
    'of several servers go to none that a result names: %s',
    (uri) => {
      const instead = [`waygate://server/my-docs/${uri}`, `waygate://server/code/${uri}`];
      const linked = uri === 'new://9' ? ['My Docs', 'code'] : ['code'];
      expect(shared.resolve(uri, () => linked)).toEqual({ instead });
    },
  );

  it('that fit the template of one server and come from a result of another are refused', () => {
    const one = directory({ server: 'a', resourceTemplates: [{ uriTemplate: 'db://{id}' }] }, { server: 'b' });
    expect(one.resolve('db://7')).toMatchObject({ server: 'a' });
    expect(one.resolve('db://7', () => ['a'])).toMatchObject({ server: 'a' });
    expect(one.resolve('db://7', () => ['b'])).toEqual({
      instead: ['waygate://server/a/db://7', 'waygate://server/b/db://7'],
    });
  });

  it('that are not listed resolve to the only server with their scheme, or to the only server', () => {
    expect(shared.resolve('docs://unlisted')).toMatchObject({ server: 'My Docs' });
    expect(shared.resolve('other://x')).toBeUndefined();
    expect(shared.resolve('file:///b.md')).toBeUndefined();
    expect(directory({ server: 'a' }).resolve('other://x')).toMatchObject({ server: 'a' });
    expect(directory({ server: 'a' }, { server: 'b', readsResources: false }).resolve('x://y')).toMatchObject({
      server: 'a',
    });
    expect(directory({ server: 'a', readsResources: false }).resolve('x://y')).toBeUndefined();
  });

  it.each(['waygate://server/nobody/x://1', 'waygate://server/', 'waygate://server', ''])(
    'of no server lead nowhere: %s',
    (uri) => expect(shared.resolve(uri)).toBeUndefined(),
  );

  it('survive parsing and reassembly by an editor', () => {
    // VS Code puts scheme and authority into a path and takes them out again; a URL is made of the result.
    const address = 'waygate://server/code/file:///a/b.md?x=1#y';
    const { protocol, host, pathname, search, hash } = new URL(address);
    expect(`${protocol}//${host}${pathname}${search}${hash}`).toBe(address);
  });
});

describe('names of prompts', () => {
  const names = (...listings: Partial<PrimitiveListing>[]) => new PromptDirectory(build(...listings).prompts);
  const prompts = (...list: string[]) => list.map((name) => ({ name, description: `about ${name}` }));

  it('stay unchanged if legal and unique, and always resolve to their prompt', () => {
    const long = 'x'.repeat(70);
    const found = names(
      { server: 'a', prompts: prompts('review', 'only', 'two words', long, 'b.review') },
      { server: 'b', prompts: prompts('review', 'two words') },
    );
    const made = found.prompts.map(({ name }) => name as string);
    expect(made.slice(0, 3)).toEqual(['a.review', 'only', 'a.two_words']);
    expect(made[3]).toMatch(/^a\.x{53}-[0-9a-f]{8}$/);
    // A server uses the name `b.review` itself.
    expect(made[4]).toBe('b.review');
    expect(made[5]).toMatch(/^b\.review-[0-9a-f]{8}$/);
    expect(new Set(made).size).toBe(7);
    for (const name of made) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
    expect(made.map((name) => [found.get(name)?.server, found.get(name)?.name])).toEqual([
      ['a', 'review'],
      ['a', 'only'],
      ['a', 'two words'],
      ['a', long],
      ['a', 'b.review'],
      ['b', 'review'],
      ['b', 'two words'],
    ]);
    expect(found.get('review')).toBeUndefined();
    // Unchanged except for its name.
    expect(found.prompts[0]).toEqual({ name: 'a.review', description: 'about review' });
  });

  it('stay legal after a long namespace', () => {
    const found = names({ server: 'n'.repeat(64), prompts: prompts('a b', 'a:b') });
    const made = found.prompts.map(({ name }) => name as string);
    expect(new Set(made).size).toBe(2);
    for (const name of made) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });
});
