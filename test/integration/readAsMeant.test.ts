import { describe, expect, it } from 'vitest';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Covers each kind of normalisation in a real session, with its note in the answer (O10). */
describe('input normalisation', () => {
  it('corrects names of tools and arguments, numbers, catalog paths and files, with a note', async () => {
    const host = await GatewaySession.connect(testWorkspace({ files: servers.fixture(), docs: servers.primitives() }));
    const id = await host.toolId('/files/echo');
    const uri = 'file:///shared/readme.md';
    await until('its resources', async () =>
      JSON.stringify((await host.request('resources/list')).result).includes(uri),
    );
    const calls: [tool: string, args: Record<string, unknown>, answer: RegExp, note: string][] = [
      [
        'tools.execute',
        { tool_id: id, args: { text: 'a' } },
        /^ok\na\n/,
        '"tools.execute" was read as "tool_execute" (token_alias)',
      ],
      [
        'mcp_waygate_tool_execute',
        { tool_id: id, args: { text: 'b' } },
        /^ok\nb\n/,
        '"mcp_waygate_tool_execute" was read as "tool_execute" (token_alias)',
      ],
      ['tool_browse', { q: 'say back a text' }, /files:echo/, '"q" was read as "query" (field_alias)'],
      [
        'tool_browse',
        { query: 'say back a text', top_k: '1' },
        /^1 tool for/,
        '"top_k: 1" was read as "1" (integer_text)',
      ],
      ...['files/echo', '/files/echo/', '//files//echo', '\\files\\echo', 'Files.Echo'].map(
        (path): (typeof calls)[number] => [
          'tool_browse',
          { path },
          /^\/files\/echo: 1 entry/,
          `${JSON.stringify(path)} was read as "/files/echo" (path_style)`,
        ],
      ),
      ['resource_browse', { path: 'docs/' }, /^\/docs: /, '"docs/" was read as "/docs" (path_style)'],
      [
        'resource_read',
        { resource_id: '/shared/readme.md' },
        /^ok\n/,
        `"/shared/readme.md" was read as "${uri}" (file_uri)`,
      ],
      [
        'tool_execute',
        { tool_id: 'files:echo', args: { text: 'c' } },
        /^ok\nc\n/,
        `"files:echo" was read as "${id}" (tool_id)`,
      ],
    ];
    for (const [tool, args, answer, note] of calls) {
      const { text } = await host.call(tool, args);
      expect(text, note).toMatch(answer);
      expect(text).toContain(`note: ${note}\n`);
    }
  });

  it('leaves unknown paths, unknown tools and argument values unchanged', async () => {
    const host = await GatewaySession.connect(testWorkspace({ files: servers.fixture() }));
    const id = await host.toolId('/files/echo');
    expect((await host.call('tool_browse', { path: 'bad-path' })).text).toMatch(/^Error PATH_INVALID/);
    const { text } = await host.call('tool_execute', { tool_id: id, args: { text: 'file:///tmp/a' } });
    expect(text).toBe('ok\nfile:///tmp/a\n');
    expect((await host.call('mcp_other_tool_execute', { tool_id: id, args: {} })).isError).toBe(true);
  });

  it('prefers a listed tool to a gateway tool with a similar name', async () => {
    // In transparent mode, `tools__execute` is the listed name of this server's tool.
    const workspace = testWorkspace({ tools: servers.fixture('--names', '["execute"]') });
    const host = await GatewaySession.connect(workspace, ['--mode', 'transparent']);
    const name = await until('its tool', async () => {
      const { tools = [] } = ((await host.request('tools/list')).result ?? {}) as { tools?: { name: string }[] };
      return tools.find((tool) => /^tools__execute$/.test(tool.name))?.name;
    });
    expect((await host.call(name, {})).text).toContain('called execute');
  });
});
