// Builds what the product ships, and with --test the suite that runs inside VS Code.
// --dev leaves the code readable and adds inline source maps; --test adds dist/test/editor/index.cjs.

import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { NOTICES_FILE, thirdPartyNotices } from './scripts/lib/notices.mjs';
import { writeSkill } from './scripts/lib/skill.mjs';
import { packCl100k } from './src/catalog/tokenizer/tokenRanks.ts';
import { writeThesaurus } from './src/ranking/words/thesaurusText.ts';
import { compiledVocabulary } from './src/ranking/words/vocabulary.ts';

const root = dirname(fileURLToPath(import.meta.url));
const posix = (path) => path.replaceAll('\\', '/');
const dev = process.argv.includes('--dev');
const withTests = process.argv.includes('--test');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const RANKS_FILE = 'cl100k_base.bin';
const THESAURUS_FILE = 'thesaurus.txt';
/** Made anew with each build. */
const SKILLS_FOLDER = join(root, 'dist', 'skills');

/** The host is started once per client and must be there at once: these have no place in it. */
const TOO_HEAVY_FOR_THE_HOST = ['@modelcontextprotocol/sdk', 'diff', 'js-tiktoken', 'zod'];

// A build is told from an older one by comparing these as text, so the time has a fixed width.
const builtAt = new Date().toISOString().replace(/\D/g, '').slice(0, 14);

/** The tokenizer's table of a megabyte lies beside the worker, which looks tokens up in it as it is. */
const ranksBeside = {
  name: 'ranks-beside',
  setup(context) {
    context.onResolve({ filter: /^js-tiktoken(\/|$)/ }, ({ importer }) => {
      const text = `${relative(root, importer)} imports the tokenizer: count with src/catalog/tokenizer/tokens.ts.`;
      return { errors: [{ text }] };
    });
  },
};

/** What a person asks for once has a bundle of its own, so that host, worker and extension load nothing of it. */
const OWN_BUNDLES = [
  { source: 'src/cli/runCommand.ts', file: 'cliCommands.cjs' },
  { source: 'src/cli/commands/import.ts', file: 'cliImport.cjs', shares: ['importing.cjs'] },
  { source: 'src/cli/commands/records/serveRecords.ts', file: 'cliRecords.cjs' },
  { source: 'src/host/attach/rollOut.ts', file: 'rollOut.cjs' },
  { source: 'src/host/modern/modernEra.ts', file: 'modernEra.cjs', atUse: ['node:crypto'] },
  { source: 'src/extension/import/importServers.ts', file: 'editorImport.cjs', shares: ['importing.cjs'] },
  { source: 'src/extension/configuration/editConfiguration.ts', file: 'editorEdits.cjs' },
  { source: 'src/extension/configuration/language/configurationLanguage.ts', file: 'editorLanguage.cjs' },
  { source: 'src/worker/gateway/staticCatalog.ts', file: 'staticCatalog.cjs' },
  { source: 'src/mcp/wire/modern/modernUpstream.ts', file: 'modernUpstream.cjs' },
  { source: 'src/walls/runtime.ts', file: 'wallsRuntime.cjs' },
];
/** What a start does not need: programs of a host or worker evaluate it at its first use. */
const LOADED_AT_USE = {
  host: ['node:child_process', 'node:crypto', 'node:http', 'node:inspector'],
  worker: [
    'node:child_process',
    'node:dns/promises',
    'node:fs/promises',
    'node:http',
    'node:https',
    'node:inspector',
    'node:perf_hooks',
    'node:vm',
    'node:worker_threads',
    '@modelcontextprotocol/sdk/client/auth.js',
    '@modelcontextprotocol/sdk/types.js',
    'ajv',
    'ajv/dist/2020.js',
    'ajv-formats',
    'cross-spawn',
    'json-p3',
    're2js',
    'vscode-jsonrpc/node',
    'yaml',
  ],
};

/**
 * Puts a module between importers and each of the given ones. It has the same names and loads the other at the first use,
 * also where that is a function or a class itself.
 */
