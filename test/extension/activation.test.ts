import { build, type Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ENTRY = 'src/extension/extension.ts';
/** Code that the editor has to read before it can show anything, minified. */
const MAX_BYTES = 220 * 1024;

/** Splits the extension into what loads at once and what loads on demand, and returns the former. */
async function loadedAtOnce(): Promise<{ bytes: number; inputs: string[]; external: string[] }> {
  const { metafile } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    outdir: 'unused',
    write: false,
    metafile: true,
    external: ['vscode'],
    mainFields: ['module', 'main'],
  });
  const { outputs } = metafile;
  const [entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY) ?? [];
  const files = [...withImports(outputs, entry as string)].map((file) => outputs[file] as Metafile['outputs'][string]);
  return {
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    inputs: files.flatMap(({ inputs }) => Object.keys(inputs)),
    external: files.flatMap(({ imports }) => imports.filter((one) => one.external).map(({ path }) => path)),
  };
}

function withImports(outputs: Metafile['outputs'], file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind, external } of outputs[file]?.imports ?? [])
    if (kind === 'import-statement' && !external) withImports(outputs, path, seen);
  return seen;
}

/** The time of activation is measured by `npm run bench:editor`; these are the reasons for it. */
describe('what activation loads', () => {
  it('is own code of a few rooms and no package', async () => {
    const { bytes, inputs, external } = await loadedAtOnce();
    const rooms = new Set(inputs.map((path) => path.split('/').slice(0, 2).join('/')));
    expect([...rooms].sort()).toEqual([
      'src/config',
      'src/control',
      'src/extension',
      'src/lib',
      'src/text',
      'src/trust',
    ]);
    // Neither sockets nor processes: those come with the first attachment.
    expect([...new Set(external)].sort()).toEqual([
      'node:buffer',
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:module',
      'node:os',
      'node:path',
      'node:stream/promises',
      'node:util',
      'vscode',
    ]);
    expect(bytes).toBeGreaterThan(50 * 1024);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });
});
