import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { LaunchApprovals } from '../../src/trust/approvals.ts';
import { shownLines } from '../../src/trust/launch.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** Workspace, state folder and `PATH` of a test, with the approvals of the workspace. */
function place() {
  const root = temporaryFolder('wg-');
  const [workspace, bin, state] = ['workspace', 'bin', 'state'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [workspace, bin]) mkdirSync(folder);
  const program = (folder: string, name: string): string => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
    return join(folder, name);
  };
  const env: NodeJS.ProcessEnv = { PATH: bin, CI_TOKEN: 'env-canary', OTHER: 'env-canary-2' };
  const approvalsOf = (folder = workspace): LaunchApprovals =>
    new LaunchApprovals({
      stateRoot: state,
      workspace: folder,
      path: () => env.PATH,
    });
  const server = (entry: object, rest: object = {}, name = 'one'): ServerConfig => {
    const text = JSON.stringify({ ...rest, servers: { [name]: entry } });
    const { servers, problems } = parseConfig(text, join(workspace, '.vscode/waygate.json'), workspace, env);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    return servers[0] as ServerConfig;
  };
  for (const name of ['tool', 'npx', 'other']) program(bin, name);
  writeFileSync(join(workspace, '.env'), 'A=1\n');
  return { root, workspace, bin, state, env, program, approvalsOf, server };
}
type Place = ReturnType<typeof place>;

const INPUT = { id: 'flag', type: 'promptString', default: '--enable-source-maps' };
const PROGRAM = { command: 'tool', args: ['a', '${input:flag}'], env: { API: 'https://good', T: '${secret:prod}' } };
const ADDRESS = { url: 'https://x/mcp', headers: { 'X-Trace': 'one' } };
const file = ({ workspace }: Place, name: string, text: string): void => writeFileSync(join(workspace, name), text);
const HIDDEN_KEY = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;