const loadedAtUse = (modules) => ({
  name: 'loaded-at-use',
  setup(context) {
    context.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === 'import-statement' && modules.includes(path) ? { path, namespace: 'loaded-at-use' } : undefined,
    );
    context.onLoad({ filter: /.*/, namespace: 'loaded-at-use' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => /^(?!default$|__)\w+$/.test(name));
      // The SDK has other files for require(), and the bundle would carry both.
      const file = path.startsWith('@modelcontextprotocol/') ? fileURLToPath(import.meta.resolve(path)) : path;
      const contents = `
        let loaded;
        // require() of a module of ESM would make an object of all its exports each time.
        const load = () => (loaded ??= require(${JSON.stringify(file)}));
        module.exports = new Proxy(function () {}, {
          apply: (_, self, args) => Reflect.apply(load(), self, args),
          construct: (_, args) => Reflect.construct(load(), args),
        });
        for (const name of ${JSON.stringify(names)}) {
          Object.defineProperty(module.exports, name, { enumerable: true, get: () => load()[name] });
        }`;
      return { contents, resolveDir: root };
    });
  },
});

const ownBundles = {
  name: 'own-bundles',
  setup(context) {
    context.onResolve({ filter: /^\.[\w./]+\.ts$/ }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const own = OWN_BUNDLES.find(({ source }) => join(resolveDir, path) === join(root, source));
      return own && { path: own.file, namespace: 'own-bundles' };
    });
    context.onResolve({ filter: /.*/, namespace: 'own-bundles' }, ({ path }) => ({ path, external: true }));
    // With import(), Node would parse the file once more, for the names of its exports.
    context.onLoad({ filter: /.*/, namespace: 'own-bundles' }, ({ path }) => ({
      contents: `module.exports = require('./${path}');`,
    }));
  },
};

/** Packages that several bundles need, by the bundle of their own, so that the download carries each once. */
const SHARED_PACKAGES = {
  'yaml.cjs': ['yaml'],
  're2js.cjs': ['re2js'],
  'ajv.cjs': ['ajv', 'ajv/dist/2020.js'],
  'jsonrpc.cjs': ['vscode-jsonrpc/node'],
  'toml.cjs': ['smol-toml'],
};
/** Sources that several of the bundles above need. Host, worker and extension have a copy, so that they start from one file. */
const SHARED_SOURCES = {
  'secrets.cjs': ['assignments', 'findShapes', 'names', 'shapes'].map((name) => `src/secrets/${name}.ts`),
  'declaration.cjs': globSync('src/config/declaration/*.ts', { cwd: root }).map(posix).sort(),
};
/** Sources of the import alone, of which no other command loads anything. */
const SHARED_BY_IMPORTS = {
  'importing.cjs': ['importFiles', 'importReport', 'planImport', 'removeEntries'].map(
    (name) => `src/import/${name}.ts`,
  ),
};
const SHARED = { ...SHARED_PACKAGES, ...SHARED_SOURCES, ...SHARED_BY_IMPORTS };

/** Takes modules from the bundles that share them. */
const sharedFrom = (files) => ({
  name: 'shared-modules',
  setup(context) {
    const bundleOf = new Map(files.flatMap((file) => SHARED[file].map((name) => [name, file])));
    context.onResolve({ filter: /.*/ }, ({ path, namespace, resolveDir }) => {
      if (namespace === 'shared-modules') return { path, external: true };
      const name = path.startsWith('.') ? posix(relative(root, join(resolveDir, path))) : path;
      return bundleOf.has(name) ? { path: name, namespace: 'shared-modules' } : undefined;
    });
    context.onLoad({ filter: /.*/, namespace: 'shared-modules' }, ({ path }) => ({
      contents: `module.exports = require('./${bundleOf.get(path)}')[${JSON.stringify(path)}];`,
    }));
  },
});
const sharedPackages = sharedFrom(Object.keys(SHARED_PACKAGES));
const sharedSources = (more = []) =>
  sharedFrom([...Object.keys(SHARED_PACKAGES), ...Object.keys(SHARED_SOURCES), ...more]);

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: !dev,
  sourcemap: dev ? 'inline' : false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'silent',
  define: {
    __WAYGATE_VERSION__: JSON.stringify(version),
    __WAYGATE_BUILD__: JSON.stringify(`${version}+${builtAt}`),
    __WAYGATE_RANKS__: JSON.stringify(`./${RANKS_FILE}`),
    __WAYGATE_THESAURUS__: JSON.stringify(`./${THESAURUS_FILE}`),
  },
};

const node = {
  ...common,
  platform: 'node',
  format: 'cjs',
  target: 'node20.12',
  // Some packages' CommonJS form (jsonc-parser's) requires by names that no bundler can follow.
  mainFields: ['module', 'main'],
  define: { ...common.define, 'import.meta.url': '__waygateModuleUrl' },
  banner: { js: "const __waygateModuleUrl = require('node:url').pathToFileURL(__filename).href;" },
};

const browser = { ...common, platform: 'browser', target: 'es2023' };

