import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve('.out/fixtures');

/** Fixtures that use the SDK of MCP. To load its files takes longer than what most tests do with the server. */
const LARGE = ['canaryServer.mjs', 'conformanceServer.mjs', 'httpServer.mjs', 'modernServer.mjs', 'roundsServer.mjs'];

/** Returns the path of a large fixture with all its imports in one file, which starts in half the time. */
export function bundled(name: string): string {
  if (!LARGE.includes(name)) throw new Error(`${name} is not bundled: add it to LARGE.`);
  return join(FOLDER, name);
}

/** Bundles the fixtures whose source, or whose SDK, is newer than their bundle. */
export async function bundleFixtures(): Promise<void> {
  const sdk = Math.max(
    ...['sdk', 'server'].map((name) => modified(`node_modules/@modelcontextprotocol/${name}/package.json`)),
  );
  const source = (name: string): string => join('test/fixtures', name);
  const stale = LARGE.filter((name) => modified(bundled(name)) <= Math.max(modified(source(name)), sdk));
  if (stale.length === 0) return;
  const { build } = await import('esbuild');
  mkdirSync(FOLDER, { recursive: true });
  const outdir = mkdtempSync(`${FOLDER}-`);
  await build({
    entryPoints: stale.map(source),
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir,
    outExtension: { '.js': '.mjs' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  // Another run may be starting the earlier ones.
  for (const name of stale) renameSync(join(outdir, name), bundled(name));
  rmSync(outdir, { recursive: true });
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
