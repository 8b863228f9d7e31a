import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfigOrigin, StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { missingWallsLine, type Walls, wallsLine, wallsOf } from '../../src/trust/walls.ts';
import { missingOn, missingWalls } from '../../src/walls/machine.ts';
import { approvalsOf } from '../support/approveAll.ts';
import { temporaryFolder } from '../support/workspace.ts';

const server = (entry: object, origin: ConfigOrigin = 'workspace', workspace = '/w'): StdioServerConfig => {
  const text = JSON.stringify({ servers: { one: { command: 'tool', ...entry } } });
  const { servers, problems } = parseConfig(text, join(workspace, '.vscode/waygate.json'), workspace, {
    HOME: '/home/me',
  });
  expect(problems).toEqual([]);
  return { ...(servers[0] as StdioServerConfig), origin };
};
const of = (entry: object, origin?: ConfigOrigin, workspace = '/w'): Walls | undefined =>
  wallsOf(server(entry, origin, workspace), { workspace, home: '/home/me' });
const lineOf = (entry: object, origin?: ConfigOrigin): string => wallsLine(of(entry, origin), (text) => text);

describe('walls', () => {
  it.each([
    [{}, 'workspace', 'behind walls where the machine can: writes /w, has no network'],
    [{ sandbox: 'auto' }, 'user', 'behind walls where the machine can: writes no files of yours, has no network'],
    [{ sandbox: true }, 'workspace', 'behind walls: writes /w, has no network'],
    [{ sandbox: { required: false } }, 'workspace', 'behind walls where the machine can: writes /w, has no network'],
    [{ sandbox: false }, 'workspace', 'runs without walls'],
    [{}, 'user', 'runs without walls'],
    [{}, 'given', 'runs without walls'],
    [{ sandbox: true, cwd: '/data' }, 'user', 'behind walls: writes /data, has no network'],
    [
      {
        sandbox: {
          filesystem: { allowWrite: ['~/out', 'rel'], denyRead: ['/secret'], denyWrite: ['/w/src'] },
          network: { allowedDomains: ['a.example:443'], deniedDomains: ['*'] },
        },
      },
      'workspace',
      'behind walls: writes /w /home/me/out /w/rel, but not /w/src, does not read /secret, reaches a.example:443, but not *',
    ],
  ] as const)('of %j in a file of the %s: %s', (entry, origin, line) => {
    expect(lineOf(entry, origin)).toBe(line);
  });

  it.each([
    [{ command: 'npx', args: ['-y', 'x'] }, ['registry.npmjs.org']],
    [{ command: 'sh', args: ['-c', 'uvx x'] }, ['pypi.org', 'files.pythonhosted.org']],
    [{ command: 'node', args: ['server.js'] }, []],
    [
      { command: 'npx', args: ['x'], sandbox: { network: { allowedDomains: ['a.example'] } } },
      ['registry.npmjs.org', 'a.example'],
    ],
  ])('open the registry to a package runner alone: %j', (entry, domains) => {
    expect(of(entry)?.domains).toEqual(domains);
  });

  it('do not open the home folder, not even through a link', () => {
    const root = temporaryFolder('wg-walls-');
    mkdirSync(join(root, 'home', 'me'), { recursive: true });
    symlinkSync(join(root, 'home', 'me'), join(root, 'link'));
    const writes = (workspace: string) =>
      wallsOf(server({}, 'workspace', workspace), { workspace, home: join(root, 'home', 'me') })?.writes;
    for (const folder of ['home/me', 'home', 'link']) expect(writes(join(root, folder))).toEqual([]);
    expect(writes(join(root, 'home', 'me', 'project'))).toEqual([join(root, 'home', 'me', 'project')]);
  });

  it.each([
    [{ sandbox: 'always' }, '"servers.one.sandbox" must be true, false, "auto" or an object'],
    [{ sandbox: { network: { allowedDomains: ['https://a.example/x'] } } }, 'must be a domain like "api.example.com"'],
    [{ sandbox: { filesystem: { allowRead: ['/'] } } }, '"servers.one.sandbox.filesystem.allowRead" is not a key'],
    [{ sandbox: { filesystem: { allowWrite: ['${secret:x}'] } } }, 'is not allowed here'],
  ])('are declared in VS Code’s form: %j', (entry, message) => {
    const text = JSON.stringify({ servers: { one: { command: 'tool', ...entry } } });
    const { problems, servers } = parseConfig(text, '/w/.vscode/waygate.json', '/w', {});
    expect(problems.map((problem) => problem.message).join()).toContain(message);
    expect(servers).toEqual([]);
  });
});

describe('a machine without walls', () => {
  it('is named to the user, outside what an approval covers', () => {
    const config = server({});
    const missing = missingOn('win32', '');
    const line = (walls: Walls | undefined) => missingWallsLine(walls, () => missing);
    expect(line(of({}))).toEqual(['runs without walls here: Waygate has walls on Linux and macOS only']);
    expect(line(of({ sandbox: true }))).toEqual(['does not start here: Waygate has walls on Linux and macOS only']);
    expect(line(of({ sandbox: false }))).toEqual([]);
    expect(missingWallsLine(of({}))).toEqual([]);
    const root = temporaryFolder('wg-walls-');
    const approvals = approvalsOf('/w', root);
    const without = approvalsOf('/w', root, () => 'none');
    expect(without.launch(config).lines).toEqual([...approvals.launch(config).lines, 'runs without walls here: none']);
    expect(without.launch(config).hash).toBe(approvals.launch(config).hash);
  });

  it.skipIf(process.platform !== 'linux')('is one that cannot run the helper which closes Unix sockets', () => {
    const programs = temporaryFolder('wg-walls-');
    for (const name of ['bwrap', 'socat', 'bash']) symlinkSync('/bin/true', join(programs, name));
    const helper = join(programs, 'apply-seccomp');
    const refused = `${helper} cannot run on this machine, so Unix sockets would stay open`;
    expect(missingOn('linux', programs, helper)).toBe(refused);
    writeFileSync(helper, '', { mode: 0o644 });
    expect(missingOn('linux', programs, helper)).toBe(refused);
    chmodSync(helper, 0o755);
    expect(missingOn('linux', programs, helper)).toBeUndefined();
  });

  it('may be declared by a variable, for optional walls alone', () => {
    const before = process.env.WAYGATE_WALLS;
    process.env.WAYGATE_WALLS = 'off';
    try {
      expect(missingWalls({ isOptional: true })).toMatch(/^WAYGATE_WALLS is "off"/);
      expect(missingWalls({ isOptional: false }) ?? '').not.toContain('WAYGATE_WALLS');
    } finally {
      if (before === undefined) delete process.env.WAYGATE_WALLS;
      else process.env.WAYGATE_WALLS = before;
    }
  });
});
