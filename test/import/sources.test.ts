// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLIENT_IDS, type ClientId } from '../../src/import/clientIds.ts';
import { UnreadableSource } from '../../src/import/sourceFile.ts';
import { CLIENT_SOURCES, clientSource, sourceOfFile } from '../../src/import/sources/all.ts';
import type { Surroundings } from '../../src/import/surroundings.ts';

const fixture = (name: string): string => resolve('test/fixtures/import', name);
const context = { workspace: '/w', env: { HOME: '/h' }, platform: 'linux' as NodeJS.Platform };
const parse = (id: ClientId, text: string, more: object = {}) => clientSource(id).parse(text, { ...context, ...more });

const FIXTURES: readonly [ClientId, string][] = [
  ['vscode', 'vscode.mcp.json'],
  ['claude-code', 'claude-code.mcp.json'],
  ['claude-code', 'claude-code.user.json'],
  ['claude-desktop', 'claude_desktop_config.json'],
  ['cursor', 'cursor.mcp.json'],
  ['windsurf', 'windsurf.mcp_config.json'],
  ['codex', 'codex.config.toml'],
  ['gemini', 'gemini.settings.json'],
  ['zed', 'zed.settings.json'],
  ['copilot-cli', 'copilot.mcp-config.json'],
  ['cline', 'cline_mcp_settings.json'],
  ['roo', 'roo.mcp.json'],
  ['continue', 'continue.config.yaml'],
  ['kiro', 'kiro.mcp.json'],
  ['opencode', 'opencode.jsonc'],
  ['opencode', 'opencode-v1.json'],
  ['lm-studio', 'lm-studio.mcp.json'],
];

describe('files of each client', () => {
  it.each(FIXTURES)('%s: reads %s as its golden file shows', async (id, name) => {
    const parsed = parse(id, readFileSync(fixture(name), 'utf8'));
    await expect(`${JSON.stringify(parsed, null, 2)}\n`).toMatchFileSnapshot(fixture(`golden/${name}.txt`));
  });

  it('have a fixture', () => {
    expect(new Set(FIXTURES.map(([id]) => id))).toEqual(new Set(CLIENT_IDS));
    expect(new Set(CLIENT_SOURCES.map(({ id }) => id))).toEqual(new Set(CLIENT_IDS));
  });
});

