import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const NAMES = ['read a file', 'read/a/file', 'read:a#file', 'über.größe', 'twice', 'twice', 'x'.repeat(300)];

describe('tool names of servers', () => {
  it('are made valid and resolve to the right tool, and only the duplicate is skipped', async () => {
    const workspace = testWorkspace();
    const one = { 'My Server!': servers.fixture('--names', JSON.stringify(NAMES)) };
    writeFileSync(workspace.userConfigFile, JSON.stringify({ servers: one }));
    const host = await GatewaySession.connect(workspace);
    const [namespace] = /my-server\S*/i.exec((await waygate(workspace, ['catalog'])).stdout) ?? [''];
    await host.toolId(`/${namespace}`);
    const { structured } = await host.call('tool_browse', { query: 'called', top_k: 50, render: 'json' });
    const ids = ((structured?.cards ?? []) as { id: string; kind: string }[]).map(({ id }) => id);
    const called: string[] = [];
    for (const id of ids) {
      const { text } = await host.call('tool_execute', { tool_id: id, args: {} });
      const name = /^ok\ncalled (.*)\n$/s.exec(text)?.[1];
      if (name !== undefined) called.push(name);
    }
    expect(called.sort()).toEqual([...new Set(NAMES)].sort());
    expect((await waygate(workspace, ['catalog', '--stats'])).stdout).toContain(
      'skipped  My Server! twice: It is listed twice: the first is used.',
    );
  });

  it('of two instances of a server have separate namespaces, and calls reach the right instance', async () => {
    const instance = (name: string) => servers.fixture('--names', JSON.stringify([`of-${name}`]));
    const workspace = testWorkspace({ 'github-work': instance('work'), 'github-home': instance('home') });
    const host = await GatewaySession.connect(workspace);
    const ids = await Promise.all(['work', 'home'].map((name) => host.toolId(`/github-${name}/echo`)));
    expect(ids.map((id) => id.split('#')[0])).toEqual(['github-work:echo', 'github-home:echo']);
    for (const name of ['work', 'home']) {
      const id = await host.toolId(`/github-${name}/of-${name}`);
      expect((await host.call('tool_execute', { tool_id: id, args: {} })).text).toBe(`ok\ncalled of-${name}\n`);
    }
  });
});
