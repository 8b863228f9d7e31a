import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { describe, expect, it } from 'vitest';
import { NO_RANK, packedRank } from '../../src/catalog/tokenizer/packedRanks.ts';
import { packCl100k } from '../../src/catalog/tokenizer/tokenRanks.ts';

const tokens = fileURLToPath(new URL('../../src/catalog/tokenizer/tokens.ts', import.meta.url));

describe('ranks are found', () => {
  it('by Node alone, and not before a token is counted', () => {
    const loaded = "Object.keys(require.cache).some((file) => file.includes('cl100k'))";
    const program = `
      import { createRequire } from 'node:module';
      import { countTokens } from ${JSON.stringify(tokens)};
      const require = createRequire(${JSON.stringify(tokens)});
      const before = ${loaded};
      const count = countTokens('tiktoken is great!');
      console.log(JSON.stringify([before, count, ${loaded}]));`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual([false, 6, true]);
  });

  it('by a CommonJS bundle with a file beside it, which an idle process gives back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waygate-ranks-'));
    try {
      await build({
        stdin: {
          contents: `
            import { countTokens } from ${JSON.stringify(tokens)};
            const count = () => countTokens('tiktoken is great!');
            const bytes = () => process.memoryUsage().arrayBuffers;
            const first = count();
            const held = bytes();
            const end = Date.now() + 10_000;
            // V8 frees the bytes of a buffer some time after the collection.
            const look = () => {
              gc();
              const isFreed = held - bytes() > 2 ** 20;
              if (isFreed || Date.now() > end) console.log(JSON.stringify([first, isFreed, count()]));
              else setTimeout(look, 20);
            };
            setTimeout(look);`,
          resolveDir: folder,
        },
        bundle: true,
        platform: 'node',
        format: 'cjs',
        outfile: join(folder, 'bundle.cjs'),
        logLevel: 'error',
        define: { __WAYGATE_RANKS__: '"./ranks.bin"', 'import.meta.url': 'moduleUrl' },
        banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
      });
      await writeFile(join(folder, 'ranks.bin'), packCl100k());
      const printed = execFileSync(process.execPath, ['--expose-gc', join(folder, 'bundle.cjs')], { encoding: 'utf8' });
      expect(JSON.parse(printed)).toEqual([6, true, 6]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('packed ranks', () => {
  const packed = packCl100k();
  const tokens = cl100k.bpe_ranks
    .split(' ')
    .slice(2)
    .map((token) => atob(token));

  it('contain every token of the table at its rank, at any position in a text', () => {
    expect(tokens).toHaveLength(100_256);
    const wrong = tokens.filter((token, rank) => packedRank(packed, `<${token}>`, 1, 1 + token.length) !== rank);
    expect(wrong).toEqual([]);
  });

  it('contain nothing else', () => {
    const known = new Set(tokens);
    const others = tokens.flatMap((token) => [`${token}\u0000`, `\u00ff${token}`]).filter((text) => !known.has(text));
    expect(others.length).toBeGreaterThan(100_000);
    expect(others.filter((text) => packedRank(packed, text, 0, text.length) !== NO_RANK)).toEqual([]);
  });
});