describe('details of an entry', () => {
  const only = (id: ClientId, entry: object, key = 'mcpServers', more: object = {}) =>
    parse(id, JSON.stringify({ [key]: { one: entry } }), more).servers[0];

  it('keeps cwd, envFile, inputs and headers of a VS Code server', () => {
    const text = JSON.stringify({
      servers: { a: { command: 'c', cwd: '/w', envFile: '.env' }, b: { url: 'https://b', headers: { H: '1' } } },
      inputs: [{ id: 'k' }],
    });
    const { servers, inputs } = parse('vscode', text);
    expect(servers.map(({ entry }) => entry)).toEqual([
      { command: 'c', cwd: '/w', envFile: '.env' },
      { url: 'https://b', headers: { H: '1' } },
    ]);
    expect(inputs).toEqual([{ type: 'promptString', id: 'k' }]);
  });

  it('keeps the walls of a VS Code server, its own or those of the whole file', () => {
    const rules = {
      network: { allowedDomains: ['a.example'] },
      filesystem: { allowWrite: ['${workspaceFolder}/out'] },
    };
    const command = { command: 'x' };
    const file = {
      sandbox: { network: { allowedDomains: ['b.example'] } },
      servers: {
        own: { ...command, sandboxEnabled: true, sandbox: rules },
        shared: { ...command, sandboxEnabled: true },
        empty: { ...command, sandboxEnabled: true, sandbox: {} },
        off: { ...command, sandboxEnabled: false, sandbox: rules },
        unset: { ...command, sandbox: rules },
      },
    };
    const { servers } = clientSource('vscode').parse(JSON.stringify(file), {
      env: {},
      platform: 'linux',
      workspace: '/w',
    });
    expect(servers.map(({ entry, notes }) => [(entry as { sandbox?: unknown }).sandbox, notes])).toEqual([
      [rules, []],
      [file.sandbox, []],
      [true, []],
      [false, ['not imported: sandbox']],
      [undefined, ['not imported: sandbox']],
    ]);
  });

  it('reports dropped keys by name, never by value', () => {
    const server = only('cursor', { command: 'c', timeout: 5, apiKey: 'fixture-value' });
    expect(server).toMatchObject({ entry: { command: 'c' }, notes: ['not imported: timeout, apiKey'] });
  });

  it.each<[string, ClientId, object, object]>([
    ['type "local"', 'copilot-cli', { type: 'local', command: 'c' }, { command: 'c' }],
    ['tools that are all', 'copilot-cli', { command: 'c', tools: ['*'] }, { command: 'c' }],
    ['streamable-http', 'claude-code', { type: 'streamable-http', url: 'u' }, { type: 'http', url: 'u' }],
    ['numbers among the arguments', 'cursor', { command: 'c', args: ['-p', 80] }, { command: 'c', args: ['-p', '80'] }],
    ['empty lists and objects', 'cursor', { command: 'c', args: [], env: {} }, { command: 'c' }],
    ['a command beside a URL', 'vscode', { command: 'c', url: 'u' }, { command: 'c' }],
    ['httpUrl', 'gemini', { httpUrl: 'u' }, { type: 'http', url: 'u' }],
    ['a bare url of Gemini', 'gemini', { url: 'u' }, { url: 'u' }],
    ['a bare url', 'cursor', { url: 'u' }, { url: 'u' }],
    ['an SSE server', 'cursor', { type: 'sse', url: 'u' }, { type: 'sse', url: 'u' }],
    ['a url of Gemini with its type', 'gemini', { url: 'u', type: 'http' }, { type: 'http', url: 'u' }],
    ['serverUrl', 'windsurf', { serverUrl: 'u' }, { url: 'u' }],
    ['disabled', 'windsurf', { command: 'c', disabled: true }, { command: 'c', disabled: true }],
  ])('%s', (_, id, entry, expected) => {
    expect(only(id, entry)?.entry).toEqual(expected);
  });

  it('disables a server that Gemini’s allow list omits', () => {
    const text = JSON.stringify({ mcp: { allowed: ['a'] }, mcpServers: { a: { command: 'a' }, b: { command: 'b' } } });
    expect(parse('gemini', text).servers.map(({ entry }) => entry.disabled)).toEqual([undefined, true]);
  });

  it('translates references', () => {
    const args = ['${ONE}', '${TWO:-two}', '${SET:-x}', '$THREE', '${env:FOUR}', '${workspaceFolder}'];
    const read = (id: ClientId) => only(id, { command: 'c', args }, 'mcpServers', { env: { SET: '1' } })?.entry;
    const common = ['${env:ONE}', 'two', '${env:SET}'];
    expect(read('claude-code')).toMatchObject({ args: [...common, '$THREE', '${env:FOUR}', '${env:workspaceFolder}'] });
    expect(read('gemini')).toMatchObject({
      args: [...common, '${env:THREE}', '${env:FOUR}', '${env:workspaceFolder}'],
    });
    expect(read('cursor')).toMatchObject({ args });
  });

  it('uses the path separator of the platform', () => {
    const server = only('cursor', { command: 'a${/}b${pathSeparator}c' }, 'mcpServers', { platform: 'win32' });
    expect(server?.entry).toEqual({ command: 'a\\b\\c' });
  });

  it.each<ClientId>(['claude-desktop', 'zed'])('notes that %s replaced no references', (id) => {
    const server = only(id, { command: '${HOME}/x' }, id === 'zed' ? 'context_servers' : 'mcpServers');
    expect(server).toMatchObject({ entry: { command: '${HOME}/x' }, notes: [expect.stringContaining('was literal')] });
  });

  it('finds Claude Code’s own servers of this folder in any spelling of the path', () => {
    const text = JSON.stringify({ projects: { 'C:/Work/App/': { mcpServers: { a: { command: 'a' } } } } });
    const { servers } = parse('claude-code', text, { workspace: 'c:\\work\\app', platform: 'win32' });
    expect(servers.map(({ path }) => path)).toEqual([['projects', 'C:/Work/App/', 'mcpServers', 'a']]);
  });
});