/** Changes after which a server needs another approval. */
const CHANGES: [what: string, before: object, after: object | ((place: Place) => void), rest?: object][] = [
  ['the default of an input', PROGRAM, PROGRAM, { inputs: [{ ...INPUT, default: '--import=data:text/javascript,x' }] }],
  ['an input that becomes a password', PROGRAM, PROGRAM, { inputs: [{ ...INPUT, password: true }] }],
  ['the value of a variable', PROGRAM, { ...PROGRAM, env: { ...PROGRAM.env, API: 'https://evil' } }],
  ['the name of a variable', PROGRAM, { ...PROGRAM, env: { API2: 'https://good', T: '${secret:prod}' } }],
  ['another secret', PROGRAM, { ...PROGRAM, env: { ...PROGRAM.env, T: '${secret:other}' } }],
  ['a variable of the environment', PROGRAM, { ...PROGRAM, env: { ...PROGRAM.env, LOG: '${env:CI_TOKEN}' } }],
  [
    'another variable of the environment',
    { ...PROGRAM, args: ['${env:CI_TOKEN}', '${input:flag}'] },
    { ...PROGRAM, args: ['${env:OTHER}', '${input:flag}'] },
  ],
  [
    'a text that becomes a reference',
    { ...PROGRAM, args: ['env-canary', '${input:flag}'] },
    { ...PROGRAM, args: ['${env:CI_TOKEN}', '${input:flag}'] },
  ],
  ['HOME', PROGRAM, { ...PROGRAM, env: { ...PROGRAM.env, HOME: '${workspaceFolder}' } }],
  ['PATH', { ...PROGRAM, env: { PATH: '/a' } }, { ...PROGRAM, env: { PATH: '/b' } }],
  ['the command', PROGRAM, { ...PROGRAM, command: 'other' }],
  ['the folder', PROGRAM, { ...PROGRAM, cwd: '/' }],
  ['an argument', PROGRAM, { ...PROGRAM, args: ['b', '${input:flag}'] }],
  ['the end of an argument', { ...PROGRAM, args: ['a b'] }, { ...PROGRAM, args: ['a', 'b'] }],
  ['envFile', PROGRAM, { ...PROGRAM, envFile: '.env' }],
  ['the content of envFile', { ...PROGRAM, envFile: '.env' }, (at) => file(at, '.env', 'A=2\n')],
  ['a comment in envFile', { ...PROGRAM, envFile: '.env' }, (at) => file(at, '.env', 'A=1\n# x\n')],
  ['no walls', PROGRAM, { ...PROGRAM, sandbox: false }],
  ['walls with a way out', PROGRAM, { ...PROGRAM, sandbox: { network: { allowedDomains: ['evil.example'] } } }],
  ['walls with a folder', PROGRAM, { ...PROGRAM, sandbox: { filesystem: { allowWrite: ['~'] } } }],
  [
    'walls with a folder of the environment',
    { ...PROGRAM, sandbox: { filesystem: { allowWrite: ['${env:OTHER}'] } } },
    (at) => void Object.assign(at.env, { OTHER: '/' }),
  ],
  ['the kind of server', PROGRAM, ADDRESS],
  ['the transport', ADDRESS, { ...ADDRESS, type: 'sse' }],
  ['the address', ADDRESS, { ...ADDRESS, url: 'https://y/mcp' }],
  ['a look-alike address', ADDRESS, { ...ADDRESS, url: 'https://х/mcp' }],
  ['the value of a header', ADDRESS, { ...ADDRESS, headers: { 'X-Trace': 'two' } }],
  ['a header from the environment', ADDRESS, { ...ADDRESS, headers: { 'X-Trace': '${env:CI_TOKEN}' } }],
  ['the name of a header', ADDRESS, { ...ADDRESS, headers: { 'X-Other': 'one' } }],
  ['the sign-in', ADDRESS, { ...ADDRESS, auth: { issuer: 'https://login.evil' } }],
  [
    'a secret in clear',
    { ...PROGRAM, env: { API_TOKEN: HIDDEN_KEY } },
    { ...PROGRAM, env: { API_TOKEN: `${HIDDEN_KEY}2` } },
  ],
  ['a program that was missing', { command: 'absent' }, (at) => void at.program(at.bin, 'absent')],
  [
    'a package of the workspace for a package runner in it',
    { command: 'npx', args: ['-y', '@scope/pkg@1'], cwd: '${workspaceFolder}' },
    (at) => mkdirSync(join(at.workspace, 'node_modules/@scope/pkg'), { recursive: true }),
  ],
  [
    'a configuration of the package runner in the workspace',
    { command: '/bin/sh', args: ['-c', 'exec npx -y pkg'], cwd: '${workspaceFolder}' },
    (at) => file(at, '.npmrc', 'registry=http://evil'),
  ],
  [
    'a script of the workspace behind an option',
    { command: 'tool', args: ['--require=./hook.cjs'] },
    (at) => file(at, 'hook.cjs', ''),
  ],
];

