import { cpSync, globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCE = 'skills/mcp-bootstrap';
/** `src/replay`, `test/support/historyChecker.ts`: how the skill's text names what it is about. */
const PART = /`((?:src|test)\/[\w./-]+)`/g;
const RELATIVE_IMPORT = /(?:from |import\()'(\.[^']+)'/g;

/**
 * The sources that the skill names, with all that they import: who reads it has no other way to them. They are found in
 * its text, so that what it names cannot be missing.
 * @param {string} root
 * @returns {string[]} paths with slashes, sorted
 */
export function skillParts(root) {
  const texts = globSync(`${SOURCE}/**/*.md`, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(PART)].map(([, path]) => String(path)));
  /** @type {Set<string>} */
  const parts = new Set();
  const add = (/** @type {string} */ path) => {
    if (parts.has(path)) return;
    if (statSync(join(root, path)).isDirectory()) {
      for (const file of globSync(`${path}/**/*.ts`, { cwd: root })) add(file.replaceAll('\\', '/'));
      return;
    }
    parts.add(path);
    for (const [, specifier] of readFileSync(join(root, path), 'utf8').matchAll(RELATIVE_IMPORT)) {
      add(join(dirname(path), String(specifier)).replaceAll('\\', '/'));
    }
  };
  for (const path of named) add(path);
  return [...parts].sort();
}

/**
 * Puts the skill together as it is installed: its texts, and beside them its parts under the paths that they have here.
 * Whoever passes on a part passes on its license (Apache-2.0, 4a).
 * @param {string} root
 * @param {string} target
 */
export function writeSkill(root, target) {
  rmSync(target, { recursive: true, force: true });
  cpSync(join(root, SOURCE), target, { recursive: true });
  for (const file of [...skillParts(root), 'LICENSE']) cpSync(join(root, file), join(target, 'parts', file));
}