describe('limits of a server', () => {
  const only = (id: ClientId, entry: object, more: object = {}, context: object = {}) =>
    parse(id, JSON.stringify({ mcpServers: { one: entry }, ...more }), context).servers[0];
  const program = { command: 'c' };
  const toml = (lines: string) => parse('codex', `[mcp_servers.one]\ncommand = "c"\n${lines}`).servers[0];

  it.each<[string, ReturnType<typeof only>, object]>([
    [
      'Codex’s lists',
      toml('enabled_tools = ["a", "b"]\ndisabled_tools = ["b"]'),
      { include: ['a', 'b'], exclude: ['b'] },
    ],
    ['Codex’s empty list', toml('enabled_tools = []'), { exclude: ['*'] }],
    [
      'Gemini’s lists',
      only('gemini', { ...program, includeTools: ['a(x)'], excludeTools: ['b'] }),
      { include: ['a'], exclude: ['b'] },
    ],
    ['Windsurf’s list', only('windsurf', { ...program, disabledTools: ['a'] }), { exclude: ['a'] }],
    ['Kiro’s list', only('kiro', { ...program, disabledTools: ['a'] }), { exclude: ['a'] }],
    ['Roo’s list', only('roo', { ...program, disabledTools: ['a'] }), { exclude: ['a'] }],
    ['Copilot CLI’s list', only('copilot-cli', { ...program, tools: ['a'] }), { include: ['a'] }],
    ['Copilot CLI’s empty list', only('copilot-cli', { ...program, tools: [] }), { exclude: ['*'] }],
  ])('%s become "tools"', (_, server, tools) => {
    expect(server).toMatchObject({ entry: { command: 'c', tools }, notes: [] });
    expect(server?.entry.disabled).toBeUndefined();
  });

  it.each<[string, ReturnType<typeof only>, string]>([
    ['names that are no texts', only('gemini', { ...program, includeTools: [{ name: 'a' }] }), 'includeTools'],
    ['an unknown filter', only('cursor', { ...program, toolFilter: { deny: ['a'] } }), 'toolFilter'],
    ['a question at each call', toml('default_tools_approval_mode = "prompt"'), 'approval mode'],
    ['a question at one tool', toml('[mcp_servers.one.tools.a]\napproval_mode = "prompt"'), 'approval mode'],
  ])('keep it disabled if they are lost: %s', (_, server, key) => {
    expect(server?.entry).toMatchObject({ command: 'c', disabled: true });
    expect(server?.notes.join()).toContain(`it stays disabled, because its restriction is not imported: ${key}`);
  });

  it.each<[ClientId, object]>([
    ['cline', { autoApprove: ['a'] }],
    ['roo', { alwaysAllow: ['a'] }],
    ['gemini', { trust: true }],
    ['roo', { disabledTools: [] }],
  ])('of %s that only permit something leave it enabled: %j', (id, more) => {
    expect(only(id, { ...program, ...more })?.entry).toEqual(program);
  });

  it('of Claude Code come from all of its settings', () => {
    const server = (beside: object[], context: object = {}) =>
      only('claude-code', program, {}, { ...context, beside: beside.map((one) => JSON.stringify(one)) })?.entry;
    expect(server([{}])).toEqual(program);
    expect(server([{}, { disabledMcpjsonServers: ['one'] }])).toMatchObject({ disabled: true });
    expect(server([{ projects: { '/w': { disabledMcpjsonServers: ['one'] } } }])).toMatchObject({ disabled: true });
    expect(server([{ projects: { '/v': { disabledMcpjsonServers: ['one'] } } }])).toEqual(program);
    expect(server([{ permissions: { deny: ['mcp__one'] } }])).toMatchObject({ disabled: true });
    expect(server([{ permissions: { deny: ['mcp__one__drop', 'Bash'] } }])).toEqual({
      ...program,
      tools: { exclude: ['drop'] },
    });
    const broken = only('claude-code', program, {}, { beside: ['{'] });
    expect(broken).toMatchObject({ entry: { disabled: true }, notes: [expect.stringContaining('cannot be read')] });
  });

  it.each<[ClientId, object, object]>([
    ['claude-code', { oauth: { clientId: 'i', scopes: 'a b' } }, { clientId: 'i', scopes: ['a', 'b'] }],
    [
      'gemini',
      { oauth: { clientId: 'i', clientSecret: '${S}', scopes: ['a'] } },
      { clientId: 'i', clientSecret: '${env:S}', scopes: ['a'] },
    ],
    ['cursor', { auth: { CLIENT_ID: 'i', scopes: ['a'] } }, { clientId: 'i', scopes: ['a'] }],
    ['copilot-cli', { oauthClientId: 'i', oauthScopes: ['a'] }, { clientId: 'i', scopes: ['a'] }],
    ['kiro', { oauth: { clientId: 'i' }, oauthScopes: ['a'] }, { clientId: 'i', scopes: ['a'] }],
  ])('of %s: its sign-in is kept', (id, more, auth) => {
    expect(only(id, { url: 'u', ...more })?.entry).toEqual({ url: 'u', auth });
  });

  it.each<[string, ReturnType<typeof only>, object]>([
    [
      'Codex',
      toml('startup_timeout_sec = 20\ntool_timeout_sec = 90'),
      { entry: { startTimeoutSeconds: 20 }, callSeconds: 90 },
    ],
    ['Gemini', only('gemini', { ...program, timeout: 15_000 }), { callSeconds: 15 }],
    ['Cline', only('cline', { ...program, timeout: 60 }), { callSeconds: 60 }],
    ['Copilot CLI', only('copilot-cli', { ...program, timeout: 1_500 }), { callSeconds: 1.5 }],
  ])('of %s: its time limits are kept', (_, server, expected) => {
    expect(server).toMatchObject({ ...expected, notes: [] });
  });

  it.each([
    [['-y', '@modelcontextprotocol/server-sequential-thinking'], 'session'],
    [['@playwright/mcp@latest'], 'session'],
    [['chrome-devtools-mcp'], 'session'],
    [['-y', '@modelcontextprotocol/server-memory'], undefined],
  ])('of a server that keeps state: %j is shared by %s', (args, sharing) => {
    expect(only('cursor', { command: 'npx', args })?.entry.sharing).toBe(sharing);
  });

  it('of VS Code: inputs get a form that the gateway reads', () => {
    const inputs = [
      { id: 'made', type: 'command', command: 'my.pick', args: {} },
      {
        id: 'choice',
        type: 'pickString',
        description: 'Which?',
        options: [{ label: 'One', value: '1' }, '2'],
        default: '2',
      },
      { id: 'none', type: 'pickString' },
    ];
    expect(parse('vscode', JSON.stringify({ servers: {}, inputs })).inputs).toEqual([
      { type: 'promptString', id: 'made', description: 'Result of the VS Code command my.pick' },
      { type: 'pickString', id: 'choice', description: 'Which?', default: '2', options: ['1', '2'] },
      { type: 'promptString', id: 'none' },
    ]);
  });
});

