import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pinOf } from '../../src/catalog/shapeHash.ts';
import { LockReader, parseLock, writeLock } from '../../src/trust/pins/lockFile.ts';
import { itemsOf } from '../../src/trust/pins/pinnedItems.ts';
import { temporaryFolder } from '../support/workspace.ts';

const tool = (name: string, more: object = {}) => ({ name, description: `The tool ${name}.`, ...more });
const lockOf = (tools: readonly unknown[], instructions?: string): string =>
  writeLock({ one: itemsOf({ tools, prompts: [{ name: 'p' }], resourceTemplates: [], instructions }) });

describe('a lock file', () => {
  it('has a sorted block for each item, with version, hash and definition', () => {
    const text = lockOf([tool('b', { _meta: { version: '1.2', other: 1 } }), tool('a')], 'Be kind.');
    expect(text).toMatch(/^\{\n {2}"format": 1,\n {2}"servers": \{\n {4}"one": \{\n {6}"instructions:": \{\n/);
    const { one } = JSON.parse(text).servers;
    expect(Object.keys(one)).toEqual(['instructions:', 'prompts:p', 'tools:a', 'tools:b']);
    expect(one['tools:b']).toEqual({
      version: '1.2',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      definition: { description: 'The tool b.', name: 'b' },
    });
  });

  it('has the same bytes for the same items in any order, and after it was read', () => {
    const [a, b] = [tool('a', { x: { z: 1, y: [2, { b: 1, a: 2 }] } }), tool('b', { _meta: { version: '3' } })];
    const shuffled = { x: { y: [2, { a: 2, b: 1 }], z: 1 }, description: 'The tool a.', name: 'a' };
    const text = lockOf([a, b]);
    expect(lockOf([b, shuffled])).toBe(text);
    expect(writeLock(parseLock(text))).toBe(text);
    expect(writeLock(parseLock(text.replaceAll('\n', '\r\n')))).toBe(text);
  });

  it('hides no character, in keys, texts and names', () => {
    const hidden = 'a\u200b\u202e\u{e0041}\u3164\r\n\tb\ud800';
    const text = lockOf([tool(hidden, { [hidden]: { [hidden]: hidden } })], hidden);
    expect(text).toMatch(/^[\n -~]*$/);
    expect(parseLock(text).one?.find(({ part }) => part === 'tools')?.raw).toEqual(
      tool(hidden, { [hidden]: { [hidden]: hidden } }),
    );
  });

  it('is refused with a sentence where it nests too deep, or would be too large to be read', () => {
    const definition = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const block = `{"version":null,"sha256":"${pinOf(JSON.parse(definition))}","definition":${definition}}`;
    const deep = `{"format":1,"servers":{"one":{"tools:a":${block}}}}`;
    expect(() => parseLock(deep)).toThrow(/^it nests too deep$/);
    const long = tool('a', { text: 'x'.repeat(8 * 1024 * 1024) });
    expect(() => lockOf([long])).toThrow(/^the items of the servers take more than 8 MiB in a lock file$/);
  });

  it('is read once for each change, whether or not it can be used', () => {
    const workspace = temporaryFolder('waygate-lock-');
    const file = join(workspace, 'waygate.lock');
    const reader = new LockReader({ file, workspace });
    expect(reader.read()).toBeUndefined();
    writeFileSync(file, lockOf([tool('a')]));
    const first = reader.read();
    expect(first?.one?.map(({ key }) => key)).toContain('tools:a');
    expect(reader.read()).toBe(first);
    writeFileSync(file, lockOf([tool('b')]));
    expect(reader.read()?.one?.map(({ key }) => key)).toContain('tools:b');
    writeFileSync(file, 'no lock file');
    const problems = [0, 1].map(() => {
      try {
        return reader.read();
      } catch (error) {
        return error;
      }
    });
    expect(problems[0]).toMatchObject({ message: `${file} cannot be used, so it pins nothing: it is not JSON.` });
    expect(problems[1]).toBe(problems[0]);
    rmSync(file);
    expect(reader.read()).toBeUndefined();
  });

  const sound = lockOf([tool('a'), tool('b')]);
  const altered: [string, string, RegExp][] = [
    ['with another definition', sound.replace('The tool a.', 'Obey.'), /the hash of "one tools:a" does not fit/],
    ['with another hash', sound.replace(/"sha256": "./, '"sha256": "x'), /does not fit its definition/],
    ['without a hash', sound.replace(/"sha256": "\w+",/, ''), /does not fit its definition/],
    ['with a key twice', sound.replace('"format": 1,', '"format": 1,\n  "format": 1,'), /not written by waygate lock/],
    ['with a hidden character', sound.replace('"version": null', '"version": null\u200b'), /not JSON/],
    ['with a raw hidden character in a text', lockOf([tool('\u200b')]).replaceAll('\\u200b', '\u200b'), /not written/],
    ['with an unknown part', sound.replaceAll('tools:a', 'other:a'), /does not fit its definition/],
    ['in another order', sound.replace('"version": null,\n', ''), /not written by waygate lock/],
    ['of another format', sound.replace('"format": 1', '"format": 2'), /no lock file of format 1/],
    ['cut off', sound.slice(0, -20), /not JSON/],
    ['that is empty', '', /not JSON/],
  ];
  it.each(altered)('%s is refused', (_what, text, problem) => {
    expect(parseLock(sound).one).toHaveLength(3);
    expect(() => parseLock(text)).toThrow(problem);
  });
});
