import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Rooms that any room above them may import: helpers, error types and text for models and people. */
const BASE = ['lib', 'text', 'errors'];
/** Rooms that the programs compose. */
const ALL = [
  ...BASE,
  'secrets',
  'replay',
  'supervision',
  'telemetry',
  'catalog',
  'trust',
  'ranking',
  'config',
  'import',
  'trust',
  'walls',
  'results',
  'calls',
  'link',
  'mcp',
  'upstream',
  'records',
  'modes',
  'control',
];
/** Rooms that each room may import (docs/architecture.md). `types` lists rooms of which it may import types only. */
const ROOMS: Record<string, { values: readonly string[]; types?: readonly string[] }> = {
  lib: { values: [] },
  text: { values: ['lib'] },
  errors: { values: ['lib', 'text'], types: ['replay'] },
  secrets: { values: BASE },
  replay: { values: BASE },
  supervision: { values: BASE },
  telemetry: { values: [...BASE, 'control'], types: ['supervision'] },
  catalog: { values: BASE },
  ranking: { values: ['catalog', 'lib'] },
  config: { values: [...BASE, 'secrets', 'link'] },
  import: { values: [...BASE, 'config', 'secrets'] },
  trust: { values: [...BASE, 'config', 'secrets', 'catalog'] },
  walls: { values: [...BASE, 'config', 'import'], types: ['trust'] },
  results: { values: [...BASE, 'catalog', 'secrets'] },
  link: { values: BASE },
  mcp: { values: [...BASE, 'link', 'replay'] },
  upstream: { values: [...BASE, 'mcp', 'supervision', 'replay'], types: ['config', 'control', 'walls'] },
  calls: { values: [...BASE, 'config', 'catalog', 'results', 'upstream', 'replay', 'mcp'], types: ['link'] },
  modes: {
    values: [
      ...BASE,
      'catalog',
      'ranking',
      'results',
      'calls',
      'upstream',
      'mcp',
      'link',
      'replay',
      'secrets',
      'trust',
      'telemetry',
      'control',
    ],
    types: ['config', 'supervision'],
  },
  records: { values: [...BASE, 'mcp', 'secrets', 'catalog', 'results'], types: ['config', 'control'] },
  control: { values: [], types: ['errors', 'catalog', 'config', 'ranking', 'supervision', 'link', 'trust'] },
  host: { values: ALL },
  worker: { values: ['host', ...ALL] },
  cli: { values: ['host', 'worker', ...ALL] },
  extension: { values: ['lib', 'text', 'control', 'config', 'import', 'secrets', 'trust', 'host'] },
};
const PROGRAMS = ['host', 'worker', 'cli', 'extension'];
/** The one folder of a program that another program's process loads: finding, attaching to and replacing a worker. */
const SHARED_FOLDER = 'host/attach/';
/** Packages that only one room may import. */
const OWNED: readonly [RegExp, string][] = [
  [/^vscode$/, 'extension'],
  [/^@modelcontextprotocol\//, 'mcp'],
];
const MAX_FILES_IN_A_FOLDER = 20;

interface Import {
  file: string;
  from: string;
  to: string;
  /** Path below `src/`, where the import is relative. */
  target: string | undefined;
  typeOnly: boolean;
}

const imports: Import[] = globSync('src/**/*.ts').flatMap((file) => {
  const source = readFileSync(file, 'utf8');
  const found = source.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)'|import\('([^']+)'\)/gms);
  return [...found].map(([, type, specifier, dynamic]) => {
    const to = (specifier ?? dynamic) as string;
    const target = to.startsWith('.') ? relative('src', resolve(dirname(file), to)).replaceAll('\\', '/') : undefined;
    return { file, from: file.split(/[\\/]/)[1] as string, to, target, typeOnly: type !== undefined };
  });
});

const roomOf = (path: string): string => path.split('/')[0] as string;
const described = (strays: readonly Import[]): string[] => strays.map(({ file, to }) => `${file} imports ${to}`);

describe('the rooms', () => {
  it('are all on the map', () => {
    const rooms = [...new Set(imports.map(({ from }) => from))];
    expect(rooms.filter((room) => !(room in ROOMS))).toEqual([]);
    expect(imports.length).toBeGreaterThan(200);
  });

  it.each(Object.keys(ROOMS))('%s imports only the rooms it may', (room) => {
    const { values, types = [] } = ROOMS[room] as (typeof ROOMS)[string];
    const strays = imports.filter(({ from, target, typeOnly }) => {
      if (from !== room || target === undefined || roomOf(target) === room) return false;
      return !values.includes(roomOf(target)) && !(typeOnly && types.includes(roomOf(target)));
    });
    expect(described(strays)).toEqual([]);
  });

  it('keep VS Code in the extension and the MCP SDK in mcp', () => {
    const strays = imports.filter(({ from, to }) => OWNED.some(([name, owner]) => name.test(to) && from !== owner));
    expect(described(strays)).toEqual([]);
  });

  it('keep network, files, processes and clocks out of the scan', () => {
    const files = globSync('src/trust/scan/*.ts');
    const strays = imports.filter(({ file, target }) => files.includes(file) && target === undefined);
    expect(described(strays)).toEqual([]);
    const effects =
      /\b(?:process|globalThis|Date|performance|setTimeout|setImmediate|setInterval|fetch|WebSocket|require|crypto)\b\s*[.(]|\bMath\.random\b|\bimport\(/;
    expect(files.filter((file) => effects.test(readFileSync(file, 'utf8')))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
  });

  it('are composed by programs, which only programs import', () => {
    const strays = imports.filter(
      ({ from, target }) => target !== undefined && PROGRAMS.includes(roomOf(target)) && !PROGRAMS.includes(from),
    );
    expect(described(strays)).toEqual([]);
  });

  it('give the extension no more of the host than the way to a worker', () => {
    const strays = imports.filter(
      ({ from, target }) =>
        from === 'extension' && target?.startsWith('host/') === true && !target.startsWith(SHARED_FOLDER),
    );
    expect(described(strays)).toEqual([]);
  });

  it(`hold at most ${MAX_FILES_IN_A_FOLDER} files in a folder`, () => {
    const counts = new Map<string, number>();
    for (const file of globSync('src/**/*', { withFileTypes: true })) {
      if (file.isFile()) counts.set(file.parentPath, (counts.get(file.parentPath) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MAX_FILES_IN_A_FOLDER)).toEqual([]);
    expect(counts.size).toBeGreaterThan(30);
  });

  it('are mirrored by the folders of the tests', () => {
    const elsewhere = new Set(
      'bench clients conformance docs editor fixtures hardening integration scripts skills soak support webview'.split(
        ' ',
      ),
    );
    const folders = globSync('test/*/', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).filter((name) => !(name in ROOMS) && !elsewhere.has(name))).toEqual([]);
  });

  it('run on a Node 20 of the system, without newer functions', () => {
    const newer = /\b(?:Promise\.(?:withResolvers|try)|globSync|Object\.groupBy|Iterator\.from|matchesGlob)\b/;
    const users = globSync('src/**/*.ts').filter((file) =>
      newer.test(readFileSync(file, 'utf8').replace(/^ *(?:\/\/|\/?\*).*$/gm, '')),
    );
    expect(users).toEqual([]);
  });

  it('export by name', () => {
    const defaults = globSync('{src,webview}/**/*.ts').filter((file) =>
      /^export default/m.test(readFileSync(join(file), 'utf8')),
    );
    expect(defaults).toEqual([]);
  });
});
