import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const tokens = fileURLToPath(new URL('../../src/catalog/tokens.ts', import.meta.url));
const ranks = createRequire(import.meta.url).resolve('js-tiktoken/ranks/cl100k_base');

describe('the ranks are found', () => {
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

  it('by a CommonJS bundle that has them in a file beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waygate-ranks-'));
    try {
      await build({
        stdin: {
          contents: `import { countTokens } from ${JSON.stringify(tokens)}; console.log(countTokens('tiktoken is great!'));`,
          resolveDir: folder,
        },
        bundle: true,
        platform: 'node',
        format: 'cjs',
        outfile: join(folder, 'bundle.cjs'),
        logLevel: 'error',
        plugins: [
          {
            name: 'ranks beside the bundle',
            setup: ({ onResolve }) => {
              onResolve({ filter: /^js-tiktoken\/ranks\/cl100k_base$/ }, () => ({
                path: './cl100k_base.cjs',
                external: true,
              }));
            },
          },
        ],
      });
      await cp(ranks, join(folder, 'cl100k_base.cjs'));
      const printed = execFileSync(process.execPath, [join(folder, 'bundle.cjs')], { encoding: 'utf8' });
      expect(printed.trim()).toBe('6');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
