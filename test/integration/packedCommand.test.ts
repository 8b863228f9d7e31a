import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

it.skipIf(process.platform === 'win32')('the tarball, installed as README.md says, gives the command waygate', () => {
  const folder = temporaryFolder('waygate-packed-');
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--ignore-scripts', '--offline', '--no-update-notifier'], { stdio: 'pipe' });
  npm('pack', '--pack-destination', folder);
  const [tarball = ''] = readdirSync(folder);
  npm('install', '-g', '--prefix', folder, join(folder, tarball));
  const { folder: workspace, env } = testWorkspace();
  const waygate = (...args: string[]): string =>
    execFileSync(join(folder, 'bin', 'waygate'), args, { cwd: workspace, env, encoding: 'utf8', stdio: 'pipe' });
  expect(waygate()).toMatch(/waygate import/);
  // npm knows no package of this name, so the entry must not ask it for one.
  const { launch } = JSON.parse(waygate('client-config', 'cursor', '--json'));
  const script = join(folder, 'lib', 'node_modules', 'waygate', 'dist', 'waygate.cjs');
  expect(launch).toEqual({
    command: expect.stringMatching(/node$/),
    args: [script, 'serve', '--workspace', workspace],
  });
  expect(execFileSync(launch.command, [launch.args[0], '--version'], { encoding: 'utf8' })).toMatch(/^waygate \d/);
});