/** One entry that runs every suite file, each loaded only when mocha is ready for its `describe`. */
function editorSuiteEntry() {
  const files = globSync('test/editor/suite/**/*.test.ts', { cwd: root }).sort();
  // First, since the others begin with approved servers.
  files.sort((a, b) => Number(b.endsWith('approval.test.ts')) - Number(a.endsWith('approval.test.ts')));
  const loaders = files.map((file) => {
    const path = `./${file.replaceAll('\\', '/')}`;
    return `[${JSON.stringify(basename(file))}, () => require(${JSON.stringify(path)})]`;
  });
  return `import { runSuite } from './test/editor/harness/inHost.ts';
export const run = () => runSuite([${loaders.join(',\n')}]);`;
}

const bundles = [
  {
    ...node,
    entryPoints: ['src/extension/extension.ts'],
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
    plugins: [ownBundles],
  },
  ...OWN_BUNDLES.map(({ source, file, shares = [], atUse = [] }) => ({
    ...node,
    entryPoints: [source],
    outfile: `dist/${file}`,
    external: ['vscode', '@microsoft/mxc-sdk'],
    plugins: [loadedAtUse(atUse), ownBundles, sharedSources(shares)],
  })),
  ...Object.entries(SHARED).map(([file, names], index) => ({
    ...node,
    stdin: {
      contents: names.map((name) => `exports['${name}'] = require('${name.replace(/^src/, './src')}');`).join('\n'),
      resolveDir: root,
    },
    outfile: `dist/${file}`,
    // Each takes what it needs from those before it.
    plugins: [sharedFrom(Object.keys(SHARED).slice(0, index))],
  })),
  {
    ...node,
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/waygate.cjs',
    plugins: [loadedAtUse(LOADED_AT_USE.host), ownBundles],
    banner: { js: `#!/usr/bin/env node\n${node.banner.js}` },
  },
  {
    ...node,
    entryPoints: ['src/worker/process/main.ts'],
    outfile: 'dist/worker.cjs',
    plugins: [loadedAtUse(LOADED_AT_USE.worker), sharedPackages, ranksBeside, ownBundles],
  },
  {
    ...node,
    entryPoints: ['src/calls/validation/validationThread.ts'],
    outfile: 'dist/validationThread.cjs',
    plugins: [sharedPackages],
  },
  {
    ...node,
    entryPoints: ['src/records/embedded/recordsThread.ts'],
    outfile: 'dist/recordsThread.cjs',
    plugins: [sharedSources()],
  },
  {
    ...node,
    entryPoints: ['src/walls/launcher.ts'],
    outfile: 'dist/wallsLauncher.cjs',
    plugins: [ownBundles],
  },
  { ...browser, entryPoints: ['webview/dashboard/main.ts'], outfile: 'dist/webview/dashboard.js', format: 'iife' },
  { ...browser, entryPoints: ['webview/dashboard/dashboard.css'], outfile: 'dist/webview/dashboard.css' },
  { ...browser, entryPoints: ['webview/table/main.ts'], outfile: 'dist/webview/table.js', format: 'iife' },
  { ...browser, entryPoints: ['webview/table/table.css'], outfile: 'dist/webview/table.css' },
  { ...browser, entryPoints: ['webview/try/main.ts'], outfile: 'dist/webview/try.js', format: 'iife' },
  { ...browser, entryPoints: ['webview/try/try.css'], outfile: 'dist/webview/try.css' },
];

if (withTests) {
  bundles.push({
    ...node,
    minify: false,
    sourcemap: 'inline',
    stdin: { contents: editorSuiteEntry(), resolveDir: root, sourcefile: 'editor-suite.ts', loader: 'ts' },
    outfile: 'dist/test/editor/index.cjs',
    external: ['vscode', 'mocha'],
  });
}

