import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigLayers, type MergedConfig } from '../../src/config/configLayers.ts';
import type { ServerConfig, StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { followReferences } from '../../src/config/secretReferences.ts';
import { configRoot, workspaceStateFolder } from '../../src/config/state/stateFolder.ts';
import { needsApproval } from '../../src/trust/approvals.ts';
import { temporaryFolder } from '../support/workspace.ts';

interface Files {
  user?: object | string;
  workspace?: object | string;
}

function place({ user, workspace }: Files) {
  const root = temporaryFolder('wg-layers-');
  const folder = join(root, 'w');
  const env = { WAYGATE_CONFIG_DIR: join(root, 'user') };
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  mkdirSync(env.WAYGATE_CONFIG_DIR);
  const files = { user: join(env.WAYGATE_CONFIG_DIR, 'waygate.json'), workspace: join(folder, '.vscode/waygate.json') };
  const write = (file: string, content: object | string): void =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  if (user) write(files.user, user);
  if (workspace) write(files.workspace, workspace);
  return { root, folder, env, files, write };
}

const load = (files: Files): MergedConfig => {
  const { folder, env } = place(files);
  return new ConfigLayers(folder, env).load();
};
const find = ({ servers }: MergedConfig, name: string): ServerConfig =>
  servers.find((server) => server.name === name) as ServerConfig;
const messages = ({ problems }: MergedConfig): string[] =>
  problems.map(({ severity, message, location }) => `${severity} ${location.line}:${location.column} ${message}`);

describe("the user's own file and a workspace's", () => {
  it("are merged: the workspace's servers need approval and replace none of the user's", () => {
    const config = load({
      user: { servers: { mine: { command: 'mine' }, both: { command: 'of-user' } } },
      workspace: { servers: { both: { command: 'of-workspace' }, theirs: { command: 'theirs' } } },
    });
    expect(config.problems.map(({ message }) => message)).toEqual([
      '"servers.both" has no effect: your own waygate.json has the server "both". Give it another name.',
    ]);
    expect(config.servers.map((server) => [server.name, (server as StdioServerConfig).command])).toEqual([
      ['mine', 'mine'],
      ['both', 'of-user'],
      ['theirs', 'theirs'],
    ]);
    expect(config.servers.map(needsApproval)).toEqual([false, false, true]);
    // A server without a file is trusted least.
    const { origin: _, ...made } = find(config, 'mine');
    expect(needsApproval(made as ServerConfig)).toBe(true);
  });

  it.each([
    ['disables it', 'github', { command: 'x', disabled: true }],
    ['has an error', 'github', { comand: 'theirs' }],
    ['has another case', 'GitHub', { command: 'theirs' }],
    [
      'has look-alike letters',
      'gіtһuЬ'.replace(/[a-z]/g, (letter) => ({ g: 'ց', t: 'т', u: 'ս' })[letter] ?? letter),
      { command: 'x' },
    ],
    ['has another digit', 'g1thub', { command: 'theirs' }],
  ])('keep a server of the user if an entry of the workspace with its name %s', (_, name, entry) => {
    const config = load({
      user: { servers: { github: { command: 'mine' } } },
      workspace: { servers: { [name]: entry } },
    });
    expect(config.servers).toMatchObject([{ name: 'github', command: 'mine', disabled: false, origin: 'user' }]);
  });

  it('have names of one script in a workspace', () => {
    const named = (name: string) => load({ workspace: { servers: { [name]: { command: 'x' } } } });
    for (const name of [
      'github',
      'My Server 2',
      'a.b_c-d',
      'Größe',
      'сервер',
      'サーバー',
      '服务器 2',
      'é'.normalize('NFD'),
      'x'.repeat(64),
    ]) {
      expect(named(name).servers, name).toHaveLength(1);
    }
    const bad = [
      'gіthub',
      'git\u200bhub',
      'github ',
      '-x',
      '.x',
      'a/b',
      '[a](command:b)',
      'a\u202eb',
      'a\nb',
      'a\u001b[2J',
      'x'.repeat(65),
      'αb',
    ];
    for (const name of bad) {
      const { servers, broken, problems } = named(name);
      expect([servers.length, broken.length], name).toEqual([0, 1]);
      expect(problems[0]?.message).toMatch(/needs another name: at most 64 letters and digits of one script/);
      expect(`${problems[0]?.message}${broken[0]?.name}`).not.toMatch(/[\u200b\u202e]/);
    }
    // The user's own file may have any name.
    expect(load({ user: { servers: { '-x': { command: 'x' } } } }).servers).toHaveLength(1);
  });

  it('are merged by block: a block of the later file replaces that of the earlier one', () => {
    const config = load({
      user: { browse: { topK: 5, learning: false }, idleMinutes: 3, startup: { mode: 'strict' } },
      workspace: { browse: { topK: 7 }, liveRefresh: { enabled: false } },
    });
    expect(config.settings.browse).toEqual({ topK: 7, cacheStable: false, learning: true });
    expect(config.settings.idleMinutes).toBe(3);
    expect(config.settings.startup.mode).toBe('strict');
    expect(config.settings.liveRefresh.enabled).toBe(false);
  });

  it("run the user's own servers outside the repository, which could contain programs and settings", () => {
    const config = load({
      user: { servers: { a: { command: 'npx' }, b: { command: 'x', cwd: 'tools' } } },
      workspace: { servers: { c: { command: 'npx' } } },
    });
    const cwd = (name: string): string => (find(config, name) as StdioServerConfig).cwd;
    expect([cwd('a'), cwd('b')]).toEqual([homedir(), join(homedir(), 'tools')]);
    expect(cwd('c')).toMatch(/\/w$/);
  });

  it("keep the user's masking and warn if the workspace would switch it off", () => {
    const config = load({
      user: { artifacts: { maskSecrets: 'always', maskOnDisk: true, shownChars: 500 } },
      workspace: '{\n  "artifacts": { "maskSecrets": "never", "maskOnDisk": false }\n}',
    });
    expect(config.settings.artifacts).toMatchObject({ maskSecrets: 'always', maskOnDisk: true, shownChars: 4_000 });
    expect(messages(config)).toEqual([
      'warning 2:33 "artifacts.maskSecrets" has no effect: your own waygate.json sets "always", which is stricter.',
      'warning 2:56 "artifacts.maskOnDisk" has no effect: your own waygate.json sets true, which is stricter.',
    ]);
    expect(config.problems[0]?.location.file).toMatch(/\.vscode\/waygate\.json$/);
    // Artifacts without mask keys change no mask and are no error.
    const silent = load({
      user: { artifacts: { maskSecrets: 'always' } },
      workspace: { artifacts: { shownChars: 900 } },
    });
    expect(silent).toMatchObject({ settings: { artifacts: { maskSecrets: 'always', shownChars: 900 } }, problems: [] });
    // The workspace may add a mask, and decides if the user's file is silent.
    expect(load({ workspace: { artifacts: { maskSecrets: 'never' } } }).settings.artifacts.maskSecrets).toBe('never');
    const stricter = load({
      user: { artifacts: { maskSecrets: 'errors' } },
      workspace: { artifacts: { maskSecrets: 'always', maskOnDisk: true } },
    });
    expect(stricter).toMatchObject({
      settings: { artifacts: { maskSecrets: 'always', maskOnDisk: true } },
      problems: [],
    });
  });

  it('warn of references to servers that no file has', () => {
    const rules = [
      { action: 'deny', server: 'warehose' },
      { action: 'deny', server: 'mine' },
      { action: 'deny', server: 'far' },
    ];
    const tools = { 'warehouse:sql#1': {}, 'warehose:sql#1': {}, 'other:tool': {}, 'resource::mine:a#1': {} };
    const config = load({
      user: { servers: { mine: { command: 'x' } }, policy: { rules }, rateLimits: { perTool: tools } },
      workspace: JSON.stringify({
        servers: { warehouse: { command: 'x' } },
        policy: {
          rules: [
            { action: 'deny', namespace: 'warehous' },
            { action: 'deny', namespace: 'catalog' },
          ],
        },
        replay: { servers: { Mine: 'convergent' }, trustHints: ['far'] },
        timeouts: { servers: { warehouse: 5, warhouse: 5 } },
      }),
    });
    expect(messages(config).map((one) => one.replace(/^(\w+) 1:\d+ /, '$1 '))).toEqual([
      // The user's own file may name servers of another workspace.
      'warning There is no server "warehose"; did you mean "warehouse"?',
      'warning There is no server "warehose"; did you mean "warehouse"?',
      'warning There is no server "warehous"; did you mean "warehouse"?',
      'warning There is no server "warhouse"; did you mean "warehouse"?',
      'warning There is no server "Mine"; did you mean "mine"?',
      'warning There is no server "far"; add it to "servers" or correct the name.',
    ]);
  });

  it("keep defaults of a workspace's inputs out of the user's own servers", async () => {
    const input = (preset: string) => [{ id: 'host', type: 'promptString', default: preset }];
    const config = load({
      user: { inputs: input('good.example'), servers: { mine: { command: 'x', args: ['${input:host}'] } } },
      workspace: { inputs: input('evil.example'), servers: { theirs: { command: 'x', args: ['${input:host}'] } } },
    });
    const argsOf = async (name: string): Promise<readonly string[]> => {
      const server = find(config, name);
      const source = { get: async () => undefined };
      return ((await followReferences(server, source)) as StdioServerConfig).args;
    };
    expect(await argsOf('mine')).toEqual(['good.example']);
    expect(await argsOf('theirs')).toEqual(['evil.example']);
  });

  it('report each problem with its own file', () => {
    const { folder, env, files } = place({ user: '{\n"servers": {', workspace: { sevrers: {} } });
    const { problems } = new ConfigLayers(folder, env).load();
    expect(problems.map(({ location }) => [location.file, location.line])).toEqual([
      [files.user, 2],
      [files.workspace, 1],
    ]);
  });

  it('each keep their last readable content if they break, and count as empty if they are deleted', () => {
    const user = { servers: { mine: { command: 'x' } } };
    const workspace = { servers: { theirs: { command: 'y' } } };
    const { folder, env, files, write } = place({ user, workspace });
    const layers = new ConfigLayers(folder, env);
    const names = (): string[] => layers.load().servers.map(({ name }) => name);
    expect(names()).toEqual(['mine', 'theirs']);
    write(files.user, '{"servers": ');
    write(files.workspace, { servers: { other: { command: 'z' } } });
    expect(names()).toEqual(['mine', 'other']);
    write(files.user, user);
    write(files.workspace, 'nonsense');
    expect(names()).toEqual(['mine', 'other']);
    rmSync(files.user);
    expect(names()).toEqual(['other']);
    expect(layers.load().files).toEqual([
      { origin: 'user', file: files.user, exists: false },
      { origin: 'workspace', file: files.workspace, exists: true },
    ]);
  });

  it('are not read if a file is given by --config', () => {
    const { root, folder, env, write } = place({
      user: { idleMinutes: 3, servers: { mine: { command: 'x' } } },
      workspace: { servers: { theirs: { command: 'y' } } },
    });
    const given = join(root, 'given.json');
    write(given, { servers: { one: { command: 'z' } } });
    const layers = new ConfigLayers(folder, env, given);
    const config = layers.load();
    expect(config).toMatchObject({ file: given, settings: { idleMinutes: 10 }, files: [{ origin: 'given' }] });
    expect(config.servers).toMatchObject([{ name: 'one', cwd: folder }]);
    expect(config.servers.map(needsApproval)).toEqual([false]);
    // The user named this file, so its deletion is an error, and its content stays in force.
    rmSync(given);
    const gone = layers.load();
    expect(gone.servers.map(({ name }) => name)).toEqual(['one']);
    expect(messages(gone)).toEqual([
      'error 1:1 given.json does not exist. Until then the last readable version of this file stays in force.',
    ]);
  });
});

describe('the places', () => {
  it('follow the system, unless the environment names another folder', () => {
    expect(configRoot({ WAYGATE_CONFIG_DIR: '/c' })).toBe('/c');
    if (process.platform !== 'linux') return;
    expect(configRoot({ XDG_CONFIG_HOME: '/x' })).toBe('/x/waygate');
    expect(configRoot({})).toBe(join(homedir(), '.config', 'waygate'));
  });

  it('make a separate gateway of a file given by --config', () => {
    const folders = [[], ['config', '/a.json'], ['config', '/b.json']].map((variant) =>
      workspaceStateFolder('/w', '/s', variant),
    );
    expect(new Set(folders).size).toBe(3);
    expect(folders[0]).toBe(workspaceStateFolder('/w', '/s'));
  });
});
