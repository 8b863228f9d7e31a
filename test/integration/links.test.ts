import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GatewaySession } from '../support/gateway.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const UNSAFE = [
  ...['command:workbench.action.terminal.new', 'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x'],
  ...['vscode://x/y', 'vscode-insiders://x/y', 'cursor://x', 'ms-msdt:/id', ' command:x', 'com\u200bmand:x', 'ssh://x'],
  ...['void://x', 'antigravity://x/y', 'warp://action/new_tab', 'powershell:x', 'x-man-page://x'],
  ...['file:///etc/passwd', 'file://server/share', 'file:///%2e%2e/etc/passwd', '//evil.test/x', 'https:evil.test'],
];

describe.each([
  ['gateway', []],
  ['transparent', ['--mode', 'transparent']],
  ['passthrough', ['--mode', 'passthrough']],
])('in %s mode', (mode, args) => {
  it('only links that run nothing and stay in the workspace reach the client', async () => {
    const workspace = testWorkspace({ one: servers.primitives() });
    const browsing = await GatewaySession.connect(workspace);
    const id = await browsing.toolId('/one/link');
    const host = await GatewaySession.connect(workspace, args);
    const linked = async (uri: string) => {
      const direct = mode === 'passthrough' ? 'link' : id;
      const answer =
        mode === 'gateway' ? host.call('tool_execute', { tool_id: id, args: { uri } }) : host.call(direct, { uri });
      const { content } = await answer;
      return { links: content.filter(({ type }) => type === 'resource_link'), content };
    };
    for (const uri of UNSAFE) {
      const { links, content } = await linked(uri);
      expect({ uri, links }).toEqual({ uri, links: [] });
      // The model still learns of the link.
      expect(content.some(({ text }) => String(text).includes('link: a link <'))).toBe(true);
    }
    const inside = pathToFileURL(join(workspace.folder, 'a.txt')).href;
    for (const uri of ['https://a.test/x', 'note://one/1', 'slack://team/channel', 'urn:isbn:1', inside]) {
      expect((await linked(uri)).links).toMatchObject([{ uri }]);
    }
  });

  it('only icons from the web or within the list reach the client', async () => {
    const icons = [
      'javascript:alert(1)',
      'command:x',
      'http://a.test/i',
      'https://a.test/i',
      'data:image/png;base64,AA==',
    ];
    const workspace = testWorkspace({ one: servers.primitives(...icons.flatMap((src) => ['--icon', src])) });
    const browsing = await GatewaySession.connect(workspace);
    await browsing.toolId('/one/link');
    const host = await GatewaySession.connect(workspace, args);
    const lists = [await host.request('tools/list'), await browsing.request('resources/list')];
    const words = JSON.stringify(lists.map(({ result }) => result));
    expect(words).toContain('https://a.test/i');
    for (const src of icons.slice(0, 3)) expect(words).not.toContain(src);
  });

  it('no resource with an address that runs something is listed', async () => {
    const workspace = testWorkspace({ one: servers.primitives('--uri', 'command:workbench.action.x', '--many', '1') });
    // The transparent mode has no resources.
    const host = await GatewaySession.connect(workspace, mode === 'transparent' ? [] : args);
    const { result } = await host.request('resources/list');
    expect(JSON.stringify(result)).toContain('note://fixture/0');
    expect(JSON.stringify(result)).not.toContain('command:');
  });
});
