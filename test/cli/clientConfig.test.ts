import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
      'from a tarball that npm installed',
      { script: '/usr/lib/node_modules/waygate/dist/waygate.cjs' },
      {
        command: '/usr/bin/node',
        args: ['/usr/lib/node_modules/waygate/dist/waygate.cjs', 'serve', '--workspace', '/w'],
      },
    ],
  ])('%s', (_, more, expected) => {
    expect(ownLaunch({ workspace: '/w' }, { ...program, ...more })).toEqual(expected);
  });
});

describe('command that starts a Waygate that npx fetched', () => {
  /** Makes a folder of npx's cache that has Waygate by this specification. */
  function fetched(specification: string) {
    const cache = join(temporaryFolder('waygate-npx-'), '_npx', '1a2b');
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'package.json'), JSON.stringify({ dependencies: { waygate: specification } }));
    return { ...program, script: join(cache, 'node_modules', 'waygate', 'dist', 'waygate.cjs') };
  }
  const workspace = '/w';

  it('is npx, if npx has it from the registry', () => {
    const npx = ['-y', 'waygate', 'serve', '--workspace', '/w'];
    expect(ownLaunch({ workspace }, fetched('^0.1.0'))).toEqual({ command: 'npx', args: npx });
    const onWindows = { ...fetched('0.1.0'), platform: 'win32' as const };
    expect(ownLaunch({ workspace }, onWindows)).toEqual({ command: 'cmd', args: ['/c', 'npx', ...npx] });
  });

  it.each(['file:../../waygate-0.1.0.tgz', 'https://x.test/w.tgz'])(
    'is Node and the path, if it came from %s',
    (from) => {
      const packed = fetched(from);
      expect(ownLaunch({ workspace }, packed)).toMatchObject({ command: '/usr/bin/node', args: { 0: packed.script } });
    },
  );
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
    expect(stderr).toMatch(/^Next: add this to \.cursor\/mcp\.json; keep the entries that are already there\. /);
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
