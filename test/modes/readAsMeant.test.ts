import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { transparentMode } from '../../src/modes/transparent/transparentMode.ts';
import { fixedContext } from '../support/fixedContext.ts';
import { type Answer, fixedGateway, SHOP, textOf } from './fixedGateway.ts';

const GITHUB = [
  ...['create_issue', 'get_issue', 'list_issues', 'update_issue', 'add_issue_comment', 'search_issues'],
  ...['create_pull_request', 'get_pull_request', 'list_pull_requests', 'merge_pull_request', 'get_pull_request_files'],
  ...['create_repository', 'fork_repository', 'search_repositories', 'create_branch', 'list_branches', 'delete_branch'],
  ...['create_or_update_file', 'get_file_contents', 'push_files', 'list_commits', 'search_code', 'search_users'],
].map((name) => ({ name, inputSchema: { type: 'object' } }));

describe('a path of the catalog', () => {
  const github = fixedGateway({ github: GITHUB });
  const refusal = (path: string) => github.call('tool_browse', { path, render: 'json' });

  it.each([
    ['/githbu/issues', '/github'],
    ['/github/pull-requets', '/github/pull-requests'],
    ['/github/issues/creat_issue', '/github/issues/create_issue'],
    ['/git', '/github'],
    ['/zzz', '/'],
  ])('that does not exist is reported with the nearest one: %s, %s', async (path, nearest) => {
    const { structuredContent } = await refusal(path);
    expect(structuredContent).toMatchObject({ error: 'PATH_NOT_FOUND', path, details: { nearest } });
    expect(structuredContent?.message).toMatch(/The nearest is ".*"; browse "\/\S*" for all there\.$/);
  });

  it.each([
    'github/issues',
    '/github/issues/',
    '\\github\\issues',
    'github.issues',
    '/GitHub/Issues',
    '//github//issues',
  ])('in another style is corrected with a note: %s', async (path) => {
    const right = await github.text('tool_browse', { path: '/github/issues' });
    const note = `note: ${JSON.stringify(path)} was read as "/github/issues" (path_style)\n`;
    expect(await github.text('tool_browse', { path })).toBe(`${right}${note}`);
    const { structuredContent } = await refusal(path);
    expect(structuredContent).toMatchObject({ total: 6, normalised: [{ rule: 'path_style', to: '/github/issues' }] });
  });

  it.each([
    [' /github/issues', '/github/issues'],
    ['github/*', '/github/*'],
    ['GitHub/Pull Requests/', '/github/pull-requests'],
    ['My Server.v2', '/my-server-v2'],
  ])('in the spelling of its server is corrected too: %s', async (path, meant) => {
    const both = fixedGateway({ github: GITHUB, 'My Server.v2': SHOP.files });
    expect(await both.text('tool_browse', { path })).toContain(`was read as "${meant}" (path_style)\n`);
  });

  it('that is ambiguous is refused', async () => {
    const two = fixedGateway({ a: [{ name: 'b', inputSchema: { type: 'object' } }], 'a-b': SHOP.files });
    expect(await two.text('tool_browse', { path: 'a/b' })).toContain('was read as "/a/b" (path_style)');
    expect(await two.text('tool_browse', { path: 'a.b' })).toMatch(/^Error PATH_INVALID/);
  });

  it.each(['gitlab/issues', '...', '//', '!!!', `x${'/'.repeat(10_000)}github`])(
    'that matches nothing is refused without a suggestion: %j',
    async (path) => {
      const { structuredContent } = await refusal(path);
      expect(structuredContent).toMatchObject({ error: 'PATH_INVALID' });
      expect(structuredContent).not.toHaveProperty('details');
    },
  );
});