describe('an unreadable server', () => {
  it.each<[string, unknown, string]>([
    ['no object', 'npx', 'it is not an object'],
    ['neither command nor URL', {}, 'it has neither a command nor a URL'],
    ['an empty command', { command: ' ' }, 'it has neither a command nor a URL'],
    ['arguments that are no list', { command: 'c', args: '-y' }, 'its "args" are not a list'],
    ['an environment that is no object', { command: 'c', env: ['A=b'] }, 'its "env" are not an object'],
    ['a variable that is no text', { command: 'c', env: { A: {} } }, '"env.A" is not a text'],
    ['another transport', { type: 'ws', url: 'u' }, 'Waygate does not know its type "ws"'],
  ])('%s', (_, entry, message) => {
    const text = JSON.stringify({ servers: { bad: entry, ok: { command: 'c' } } });
    const { servers, flaws } = parse('vscode', text);
    expect(flaws).toEqual([{ name: 'bad', message }]);
    expect(servers.map(({ name }) => name)).toEqual(['ok']);
  });

  it('is skipped if it has no name', () => {
    expect(parse('vscode', '{"servers":{" ":{"command":"c"}}}').flaws).toHaveLength(1);
  });

  it('is reported if the servers are a list', () => {
    expect(parse('cursor', '{"mcpServers":[]}').flaws).toEqual([
      { name: 'mcpServers', message: 'it is not an object of servers by name' },
    ]);
  });
});

