import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { npmEnvironment } from '../../scripts/lib/npm.mjs';
import { findProgram } from '../../src/lib/findProgram.ts';
import { missingOn } from '../../src/walls/machine.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Covers walls as users get them: from the packed extension and from the npm package, unpacked. */

const unzip = findProgram('unzip', { cwd: '/', path: process.env.PATH });
const missing = missingOn(process.platform, process.env.PATH) ?? (unzip === undefined ? 'unzip is missing' : undefined);
if (missing !== undefined) console.warn(`Tests of packed walls are skipped: ${missing}.`);

const PACKED: Record<string, (folder: string) => string> = {
  'the npm package': (folder) => {
    const options = ['pack', '--pack-destination', folder, '--ignore-scripts', '--offline', '--no-update-notifier'];
    execFileSync('npm', options, { env: npmEnvironment(process.cwd()), stdio: 'ignore' });
    execFileSync('tar', ['-xzf', ...globSync(join(folder, '*.tgz')), '-C', folder]);
    return join(folder, 'package');
  },
  'the extension': (folder) => {
    const vsix = join(folder, 'waygate.vsix');
    const options = ['--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', '--out', vsix];
    execFileSync(process.execPath, ['node_modules/@vscode/vsce/vsce', 'package', ...options], { stdio: 'ignore' });
    execFileSync(unzip as string, ['-q', vsix, '-d', folder]);
    return join(folder, 'extension');
  },
};

it.skipIf(missing !== undefined).each(Object.keys(PACKED))('%s has walls that hold', async (name) => {
  const root = (PACKED[name] as (folder: string) => string)(temporaryFolder('packed-'));
  const programs = ['x64', 'arm64'].map((arch) => join(root, 'dist', 'walls', arch, 'apply-seccomp'));
  expect(programs.map((file) => statSync(file).mode & 0o111)).toEqual([0o111, 0o111]);
  const notices = readFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  expect(notices).toContain(readFileSync('media/apply-seccomp.NOTICE.md', 'utf8').trim());

  const workspace = testWorkspace();
  workspace.program = join(root, 'dist', 'waygate.cjs');
  workspace.env.WAYGATE_WALLS = '';
  const sandbox = true;
  workspace.configure({ one: { command: process.execPath, args: [resolve('test/fixtures/prisoner.mjs')], sandbox } });
  // The server may read the folder of the socket, so that the filter alone keeps it out.
  mkdirSync(join(workspace.folder, 's'));
  const socket = join(workspace.folder, 's', 'k');
  const listening = createServer((client) => client.end()).listen(socket);
  onTestFinished(() => void listening.close());
  const host = new HostProcess(workspace);
  await host.initialize();
  const ask = async (tool: string, args: object): Promise<string> =>
    (await host.call('tool_execute', { tool_id: await host.toolId(`/one/${tool}`), args })).text;
  expect(await ask('list', { path: join(workspace.folder, 's') })).toContain('k');
  expect(await ask('connect', { path: socket })).toMatch(/refused: (EPERM|EACCES)/);
});