describe('a tool_id in another spelling', () => {
  const shop = fixedGateway({ github: GITHUB });
  const [tool] = shop.view.catalog.tools;
  const id = tool?.id as string;
  const dry = { args: {}, dry_run: true };

  it.each([[` ${id}`], [id.toUpperCase()], [id.replace(/#.*/, '')]])('is corrected with a note: %j', async (given) => {
    const correction = { rule: 'tool_id', from: given, to: id };
    const { structuredContent } = await shop.call('tool_execute', { tool_id: given, ...dry, render: 'json' });
    expect(structuredContent).toMatchObject({ tool_id: id, normalised: [correction] });
    const text = await shop.text('tool_execute', { tool_id: given, ...dry });
    expect(text).toContain(`\nnote: ${JSON.stringify(given)} was read as "${id}" (tool_id)\n`);
    expect(await shop.text('tool_execute', { tool_id: id, ...dry })).not.toContain('note:');
  });

  it('is corrected with a note in transparent mode too, where a listed name needs no note', async () => {
    const context = fixedContext([{ server: 'files', tools: SHOP.files }]);
    const mode = transparentMode({ ...context, settled: async () => undefined });
    const [listed] = (await mode.listTools()) as { name: string }[];
    const hydrate = async (given: string) => {
      const call = { signal: new AbortController().signal, client: 'test', session: {} };
      return textOf((await mode.callTool('tool_hydrate', { tool_id: given }, call)) as Answer);
    };
    const own = context.view().catalog.tools[0]?.id as string;
    expect(await hydrate(own.toUpperCase())).toContain('(tool_id)');
    for (const given of [own, encodeURIComponent(own), listed?.name as string]) {
      expect(await hydrate(given)).not.toContain('note:');
    }
  });
});

describe('a resource that is a file', () => {
  const path = resolve('/docs/read me.md');
  const uri = pathToFileURL(path).href;
  const files = (...servers: string[]) =>
    fixedGateway(SHOP, {
      primitives: servers.map((server) => ({ server, resources: [{ uri, name: 'Read me' }] })),
      upstream: async (_method, params) => ({ contents: [{ uri: params.uri, text: `what is at ${params.uri}` }] }),
    });

  it.each([
    ['its path', path],
    ['another form of its address', uri.replace('file:///', 'file://localhost/')],
    ['an unescaped address', uri.replaceAll('%20', ' ')],
  ])('is read by %s, with a note', async (_what, given) => {
    const shop = files('docs');
    const text = await shop.text('resource_read', { resource_id: given });
    expect(text).toContain(`what is at ${uri}`);
    expect(text).toContain(`note: ${JSON.stringify(given)} was read as "${uri}" (file_uri)\n`);
    const { structuredContent } = await shop.call('resource_read', { resource_id: given, render: 'json' });
    expect(structuredContent).toMatchObject({ normalised: [{ rule: 'file_uri', from: given, to: uri }] });
  });

  it('is read by its own address without a note', async () => {
    expect(await files('docs').text('resource_read', { resource_id: uri })).not.toContain('note:');
  });

  it('is not guessed if no server or several servers have it', async () => {
    const { structuredContent } = await files('docs').call('resource_read', {
      resource_id: resolve('/other'),
      render: 'json',
    });
    expect(structuredContent).toMatchObject({ error: 'RESOURCE_NOT_FOUND' });
    const several = await files('one', 'two').call('resource_read', { resource_id: path, render: 'json' });
    expect(several.structuredContent).toMatchObject({ error: 'ARGS_INVALID', details: { instead: expect.any(Array) } });
  });
});

describe('paths', () => {
  it('are relative to the workspace in text, and absolute in data', async () => {
    const inside = '/home/ada/shop/.vscode/waygate.json';
    const outside = '/home/ada/.config/waygate/waygate.json';
    const failed = (name: string, file: string) => ({
      name,
      state: 'failed' as const,
      reason: `${name} is broken.`,
      location: { file, line: 7, column: 1 },
    });
    const shop = fixedGateway(SHOP, { servers: [failed('near', inside), failed('far', outside)] });
    const text = await shop.text('tool_browse', { path: '/' });
    expect(text).toContain('near: near is broken. (.vscode/waygate.json line 7)');
    expect(text).toContain(`far: far is broken. (${outside} line 7)`);
    const { structuredContent } = await shop.call('tool_browse', { path: '/', render: 'json' });
    const { servers } = structuredContent as { servers: { file?: string }[] };
    expect(servers.flatMap(({ file }) => file ?? [])).toEqual([inside, outside]);
  });
});
