import { cpSync, globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCE = 'skills/mcp-bootstrap';
/** Form in which the skill's text names a source: `src/replay`, `test/support/historyChecker.ts`. */
const PART = /`((?:src|test)\/[\w./-]+)`/g;
const RELATIVE_IMPORT = /(?:from |import\()'(\.[^']+)'/g;

/**
 * Returns the sources that the skill's text names, with everything they import, because its reader has no other copy.
 * Reads the list from the text, so that no named source can be missing.
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
 * Assembles the installed form of the skill: its texts, and `parts/` with the sources under their paths here. Includes
 * the license, which must accompany copies (Apache-2.0, 4a).
 * @param {string} root
 * @param {string} target
 */
export function writeSkill(root, target) {
  rmSync(target, { recursive: true, force: true });
  cpSync(join(root, SOURCE), target, { recursive: true });
  for (const file of [...skillParts(root), 'LICENSE']) cpSync(join(root, file), join(target, 'parts', file));
}
