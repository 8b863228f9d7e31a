import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { clientConfigText, ownLaunch } from '../../src/cli/commands/clientConfig.ts';
import { CLIENT_IDS } from '../../src/import/clientIds.ts';
import { isWaygate } from '../../src/import/sameServer.ts';
import { clientSource } from '../../src/import/sources/all.ts';
import { temporaryFolder, WAYGATE } from '../support/workspace.ts';

const program = {
  script: '/opt/wg/dist/waygate.cjs',
  nodePath: '/usr/bin/node',
  platform: 'linux' as NodeJS.Platform,
  isElectron: false,
};
const launch = ownLaunch({ workspace: '/home/u/my "work"' }, program);

describe('client configuration', () => {
  it('renders the entry in each client’s own format', async () => {
    const all = CLIENT_IDS.map((id) => `# ${id}\n${clientConfigText(id, launch)}`).join('\n');
    await expect(all).toMatchFileSnapshot('../fixtures/import/golden/client-config.txt');
  });

  it.each(CLIENT_IDS)('%s: Waygate’s reader for the client finds the entry', (id) => {
    const context = { workspace: '/w', env: {}, platform: 'linux' as NodeJS.Platform };
    const { servers, flaws } = clientSource(id).parse(clientConfigText(id, launch), context);
    expect(flaws).toEqual([]);
    expect(servers).toMatchObject([{ name: 'waygate', entry: launch, notes: [] }]);
    expect(servers.map(({ entry }) => isWaygate(entry))).toEqual([true]);
  });
});

describe('command that starts Waygate', () => {
  it.each<[string, object, object]>([
    [
      'from a checkout',
      {},
      { command: '/usr/bin/node', args: ['/opt/wg/dist/waygate.cjs', 'serve', '--workspace', '/w'] },
    ],
    [
      'by Electron',
      { isElectron: true },
      {
        command: '/usr/bin/node',
        args: ['/opt/wg/dist/waygate.cjs', 'serve', '--workspace', '/w'],
        env: { ELECTRON_RUN_AS_NODE: '1' },
      },
    ],
    [
      'from npm',
      { script: '/home/u/.npm/_npx/1a/node_modules/waygate/dist/waygate.cjs' },
      { command: 'npx', args: ['-y', 'waygate', 'serve', '--workspace', '/w'] },
    ],
    [
      'from npm on Windows',
      { script: 'C:\\npm\\node_modules\\waygate\\dist\\waygate.cjs', platform: 'win32' },
      { command: 'cmd', args: ['/c', 'npx', '-y', 'waygate', 'serve', '--workspace', '/w'] },
    ],
  ])('%s', (_, more, expected) => {
    expect(ownLaunch({ workspace: '/w' }, { ...program, ...more })).toEqual(expected);
  });
});

it('names an explicitly given configuration', () => {
  const target = { workspace: '/w', configFile: '/c/mine.json' };
  expect(ownLaunch(target, program).args.slice(1)).toEqual(['serve', '--workspace', '/w', '--config', '/c/mine.json']);
});

describe('waygate client-config', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [WAYGATE, 'client-config', ...args], { encoding: 'utf8' });

  it('prints only the entry, with this Node and this program', () => {
    const workspace = temporaryFolder('waygate-client-');
    const { status, stdout, stderr } = run('cursor', '--workspace', workspace);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      mcpServers: { waygate: { command: process.execPath, args: [WAYGATE, 'serve', '--workspace', workspace] } },
    });
    expect(stderr).toBe('Add this to .cursor/mcp.json; keep the entries that are already there.\n');
  });

  it.each<[string[], RegExp]>([
    [[], /needs one client; there are vscode, /],
    [['cursor', 'zed'], /needs one client/],
    [['cursr'], /did you mean "cursor"\?/],
  ])('refuses the arguments %j', (args, message) => {
    const { status, stderr } = run(...args);
    expect([status, stderr]).toEqual([64, expect.stringMatching(message)]);
  });
});
