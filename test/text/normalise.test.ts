import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asciiToken,
  humanInteger,
  localPath,
  meantRenderMode,
  meantToken,
  normalisationNote,
  renderPath,
} from '../../src/text/normalise.ts';

describe('normalisation', () => {
  it.each([
    ['7', 7],
    [' 7 ', 7],
    ['42.0', 42],
    ['007', 7],
    ['-1', undefined],
    ['7.5', undefined],
    ['', undefined],
    ['7 8', undefined],
    ['0x10', undefined],
    ['1e3', undefined],
    ['9007199254740993', undefined],
    ['9'.repeat(1_000), undefined],
  ])('integer_text reads %j as %j', (text, value) => {
    expect(humanInteger(text)).toBe(value);
  });

  it('reads every whole number as itself', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (n) => humanInteger(String(n)) === n && humanInteger(` ${n}.0`) === n),
      { seed: 12 },
    );
  });

  it.each([
    ['topK', ['top_k', 'path'], {}, 'top_k'],
    ['top_k', ['top_k'], {}, 'top_k'],
    ['TOP-K', ['top_k'], {}, 'top_k'],
    ['q', ['query'], { q: 'query' }, 'query'],
    ['q', ['path'], { q: 'query' }, undefined],
    ['querry', ['query'], {}, undefined],
    ['a_b', ['ab', 'a-b'], {}, undefined],
    ['__proto__', ['query'], {}, undefined],
    ['constructor', ['query'], {}, undefined],
    ['…', ['query'], {}, undefined],
    ['x'.repeat(1_000), ['query'], {}, undefined],
  ])('a token %j of %j with aliases %j means %j', (text, known, aliases, meant) => {
    expect(meantToken(text, known, aliases)).toBe(meant);
  });

  it.each([
    ['porcelain', 'porcelain'],
    ['text', 'porcelain'],
    ['plain', 'porcelain'],
    ['plain_text', 'porcelain'],
    ['JSON', 'json'],
    ['structured', 'json'],
    ['xml', undefined],
  ])('render %j means %j', (text, mode) => {
    expect(meantRenderMode(text)).toBe(mode);
  });

  it('ignores everything but letters and digits in a token', () => {
    expect(asciiToken('Top-K_1!')).toBe('topk1');
  });

  it('file_uri reads a URI as its path, and rejects a URI without a local file', () => {
    const path = resolve('/tmp/a b/ü.txt');
    expect(localPath(pathToFileURL(path).href, '/elsewhere')).toBe(path);
    expect(localPath('FILE:///tmp/x', '/elsewhere')).toBe(resolve('/tmp/x'));
    expect(localPath('src/../x', resolve('/root'))).toBe(resolve('/root/x'));
    for (const bad of ['file:///a%2Fb', 'file://%', 'file://host.example/x']) {
      if (process.platform !== 'win32' || !bad.includes('host')) expect(localPath(bad, '/')).toBeUndefined();
    }
  });

  it('renders a path relative to its root with forward slashes, and a path outside it unchanged', () => {
    const root = resolve('/work/shop');
    expect(renderPath(join(root, 'src', 'a.ts'), root, 'relative')).toBe('src/a.ts');
    expect(renderPath('src/a.ts', root, 'absolute')).toBe(join(root, 'src', 'a.ts'));
    expect(renderPath(root, root, 'relative')).toBe('.');
    expect(renderPath(resolve('/work/shop2'), root, 'relative')).toBe(resolve('/work/shop2'));
    expect(renderPath(join(root, '..x'), root, 'relative')).toBe('..x');
  });

  it('renders a rule on one line', () => {
    expect(normalisationNote({ rule: 'field_alias', from: 'topK', to: 'top_k' })).toBe(
      'note: "topK" was read as "top_k" (field_alias)',
    );
  });
});