describe('an unreadable file', () => {
  it.each<[ClientId, string, number, number]>([
    ['cursor', '{\n  "mcpServers": {,\n', 2, 18],
    ['vscode', '[]', 1, 1],
    ['codex', 'a = 1\n[mcp_servers.x\nsecret = "fixture-secret"', 2, 15],
  ])('of %s is reported with its line and column', (id, text, line, column) => {
    let error: unknown;
    try {
      parse(id, text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(UnreadableSource);
    expect(error).toMatchObject({ line, column, message: expect.not.stringContaining('fixture-secret') });
  });

  it('is reported at any nesting depth', () => {
    expect(() => parse('cursor', '['.repeat(200_000))).toThrow(UnreadableSource);
  });

  it('is readable with a byte order mark', () => {
    expect(parse('cursor', '\ufeff{"mcpServers":{"a":{"command":"c"}}}').servers).toHaveLength(1);
    expect(parse('codex', '\ufeff[mcp_servers.a]\ncommand = "c"').servers).toHaveLength(1);
  });
});

describe('client files', () => {
  const at = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): Surroundings => ({
    platform,
    home: platform === 'win32' ? 'C:\\Users\\u' : '/home/u',
    env,
    workspace: platform === 'win32' ? 'D:\\w' : '/w',
    subfolders: (folder) => (/[\\/]Code[\\/]User[\\/]profiles$/.test(folder) ? ['-1a2b'] : []),
    filesIn: (folder) => (/[\\/]\.continue[\\/]mcpServers$/.test(folder) ? ['a.yaml', 'b.json', 'README.md'] : []),
  });
  const files = (surroundings: Surroundings, ...ids: ClientId[]): string[] =>
    ids.flatMap((id) =>
      clientSource(id)
        .places(surroundings)
        .map(({ file }) => file),
    );

  it('are found on Linux', () => {
    expect(files(at('linux'), ...CLIENT_IDS)).toMatchInlineSnapshot(`
      [
        "/w/.vscode/mcp.json",
        "/home/u/.config/Code/User/mcp.json",
        "/home/u/.config/Code/User/profiles/-1a2b/mcp.json",
        "/home/u/.config/Code - Insiders/User/mcp.json",
        "/home/u/.config/VSCodium/User/mcp.json",
        "/home/u/.local/share/code-server/User/mcp.json",
        "/home/u/.vscode-server/data/User/mcp.json",
        "/w/.mcp.json",
        "/home/u/.claude.json",
        "/home/u/.config/Claude/claude_desktop_config.json",
        "/w/.cursor/mcp.json",
        "/home/u/.cursor/mcp.json",
        "/home/u/.codeium/windsurf/mcp_config.json",
        "/w/.codex/config.toml",
        "/home/u/.codex/config.toml",
        "/w/.gemini/settings.json",
        "/home/u/.gemini/settings.json",
        "/w/.zed/settings.json",
        "/home/u/.config/zed/settings.json",
        "/w/.github/mcp.json",
        "/home/u/.copilot/mcp-config.json",
        "/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "/home/u/.config/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "/home/u/.config/VSCodium/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "/home/u/.local/share/code-server/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "/home/u/.vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "/home/u/.cline/data/settings/cline_mcp_settings.json",
        "/w/.roo/mcp.json",
        "/home/u/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/home/u/.config/Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/home/u/.config/VSCodium/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/home/u/.local/share/code-server/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/home/u/.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/w/.continue/mcpServers/waygate.yaml",
        "/w/.continue/mcpServers/a.yaml",
        "/w/.continue/mcpServers/b.json",
        "/home/u/.continue/config.yaml",
        "/w/.kiro/settings/mcp.json",
        "/home/u/.kiro/settings/mcp.json",
        "/w/opencode.json",
        "/w/.opencode/opencode.json",
        "/w/opencode.jsonc",
        "/w/.opencode/opencode.jsonc",
        "/home/u/.config/opencode/opencode.json",
        "/home/u/.config/opencode/opencode.jsonc",
        "/home/u/.lmstudio/mcp.json",
      ]
    `);
  });

  it('are found on macOS', () => {
    const support = '/home/u/Library/Application Support';
    expect(files(at('darwin'), 'vscode', 'claude-desktop', 'zed')).toEqual(
      expect.arrayContaining([
        `${support}/Code/User/mcp.json`,
        `${support}/Code/User/profiles/-1a2b/mcp.json`,
        `${support}/Claude/claude_desktop_config.json`,
        '/home/u/.config/zed/settings.json',
      ]),
    );
  });

  it('are found on Windows', () => {
    const roaming = { APPDATA: 'C:\\Users\\u\\AppData\\Roaming' };
    const ids: ClientId[] = ['vscode', 'claude-desktop', 'zed', 'cursor', 'cline', 'roo', 'lm-studio', 'opencode'];
    const found = files(at('win32', roaming), ...ids);
    expect(found).toEqual(
      expect.arrayContaining([
        'D:\\w\\.vscode\\mcp.json',
        `${roaming.APPDATA}\\Code - Insiders\\User\\mcp.json`,
        `${roaming.APPDATA}\\Claude\\claude_desktop_config.json`,
        `${roaming.APPDATA}\\Zed\\settings.json`,
        'C:\\Users\\u\\.cursor\\mcp.json',
        `${roaming.APPDATA}\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json`,
        `${roaming.APPDATA}\\Code\\User\\globalStorage\\rooveterinaryinc.roo-cline\\settings\\mcp_settings.json`,
        'C:\\Users\\u\\.lmstudio\\mcp.json',
        'C:\\Users\\u\\.config\\opencode\\opencode.json',
      ]),
    );
    expect(files(at('win32'), ...ids)).toEqual(found);
  });

  it('are found through the clients’ own variables', () => {
    const env = { CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', COPILOT_HOME: '/e', XDG_CONFIG_HOME: '/x' };
    expect(files(at('linux', env), 'codex', 'claude-code', 'copilot-cli', 'claude-desktop', 'zed')).toEqual(
      expect.arrayContaining([
        '/c/config.toml',
        '/d/.claude.json',
        '/e/mcp-config.json',
        '/x/Claude/claude_desktop_config.json',
        '/x/zed/settings.json',
      ]),
    );
  });
});

describe('a named file', () => {
  it.each<[string, string, ClientId]>([
    ['/x/config.toml', '', 'codex'],
    ['/x/.mcp.json', '{}', 'claude-code'],
    ['/x/claude_desktop_config.json', '{}', 'claude-desktop'],
    ['/x/mcp_config.json', '{}', 'windsurf'],
    ['/x/mcp-config.json', '{}', 'copilot-cli'],
    ['C:\\x\\.cursor\\mcp.json', '{}', 'cursor'],
    ['/x/.gemini/settings.json', '{}', 'gemini'],
    ['/x/settings.json', '{"context_servers":{}}', 'zed'],
    ['/x/any.json', '{"servers":{}}', 'vscode'],
    ['/x/cline_mcp_settings.json', '{}', 'cline'],
    ['/x/mcp_settings.json', '{}', 'roo'],
    ['/x/.roo/mcp.json', '{}', 'roo'],
    ['/x/.kiro/settings/mcp.json', '{}', 'kiro'],
    ['/x/.lmstudio/mcp.json', '{}', 'lm-studio'],
    ['/x/opencode.jsonc', '{}', 'opencode'],
    ['/x/config.yaml', 'mcpServers: []', 'continue'],
    ['/x/.continue/mcpServers/any.json', '{}', 'continue'],
    ['/x/any.json', '{"mcpServers":{}}', 'claude-code'],
  ])('%s with %s has the form of %s', (file, text, id) => {
    expect(sourceOfFile(file, text).id).toBe(id);
  });
});