describe('an approval', () => {
  it.each(CHANGES)('does not cover a change of %s', (_, before, after, rest) => {
    const at = place();
    const approvals = at.approvalsOf();
    const inputs = { inputs: [INPUT] };
    const first = at.server(before, inputs);
    approvals.approve([approvals.launch(first)]);
    expect(approvals.isApproved(at.server(before, inputs))).toBe(true);
    if (typeof after === 'function') after(at);
    const changed = at.server(typeof after === 'function' ? before : after, rest ?? inputs);
    expect(approvals.isApproved(changed)).toBe(false);
    // The user sees the difference.
    const launch = approvals.launch(changed);
    expect(shownLines(launch, approvals.before(launch)).some((line) => /^[+-] /.test(line))).toBe(true);
  });

  it('does not cover another name of the server, nor another workspace', () => {
    const { approvalsOf, server, root } = place();
    const approvals = approvalsOf();
    approvals.approve([approvals.launch(server(ADDRESS))]);
    expect(approvals.isApproved(server(ADDRESS))).toBe(true);
    expect(approvals.isApproved(server(ADDRESS, {}, 'two'))).toBe(false);
    expect(approvalsOf(root).isApproved(server(ADDRESS))).toBe(false);
  });

  it('covers the order of variables, and keys that decide nothing about the launch', () => {
    const { approvalsOf, server } = place();
    const approvals = approvalsOf();
    approvals.approve([approvals.launch(server({ command: 'tool', env: { A: '1', B: '2' } }))]);
    expect(approvals.isApproved(server({ command: 'tool', env: { B: '2', A: '1' }, keepAlive: true }))).toBe(true);
  });

  it('covers a file that the server itself creates', () => {
    const at = place();
    const approvals = at.approvalsOf();
    const entry = at.server({ command: 'tool', args: ['--db', './data.sqlite'] });
    approvals.approve([approvals.launch(entry)]);
    file(at, 'data.sqlite', '');
    expect(approvals.isApproved(entry)).toBe(true);
    expect(approvals.launch(entry).lines.at(-1)).toBe('may read, change or run in this workspace: data.sqlite');
  });

  it('pins the program, wherever the PATH leads later', () => {
    const { approvalsOf, server, program, env, bin, root } = place();
    const approvals = approvalsOf();
    const entry = server({ command: 'tool' });
    approvals.approve([approvals.launch(entry)]);
    program(join(root, 'first'), 'tool');
    env.PATH = `${join(root, 'first')}:${bin}`;
    expect(approvals.approved(entry)?.program).toBe(join(bin, 'tool'));
    expect(approvals.launch(server({ command: 'tool' }, {}, 'new')).program).toBe(join(root, 'first', 'tool'));
  });

  it('ends when the pinned program is gone', () => {
    const { approvalsOf, server, program, env, root } = place();
    const approvals = approvalsOf();
    const entry = server({ command: 'tool' });
    const first = program(join(root, 'v1'), 'tool');
    env.PATH = join(root, 'v1');
    approvals.approve([approvals.launch(entry)]);
    program(join(root, 'v2'), 'tool');
    env.PATH = join(root, 'v2');
    expect(approvals.isApproved(entry)).toBe(true);
    rmSync(first);
    expect(approvals.isApproved(entry)).toBe(false);
    const launch = approvals.launch(entry);
    expect(shownLines(launch, approvals.before(launch)).slice(0, 2)).toEqual([
      `- runs ${first}`,
      `+ runs ${join(root, 'v2', 'tool')}`,
    ]);
  });

  it('never finds a program in a relative or empty part of the PATH', () => {
    const { approvalsOf, server, program, env, bin, workspace } = place();
    program(workspace, 'tool');
    for (const path of [`.:${bin}`, `:${bin}`, `${bin}:`, `bin:${bin}`]) {
      env.PATH = path;
      expect(approvalsOf().launch(server({ command: 'tool' })).program).toBe(join(bin, 'tool'));
    }
    env.PATH = '.:';
    expect(approvalsOf().launch(server({ command: 'tool' })).lines[0]).toBe('runs tool (not found)');
  });

  it('is lost with the name of its server', () => {
    const { approvalsOf, server, state } = place();
    const approvals = approvalsOf();
    for (const name of ['a', 'b', 'c']) approvals.approve([approvals.launch(server(ADDRESS, {}, name))]);
    expect(approvals.revoke(['a', 'z'])).toBe(1);
    expect(['a', 'b'].map((name) => approvals.isApproved(server(ADDRESS, {}, name)))).toEqual([false, true]);
    expect([approvals.revoke(), approvals.revoke()]).toEqual([2, 0]);
    expect(readFileSync(join(state, 'approvals.json'), 'utf8')).toBe('{}\n');
  });
});