function refuseHeavyInputs(metafile) {
  const inputs = Object.entries(metafile.inputs);
  for (const name of TOO_HEAVY_FOR_THE_HOST) {
    const inside = `node_modules/${name}/`;
    if (!inputs.some(([path]) => path.includes(inside))) continue;
    const importers = inputs.filter(([, { imports }]) => imports.some(({ path }) => path.includes(inside)));
    const outside = importers.map(([path]) => path).filter((path) => !path.includes(inside));
    throw new Error(
      `it contains ${name}, imported by ${outside.join(' and ')}: the host must stay small, so move what needs it to the worker.`,
    );
  }
}

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1).padStart(8)} KB`;

function report(outfile) {
  const bytes = readFileSync(join(root, outfile));
  console.log(`  ${outfile.padEnd(28)}${kilobytes(bytes.length)}${kilobytes(gzipSync(bytes).length)} gzip`);
}

/** What the worker looks up as it lies: made here, so that no start has to. */
const TABLES = {
  [RANKS_FILE]: packCl100k,
  [THESAURUS_FILE]: () => writeThesaurus(compiledVocabulary()),
};

function writeTables() {
  mkdirSync(join(root, 'dist'), { recursive: true });
  for (const [file, make] of Object.entries(TABLES)) {
    writeFileSync(join(root, 'dist', file), make());
    report(`dist/${file}`);
  }
}

/** Programs of the sandbox runtime that keep a server behind walls from sockets and namespaces, by processor. */
const WALL_PROGRAMS = ['x64', 'arm64'].map((arch) => join('walls', arch, 'apply-seccomp'));
/** Agent of the sandbox runtime that leads Java programs behind walls to its proxy. */
const JAVA_AGENT = join('walls', 'srt-proxy-agent.jar');

function copyWallPrograms() {
  const vendor = join(root, 'node_modules', '@anthropic-ai', 'sandbox-runtime', 'vendor');
  for (const file of WALL_PROGRAMS) {
    mkdirSync(dirname(join(root, 'dist', file)), { recursive: true });
    copyFileSync(join(vendor, 'seccomp', relative('walls', file)), join(root, 'dist', file));
    chmodSync(join(root, 'dist', file), 0o755);
    report(join('dist', file));
  }
  copyFileSync(join(vendor, 'java-proxy-agent', relative('walls', JAVA_AGENT)), join(root, 'dist', JAVA_AGENT));
  report(join('dist', JAVA_AGENT));
}

/** What an older build made and this one does not must not find its way into the packed extension. */
function removeStale() {
  const beside = [...Object.keys(TABLES), ...WALL_PROGRAMS, JAVA_AGENT, NOTICES_FILE].map((file) => `dist/${file}`);
  const outputs = [...bundles.map(({ outfile }) => outfile), ...beside];
  const made = new Set(outputs.map((file) => join(root, file)));
  for (const entry of readdirSync(join(root, 'dist'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isOfAFolder = [join(root, 'dist', 'test'), SKILLS_FOLDER].some((folder) => path.startsWith(folder));
    if (entry.isFile() && !made.has(path) && !isOfAFolder) rmSync(path);
  }
}

/** esbuild escapes all but regular expressions. One character beyond Latin-1 makes V8 keep the source in twice the memory. */
function escapeNonAscii(file) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[\u0080-\uffff]/g, escaped));
}

async function bundle(options) {
  const { metafile, warnings } = await build(options);
  if (warnings.length > 0) throw { errors: warnings };
  if (options.outfile === 'dist/worker.cjs' && !dev) escapeNonAscii(join(root, options.outfile));
  if (options.outfile === 'dist/waygate.cjs') {
    refuseHeavyInputs(metafile);
    chmodSync(join(root, options.outfile), 0o755);
  }
  return metafile;
}

/** Writes the licences of everything that ships; the suite for the editor's tests does not. */
function writeNotices(outcomes) {
  const shipped = outcomes.filter(
    (outcome, index) => outcome.value && !bundles[index].outfile.startsWith('dist/test/'),
  );
  writeFileSync(
    join(root, 'dist', NOTICES_FILE),
    thirdPartyNotices(
      root,
      shipped.map(({ value }) => value),
    ),
  );
  report(`dist/${NOTICES_FILE}`);
}

/** esbuild's own list of what is wrong, or the one sentence of a rule above. */
function describe(error) {
  if (!Array.isArray(error.errors)) return error.message;
  return error.errors
    .map(({ text, location }) => (location ? `${location.file}:${location.line}:${location.column}: ${text}` : text))
    .join('\n');
}

console.log(`Building Waygate ${version}+${builtAt}`);
const outcomes = await Promise.allSettled(bundles.map(bundle));
outcomes.forEach((outcome, index) => {
  const { outfile } = bundles[index];
  if (outcome.status === 'fulfilled') report(outfile);
  else {
    process.exitCode = 1;
    console.error(`  ${outfile} was not built: ${describe(outcome.reason)}`);
  }
});
writeTables();
copyWallPrograms();
try {
  writeNotices(outcomes);
} catch (error) {
  process.exitCode = 1;
  console.error(`  dist/${NOTICES_FILE} was not written: ${describe(error)}`);
}
writeSkill(root, join(SKILLS_FOLDER, 'mcp-bootstrap'));
removeStale();
