import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/workspace.ts';

const CROSS_SPAWN = createRequire(import.meta.url).resolve('cross-spawn');

/** Returns the command that cross-spawn would pass to Windows; the library checks the platform when it is loaded. */
function handedToWindows(command: string, args: readonly string[]): { command: string; args: string[] } {
  const script = `
    Object.defineProperty(process, 'platform', { value: 'win32' });
    const { command, args } = require(${JSON.stringify(CROSS_SPAWN)})._parse(
      ${JSON.stringify(command)}, ${JSON.stringify(args)}, { env: { PATH: '/nowhere', PATHEXT: '.EXE;.CMD' } });
    process.stdout.write(JSON.stringify({ command, args }));`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: { comspec: 'cmd.exe' } }));
}

describe('on Windows', () => {
  const folder = temporaryFolder.bind(undefined, 'wg-shim-');

  it('cmd.exe runs a batch file (npx.cmd), and no argument can inject a command', () => {
    const shim = join(folder(), 'npx.cmd');
    writeFileSync(shim, '@echo off\r\n');
    chmodSync(shim, 0o755);
    const { command, args } = handedToWindows(shim, ['-y', 'a b', 'x & calc.exe', '"quoted"', '%PATH%', 'back\\']);
    expect(command).toBe('cmd.exe');
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c']);
    const line = args[3] as string;
    // Every special character of cmd.exe is escaped.
    expect(line).toContain('^"a^ b^"');
    expect(line).toContain('x^ ^&^ calc.exe');
    expect(line).toContain('\\^"quoted\\^"');
    expect(line).toContain('^%PATH^%');
    expect(line).toContain('^"back\\\\^"');
    expect(line.slice(1, -1)).not.toMatch(/(?<!\^)[&|<>%]/);
  });

  it('a program runs directly', () => {
    const program = join(folder(), 'node.exe');
    writeFileSync(program, 'MZ');
    chmodSync(program, 0o755);
    expect(handedToWindows(program, ['a b', '%PATH%'])).toEqual({ command: program, args: ['a b', '%PATH%'] });
  });
});