describe('a launch as it is shown', () => {
  const linesOf = (at: Place, entry: object, rest?: object): readonly string[] =>
    at.approvalsOf().launch(at.server(entry, rest)).lines;

  it('has every part, the end of each argument, and characters that a terminal would hide', () => {
    const at = place();
    const long = 'x'.repeat(5_000);
    const args = ['-c', 'echo "hi"\n\u001b[2Krm -rf ~', long, '\u202efdp', '', '${input:flag}'];
    expect(
      linesOf(at, { command: '/bin/sh', args, env: { K: '${secret:demo}', PATH: '/evil:/bin' } }, { inputs: [INPUT] }),
    ).toEqual([
      `runs /bin/sh -c "echo \\"hi\\"\\n\\u001b[2Krm -rf ~" ${long} "\\u{202e}fdp" "" \${input:flag}`,
      `in ${at.workspace}`,
      'with the variable K=${secret:demo}',
      'with the variable PATH=/evil:/bin',
      `behind walls where the machine can: writes ${at.workspace}, has no network`,
      'uses --enable-source-maps as ${input:flag} unless you set it',
    ]);
    const auth = { clientId: 'us', clientSecret: '${secret:ours}', scopes: ['a', 'b'], issuer: 'https://login.x' };
    const headers = { Authorization: 'Bearer ${secret:demo}', B: 'c' };
    expect(linesOf(at, { url: 'https://x/mcp', type: 'http', headers, auth })).toEqual([
      'connects to https://x/mcp',
      'sends the header Authorization="Bearer ${secret:demo}"',
      'sends the header B=c',
      'signs in with clientId=us',
      'signs in with clientSecret=${secret:ours}',
      'signs in with issuer=https://login.x',
      'signs in with scopes="a b"',
    ]);
  });

  it('has the hash of envFile, and no value of it', () => {
    const at = place();
    writeFileSync(join(at.workspace, '.env'), 'UV_INDEX_URL=canary\n');
    const lines = linesOf(at, { command: 'tool', envFile: '.env' });
    expect(lines).toContain(
      `with the variables of ${join(at.workspace, '.env')}, SHA-256 ${createHash('sha256').update('UV_INDEX_URL=canary\n').digest('hex')}`,
    );
    expect(lines.join('\n')).not.toContain('canary');
  });

  it('has no value of the environment and no secret in clear', () => {
    const at = place();
    at.env.TOOLS = at.bin;
    const entry = {
      command: '${env:TOOLS}/tool',
      args: ['--key', HIDDEN_KEY, '${env:CI_TOKEN}'],
      env: { DB_PASSWORD: 'hunter2-x9!' },
    };
    const text = linesOf(at, entry).join('\n');
    expect(text).not.toContain('env-canary');
    expect(text).not.toContain(at.bin);
    expect(text).not.toContain(HIDDEN_KEY);
    expect(text).not.toContain('hunter2');
    expect(text).toMatch(
      /^runs \$\{env:TOOLS\}\/tool \(fingerprint [0-9a-f]{16}\) --key "?\[masked\]"? \(fingerprint [0-9a-f]{16}\) \$\{env:CI_TOKEN\}$/m,
    );
    const url = linesOf(at, { url: `https://x/mcp?api_key=${HIDDEN_KEY}` });
    expect(url[0]).toMatch(/^connects to "?https:\/\/x\/mcp\?api_key=\[masked\]"? \(fingerprint [0-9a-f]{16}\)$/);
  });

  it('says what it runs of the workspace', () => {
    const at = place();
    const { workspace, program } = at;
    const codeIn = (entry: object): string | undefined =>
      linesOf(at, entry)
        .find((line) => line.startsWith('runs code of this workspace: '))
        ?.slice(29);
    expect(codeIn({ command: 'tool', args: ['--version'] })).toBeUndefined();
    program(workspace, 'own.sh');
    mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
    mkdirSync(join(workspace, 'node_modules/pkg'));
    writeFileSync(join(workspace, 'node_modules/.bin/pkg'), '');
    expect(codeIn({ command: './own.sh' })).toBe('own.sh');
    expect(codeIn({ command: 'tool', args: ['own.sh'] })).toBe('own.sh');
    expect(codeIn({ command: '/bin/sh', args: ['-c', 'exec ./own.sh --x'] })).toBe('own.sh');
    expect(codeIn({ command: 'tool', args: ['--import=file://${workspaceFolder}/own.sh'] })).toBe('own.sh');
    symlinkSync(join(workspace, 'own.sh'), join(at.root, 'elsewhere'));
    expect(codeIn({ command: '${userHome}/x', args: [join(at.root, 'elsewhere')] })).toBe('own.sh');
    expect(codeIn({ command: 'npx', args: ['-y', 'pkg'], cwd: '${workspaceFolder}' })).toBe(
      'node_modules/.bin/pkg node_modules/pkg',
    );
    mkdirSync(join(workspace, 'sub'));
    expect(codeIn({ command: 'npx', args: ['pkg@1'], cwd: 'sub' })).toBe('node_modules/.bin/pkg node_modules/pkg');
    expect(codeIn({ command: 'python3', args: ['-m', 'server'] })).toBe('.');
    // As the example of README.md: a folder to work in.
    const files = { command: 'npx', args: ['-y', '@scope/server', '${workspaceFolder}'] };
    expect(codeIn(files)).toBeUndefined();
    expect(linesOf(at, files)).toContain('may read, change or run in this workspace: .');
    writeFileSync(join(workspace, 'uv.toml'), '');
    expect(codeIn({ command: 'uvx', args: ['x'], cwd: '${workspaceFolder}' })).toBe('uv.toml');
    for (const name of ['hook.cjs', 'server.js', 'lib.rb']) writeFileSync(join(workspace, name), '');
    expect(codeIn({ command: 'node', args: ['-r./hook.cjs', '-e', '1'] })).toBe('hook.cjs');
    expect(codeIn({ command: 'node', args: ['server'] })).toBe('server.js');
    expect(codeIn({ command: 'ruby', args: ['-r./lib', '-e', '1'] })).toBe('lib.rb');
    expect(codeIn({ command: 'tool', env: { NODE_OPTIONS: '--require ./hook.cjs' } })).toBe('hook.cjs');
    for (const [command, ...args] of [
      ['make', 'run'],
      ['cargo', 'run'],
      ['docker', 'compose', 'up'],
      ['poetry', 'run', 'x'],
    ])
      expect(codeIn({ command, args }), command).toBe('.');
    expect(codeIn({ command: '/bin/sh', args: ['-c', 'exec make run'] })).toBe('.');
    expect(codeIn({ command: 'docker', args: ['run', '-i', 'mcp/make'] })).toBeUndefined();
    const many = Object.fromEntries([...Array(300).keys()].map((index) => [`A${index}`, 'x.js']));
    expect(codeIn({ command: 'tool', env: many })).toBe('"variables that are too many to check"');
    expect(codeIn({ command: 'tool', args: ['x '.repeat(20_000)] })).toBe('"arguments that are too long to check"');
  });

  it('puts package runners of a workspace into a folder of their own, unless the entry has a folder', () => {
    const at = place();
    mkdirSync(join(at.workspace, 'node_modules/pkg'), { recursive: true });
    const isApart = (entry: object): boolean => at.approvalsOf().launch(at.server(entry)).isApart;
    for (const entry of [
      { command: 'npx', args: ['-y', 'pkg'] },
      { command: '/usr/bin/npx', args: ['pkg'] },
      { command: 'npm', args: ['exec', '--', 'pkg'] },
      { command: 'pnpm', args: ['dlx', 'pkg'] },
      { command: 'yarn', args: ['dlx', 'pkg'] },
      { command: 'bunx', args: ['pkg'] },
      { command: 'uvx', args: ['pkg'] },
      { command: 'pipx', args: ['run', 'pkg'] },
      { command: 'cmd', args: ['/c', 'npx.cmd', '-y', 'pkg'] },
      { command: '/usr/bin/env', args: ['A=1', 'npx', 'pkg'] },
      { command: '/bin/sh', args: ['-c', 'cd .;npx -y pkg'] },
      { command: 'node', args: ['/usr/lib/node_modules/npm/bin/npx-cli.js', 'pkg'] },
    ]) {
      expect(isApart(entry), JSON.stringify(entry)).toBe(true);
      expect(at.approvalsOf().launch(at.server(entry)).lines[1]).toBe('in an empty folder of its own');
      expect(isApart({ ...entry, cwd: '.' }), JSON.stringify(entry)).toBe(false);
    }
    for (const entry of [
      { command: 'tool', args: ['run'] },
      { command: 'npm', args: ['start'] },
    ])
      expect(isApart(entry)).toBe(false);
  });
});

