// npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--skip-tests]
// Tests, sets the version, dates the changelog, packs VSIX and npm package into .out/, commits and tags. Pushes nothing.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePackages, ownNode, toolEnvironment } from './lib/npm.mjs';
import { exitCode, leaveTogether, start } from './lib/processes.mjs';
import { nextVersion, releaseChangelog, withVersion } from './lib/release.mjs';
import { SetupError } from './lib/setupError.mjs';
import { packBoth } from './lib/vsix.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSIONED = ['package.json', 'package-lock.json'];
const CHANGED = [...VERSIONED, 'CHANGELOG.md'];

const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
const write = (/** @type {string} */ file, /** @type {string} */ text) => writeFileSync(join(root, file), text);

function parseOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean', default: false },
        'skip-tests': { type: 'boolean', default: false },
      },
    });
    const [wanted, ...more] = positionals;
    if (wanted === undefined || more.length > 0) throw new Error('Name one version.');
    return { wanted, dryRun: values['dry-run'], skipTests: values['skip-tests'] };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('Usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--skip-tests]');
    process.exit(64);
  }
}

/** @param {string} tag */
function expectReleasable(tag) {
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new SetupError(`The work tree has changes: commit or stash them first.\n${changes}`);
  if (git('tag', '--list', tag) !== '') throw new SetupError(`The tag ${tag} exists already.`);
}

async function test() {
  const code = await exitCode(start(ownNode(root), ['scripts/test.mjs'], { cwd: root, env: toolEnvironment(root) }));
  if (code !== 0) throw new SetupError('The tests failed: nothing was released.');
}

async function main() {
  const { wanted, dryRun, skipTests } = parseOptions();
  const version = nextVersion(JSON.parse(read('package.json')).version, wanted);
  const tag = `v${version}`;
  const { changelog, notes } = releaseChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  expectReleasable(tag);
  if (dryRun) {
    console.log(`Would release ${version} (tag ${tag}) with these notes:\n\n${notes}\n`);
    console.log('Dry run: no tests ran, nothing was written, packed, committed or tagged.');
    return;
  }
  await ensurePackages(root);
  if (skipTests) console.warn('The tests are skipped: this release is not known to be good.');
  else await test();
  // The tests take minutes: nobody must have changed or tagged anything meanwhile.
  expectReleasable(tag);
  try {
    for (const file of VERSIONED) write(file, withVersion(read(file), version));
    write('CHANGELOG.md', changelog);
    const { vsix } = await packBoth(root);
    git('commit', '--quiet', '--message', `release: ${version}`, '--', ...CHANGED);
    git('tag', '--annotate', tag, '--message', `Waygate ${version}\n\n${notes}`);
    console.log(`\nReleased ${version}: commit and tag ${tag}, ${vsix} and .out/waygate-${version}.tgz. To publish:\n`);
  } catch (error) {
    git('checkout', '--quiet', 'HEAD', '--', ...CHANGED);
    throw error;
  }
  console.log('  git push --follow-tags');
  console.log(`  npx vsce publish --packagePath .out/waygate-${version}.vsix`);
  console.log(`  npm publish .out/waygate-${version}.tgz`);
}

leaveTogether();
try {
  await main();
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
