import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { npm, npmEnvironment, ownNode, toolEnvironment } from './npm.mjs';
import { exitCode, start } from './processes.mjs';
import { runQuietly } from './progress.mjs';
import { SetupError } from './setupError.mjs';

/**
 * Limit for the download of every user who installs the extension. The programs of walls, static ones for two
 * processors, and the sandbox runtime take 0.8 MB of it.
 */
const VSIX_LIMIT_BYTES = 3_200_000;

/**
 * Builds the product and packs it.
 * @param {string} root
 * @returns {Promise<string>} the packed extension
 */
export async function packExtension(root) {
  const env = toolEnvironment(root);
  const built = await exitCode(start(ownNode(root), ['esbuild.mjs'], { cwd: root, env }));
  if (built !== 0) throw new SetupError('The build failed: see above.');
  return packBuilt(root);
}

/**
 * Packs what is built.
 * @param {string} root
 * @param {string} [folder] for the packed extension
 * @returns {Promise<string>} the packed extension
 */
export async function packBuilt(root, folder = join(root, '.out')) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const vsix = join(folder, `waygate-${version}.vsix`);
  mkdirSync(folder, { recursive: true });
  const options = ['--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', '--out', vsix];
  await runQuietly(ownNode(root), ['node_modules/@vscode/vsce/vsce', 'package', ...options], {
    cwd: root,
    env: toolEnvironment(root),
    failure: 'vsce could not pack the extension: see its last lines above.',
  });
  const { size } = statSync(vsix);
  const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1_000_000).toFixed(2)} MB`;
  console.log(`Packed ${vsix} (${megabytes(size)} of at most ${megabytes(VSIX_LIMIT_BYTES)}).`);
  if (size > VSIX_LIMIT_BYTES) {
    throw new SetupError(`The packed extension has ${megabytes(size)}, more than ${megabytes(VSIX_LIMIT_BYTES)}.`);
  }
  return vsix;
}

/**
 * Packs the extension and the npm package into .out/, and builds the Agent Plugin there.
 * @param {string} root
 */
export async function packBoth(root) {
  const vsix = await packExtension(root);
  await npm(['pack', '--pack-destination', '.out', '--ignore-scripts'], {
    cwd: root,
    env: npmEnvironment(root),
    failure: 'npm pack failed: see its last lines above.',
  });
  const plugin = join(root, '.out', 'plugin');
  await runQuietly(ownNode(root), ['dist/waygate.cjs', 'plugin', 'build', '--into', plugin], {
    cwd: root,
    env: toolEnvironment(root),
    failure: 'The Agent Plugin could not be built: see above.',
  });
  return { vsix, tarball: vsix.replace(/\.vsix$/, '.tgz'), plugin };
}
