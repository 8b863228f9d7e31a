import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { listFiles, PackageManager } from '@vscode/vsce';
import { build, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { thirdPartyNotices } from '../../scripts/lib/notices.mjs';
import { npmEnvironment } from '../../scripts/lib/npm.mjs';
import { temporaryFolder } from '../support/workspace.ts';

const FILE = 'dist/THIRD-PARTY-NOTICES.txt';
/** Licence of the library in the programs of the walls, which asks for a copy beside them. */
const LIBRARY_LICENCE = 'media/LGPL-2.1.txt';

/** Entry points of the processes and pages, from which imports, also dynamic ones, lead to every other bundle. */
const ENTRIES = [
  'src/extension/extension.ts',
  'src/cli/main.ts',
  'src/worker/process/main.ts',
  'src/calls/validation/validationThread.ts',
  'src/records/embedded/recordsThread.ts',
  'webview/dashboard/main.ts',
  'webview/table/main.ts',
  'webview/try/main.ts',
  'webview/dashboard/dashboard.css',
];
/** Everything that the build bundles. A new bundle that no entry imports has to become an entry. */
const BUNDLES = [
  'ajv.cjs',
  'cliCommands.cjs',
  'cliImport.cjs',
  'cliRecords.cjs',
  'declaration.cjs',
  'editorEdits.cjs',
  'editorImport.cjs',
  'editorLanguage.cjs',
  'extension.cjs',
  'importing.cjs',
  'jsonrpc.cjs',
  'modernEra.cjs',
  'modernUpstream.cjs',
  're2js.cjs',
  'recordsThread.cjs',
  'rollOut.cjs',
  'secrets.cjs',
  'staticCatalog.cjs',
  'toml.cjs',
  'validationThread.cjs',
  'wallsLauncher.cjs',
  'wallsRuntime.cjs',
  'waygate.cjs',
  'webview/dashboard.css',
  'webview/dashboard.js',
  'webview/table.css',
  'webview/table.js',
  'webview/try.css',
  'webview/try.js',
  'worker.cjs',
  'yaml.cjs',
];

const notices = (): string => readFileSync(FILE, 'utf8');

/** Returns the folders of the packages that the bundles contain, found without the code under test. */
async function bundled(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: ENTRIES,
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    platform: 'node',
    mainFields: ['module', 'main'],
    external: ['vscode'],
    logLevel: 'silent',
  });
  const folders = Object.keys(metafile.inputs).map((input) => {
    const parts = input.split('/');
    const last = parts.lastIndexOf('node_modules');
    return last === -1 ? '' : parts.slice(0, last + (parts[last + 1]?.startsWith('@') ? 3 : 2)).join('/');
  });
  return [...new Set(folders)].filter(Boolean);
}

/** Returns a work tree with one package, and the metafile of a build that bundled it. */
function tree(manifest: object, files: Record<string, string>): [root: string, metafiles: Metafile[]] {
  const root = temporaryFolder('notices-');
  const folder = join(root, 'node_modules', '@a', 'b');
  for (const made of [folder, join(root, 'media')]) mkdirSync(made, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@a/b', version: '1.2.3', ...manifest }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const input = { 'node_modules/@a/b/lib/index.js': { bytesInOutput: 1 }, 'src/own.ts': { bytesInOutput: 1 } };
  return [root, [{ inputs: {}, outputs: { 'dist/a.cjs': { bytes: 2, inputs: input, imports: [], exports: [] } } }]];
}

describe('the third-party notices', () => {
  it('name every bundled package with its version, its licence and the full text of it', async () => {
    const folders = await bundled();
    expect(folders.length).toBeGreaterThan(20);
    const text = notices();
    for (const folder of folders) {
      const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
      expect(text).toContain(`\n${name} ${version} (${license})\n`);
      const licences = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
      expect(licences, folder).not.toEqual([]);
      for (const file of licences) expect(text).toContain(readFileSync(`${folder}/${file}`, 'utf8').trim());
    }
  });

  it('are made of every bundle that ships', () => {
    const made = globSync(['dist/*.cjs', 'dist/webview/**/*.*']).map((file) => file.replaceAll('\\', '/').slice(5));
    expect(made.sort()).toEqual(BUNDLES);
  });

  it('name the data of others, with every file of data that ships', () => {
    const data = ['cl100k_base'];
    for (const name of data) expect(notices()).toContain(readFileSync(`media/${name}.NOTICE.md`, 'utf8').trim());
    const binary = globSync(['dist/*.bin', 'media/*.bin']).map((file) => basename(file).split('.')[0]);
    expect([...new Set(binary)].sort()).toEqual(data);
  });

  it('name every program of others that ships, with the licences of what it contains', () => {
    const programs = globSync('dist/walls/**/*', { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(programs.map(({ parentPath, name }) => `${basename(parentPath)}/${name}`).sort()).toEqual([
      'arm64/apply-seccomp',
      'walls/srt-proxy-agent.jar',
      'x64/apply-seccomp',
    ]);
    const notice = readFileSync('media/apply-seccomp.NOTICE.md', 'utf8').trim();
    for (const part of ['GNU C Library', 'Lesser General Public License', 'Source:', 'Apache License 2.0'])
      expect(notice).toContain(part);
    expect(notices()).toContain(notice);
  });

  it('are part of the extension and of the npm package', async () => {
    const packed = await listFiles({ cwd: process.cwd(), packageManager: PackageManager.None });
    expect(packed).toEqual(expect.arrayContaining([FILE, LIBRARY_LICENCE]));
    const options = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline', '--no-update-notifier'];
    const [{ files }] = JSON.parse(
      execFileSync('npm', options, {
        encoding: 'utf8',
        env: npmEnvironment(process.cwd()),
        shell: process.platform === 'win32',
      }),
    );
    const published = files.map(({ path }: { path: string }) => path);
    expect(published).toEqual(expect.arrayContaining([FILE, LIBRARY_LICENCE]));
    expect(readFileSync(LIBRARY_LICENCE, 'utf8')).toMatch(/LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1/);
  });

  it('contain every legal text of a package', () => {
    const files = {
      'License.txt': 'Copyright A',
      NOTICE: 'Made by A',
      'ThirdPartyNotices.txt': 'Contains C',
      'a.js': 'code',
    };
    const text = thirdPartyNotices(...tree({ license: 'MIT' }, files));
    expect(text).toContain('\n@a/b 1.2.3 (MIT)\n');
    expect(text).toMatch(/Copyright A\n\nMade by A\n\nContains C\n$/);
  });

  it.each<[string, object, Record<string, string>]>([
    ['without a licence text', { license: 'MIT' }, { 'index.js': '' }],
    ['with an empty licence text', { license: 'MIT' }, { LICENSE: '\n' }],
    ['that states no licence', {}, { LICENSE: 'Copyright A' }],
  ])('cannot be made with a package %s', (_, manifest, files) => {
    expect(() => thirdPartyNotices(...tree(manifest, files))).toThrow('@a/b 1.2.3 is bundled without a licence');
  });
});