describe('the file of approvals', () => {
  it('is readable by the owner only, and keeps what was approved', () => {
    const { approvalsOf, server, state } = place();
    const approvals = approvalsOf();
    const launch = approvals.launch(server(ADDRESS));
    approvals.approve([launch]);
    expect([approvals.file, join(state, 'approvals.key')].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o600, 0o600,
    ]);
    expect(approvals.before(launch)).toEqual(launch.lines);
    for (let n = 0; n < 20; n++) approvals.approve([approvals.launch(server({ ...ADDRESS, url: `https://x/${n}` }))]);
    const [kept] = Object.values(JSON.parse(readFileSync(approvals.file, 'utf8'))) as { approved: unknown[] }[];
    expect(kept?.approved).toHaveLength(8);
  });

  it.each([
    '',
    '[',
    'null',
    '5',
    '[]',
    '{"x": 5}',
    '{"x": {"approved": "all"}}',
    '{"x": {"approved": [{"hash": "a"}]}}',
  ])('approves nothing if it contains %s', (text) => {
    const { approvalsOf, server, state } = place();
    mkdirSync(state, { mode: 0o700 });
    const approvals = approvalsOf();
    writeFileSync(approvals.file, text, { mode: 0o600 });
    expect([approvals.isApproved(server(ADDRESS)), approvals.isApproved(server(PROGRAM, { inputs: [INPUT] }))]).toEqual(
      [false, false],
    );
    expect(approvals.flaw).toMatch(/^it is (?:damaged|not JSON)$/);
    approvals.approve([approvals.launch(server(ADDRESS))]);
    expect(approvals.isApproved(server(ADDRESS))).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)('approves nothing if others may have written it', () => {
    const { approvalsOf, server } = place();
    const approvals = approvalsOf();
    approvals.approve([approvals.launch(server(ADDRESS))]);
    chmodSync(approvals.file, 0o666);
    expect([approvals.isApproved(server(ADDRESS)), approvals.flaw]).toEqual([false, 'other users may write it']);
    chmodSync(approvals.file, 0o600);
    expect(approvals.isApproved(server(ADDRESS))).toBe(true);
    chownSync(approvals.file, 65_534, 65_534);
    expect([approvals.isApproved(server(ADDRESS)), approvals.flaw]).toEqual([false, 'it belongs to another user']);
  });

  it('is worth nothing with another key', () => {
    const { approvalsOf, server, state } = place();
    const approvals = approvalsOf();
    approvals.approve([approvals.launch(server(ADDRESS))]);
    expect(approvalsOf().isApproved(server(ADDRESS))).toBe(true);
    writeFileSync(join(state, 'approvals.key'), '00'.repeat(32), { mode: 0o600 });
    expect(approvalsOf().isApproved(server(ADDRESS))).toBe(false);
  });
});
