import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { approvable, approvalsOf } from '../../src/config/state/approvals.ts';
import { temporaryFolder } from '../support/workspace.ts';

const server = (entry: object): ServerConfig => {
  const { servers, problems } = parseConfig(JSON.stringify({ servers: { one: entry } }), '/w/waygate.json', '/w', {});
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return servers[0] as ServerConfig;
};
const BASE = { command: 'npx', args: ['-y', 'pkg'], env: { A: '1', B: '2' }, cwd: '/w' };
const hash = (entry: object): string => approvable(server(entry)).hash;

describe('an approval', () => {
  it.each([
    ['the command', { ...BASE, command: 'npm' }],
    ['an argument', { ...BASE, args: ['-y', 'pkg2'] }],
    ['where an argument ends', { ...BASE, args: ['-y pkg'] }],
    ['a variable', { ...BASE, env: { A: '1' } }],
    ['the folder', { ...BASE, cwd: '/' }],
    ['the secrets it is given', { ...BASE, env: { A: '${secret:T}', B: '2' } }],
    ['what decides what it runs', { ...BASE, env: { A: '1', B: '2', NODE_OPTIONS: '--require ./x.js' } }],
    ['its kind', { url: 'https://x/mcp' }],
  ])('is for exactly the shown command: %s', (_what, changed) => {
    expect(hash(changed)).not.toBe(hash(BASE));
  });

  it.each([
    [
      { ...BASE, env: { PATH: '/a' } },
      { ...BASE, env: { PATH: '/b' } },
    ],
    [{ url: 'https://x/mcp' }, { url: 'https://y/mcp' }],
    [{ url: 'https://x/mcp' }, { url: 'https://x/mcp', headers: { A: '1' } }],
    [
      { url: 'https://x/mcp', headers: { A: 'x' } },
      { url: 'https://x/mcp', headers: { A: '${secret:T}' } },
    ],
  ])('differs for %j and %j', (a, b) => {
    expect(hash(a)).not.toBe(hash(b));
  });

  it('covers the name of envFile, the names of variables, and the values of decisive variables', () => {
    const folder = temporaryFolder('wg-');
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const withFile = (path: string): string => hash({ ...BASE, envFile: path });
    const [a, b] = [file('a.env', 'TOKEN=1'), file('b.env', 'TOKEN=1')];
    const before = withFile(a);
    expect(before).not.toBe(hash({ ...BASE, env: { ...BASE.env, TOKEN: '1' } }));
    expect(withFile(b)).not.toBe(before);
    file('a.env', 'TOKEN=2');
    expect(withFile(a)).toBe(before);
    file('a.env', 'TOKEN=2\nMORE=1');
    expect(withFile(a)).not.toBe(before);
    file('a.env', 'NODE_OPTIONS=--require ./x.js');
    const decisive = withFile(a);
    file('a.env', 'NODE_OPTIONS=--require ./y.js');
    expect(withFile(a)).not.toBe(decisive);
    expect(approvable(server({ ...BASE, envFile: a })).lines.at(-1)).toBe(`some of them from ${a}`);
  });

  it('holds if only the value of a variable or the order of variables changes', () => {
    expect(hash({ ...BASE, env: { B: 'x', A: 'y' } })).toBe(hash(BASE));
  });

  it('shows the whole command, the end of each argument, and characters that a terminal would hide', () => {
    const long = 'x'.repeat(5_000);
    const { lines } = approvable(
      server({
        command: '/bin/sh',
        args: ['-c', 'echo "hi"\n\u001b[2Krm -rf ~', long, '\u202efdp', ''],
        env: { KEY: '${secret:demo}', PATH: '/evil:/bin' },
        cwd: '/w',
      }),
    );
    expect(lines).toEqual([
      `runs /bin/sh -c "echo \\"hi\\"\\n\\u001b[2Krm -rf ~" ${long} "\\u{202e}fdp" ""`,
      'in /w',
      'with variables KEY=${secret:demo} PATH=/evil:/bin',
    ]);
    const remote = server({ url: 'https://x/mcp', headers: { Authorization: 'Bearer ${secret:demo}', B: 'c' } });
    expect(approvable(remote).lines).toEqual([
      'connects to https://x/mcp',
      'sends headers Authorization=${secret:demo} B',
    ]);
    const auth = { clientId: 'us', clientSecret: '${secret:ours}', scopes: ['a', 'b'], issuer: 'https://login.x' };
    expect(approvable(server({ url: 'https://x/mcp', auth })).lines).toEqual([
      'connects to https://x/mcp',
      'signs in with clientId=us clientSecret=${secret:ours} issuer=https://login.x scopes="a b"',
    ]);
  });
});

describe('the file of approvals', () => {
  it('is readable by the owner only, and an approval is for one workspace', () => {
    const approvals = approvalsOf(join(temporaryFolder('wg-'), 'state'));
    const config = server(BASE);
    expect(approvals.isApproved('/a', config)).toBe(false);
    approvals.approve('/a', [approvable(config).hash]);
    expect([approvals.isApproved('/a', config), approvals.isApproved('/b', config)]).toEqual([true, false]);
    expect(approvals.isApproved('/a', server({ ...BASE, command: 'npm' }))).toBe(false);
    approvals.approve('/a', ['other']);
    expect(approvals.isApproved('/a', config)).toBe(true);
    expect(statSync(approvals.file).mode & 0o777).toBe(0o600);
  });

  it('loses single approvals or all of one workspace on revoke', () => {
    const approvals = approvalsOf(join(temporaryFolder('wg-'), 'state'));
    for (const workspace of ['/a', '/b']) approvals.approve(workspace, ['one', 'two', 'three']);
    expect(approvals.revoke('/a', ['one', 'four'])).toBe(1);
    expect(['one', 'two'].map((hash) => approvals.isApprovedHash('/a', hash))).toEqual([false, true]);
    expect(approvals.revoke('/a')).toBe(2);
    expect(approvals.revoke('/a')).toBe(0);
    expect(['two', 'three'].map((hash) => approvals.isApprovedHash('/a', hash))).toEqual([false, false]);
    expect(approvals.isApprovedHash('/b', 'one')).toBe(true);
    expect(readFileSync(approvals.file, 'utf8')).not.toContain('"/a"');
  });

  it.each(['', '[', 'null', '5', '{"x": 5}', '{"x": {"approved": "all"}}'])(
    'approves nothing if it contains %s',
    (text) => {
      const approvals = approvalsOf(temporaryFolder('wg-'));
      writeFileSync(approvals.file, text);
      expect(approvals.isApproved('/a', server(BASE))).toBe(false);
      approvals.approve('/a', [hash(BASE)]);
      expect(approvals.isApproved('/a', server(BASE))).toBe(true);
    },
  );
});
