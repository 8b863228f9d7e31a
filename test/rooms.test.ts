import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Who may enter which room (docs/architecture.md). `type` imports count too, but where `types` allows them. */
const PROGRAMS = ['host', 'worker', 'cli'];
/** What a program composes. */
const ALL = [
  'catalog',
  'routing',
  'firewall',
  'dispatch',
  'upstream',
  'surface',
  'ops',
  'protocol',
  'control',
  'config',
];
const ROOMS: Record<string, { values: readonly string[]; types?: readonly string[] }> = {
  catalog: { values: [] },
  routing: { values: ['catalog'] },
  firewall: { values: ['catalog', 'ops'] },
  dispatch: { values: ['catalog', 'firewall', 'upstream', 'protocol', 'ops'] },
  upstream: { values: ['protocol', 'ops'], types: ['config'] },
  surface: {
    values: ['catalog', 'routing', 'firewall', 'dispatch', 'upstream', 'ops'],
    types: ['control', 'config', 'protocol'],
  },
  ops: { values: [] },
  protocol: { values: ['ops'] },
  control: { values: [], types: ['catalog', 'config', 'routing', 'ops'] },
  config: { values: ['ops'] },
  host: {
    values: ALL,
  },
  worker: {
    values: ['host', ...ALL],
  },
  cli: {
    values: ['host', 'worker', ...ALL],
  },
  extension: { values: ['control', 'config', 'host'], types: ['catalog'] },
};
/** A package that belongs to one room alone. */
const OWNED: readonly [RegExp, string][] = [
  [/^vscode$/, 'extension'],
  [/^@modelcontextprotocol\//, 'protocol'],
];

interface Import {
  file: string;
  from: string;
  to: string;
  typeOnly: boolean;
}

const imports: Import[] = globSync('src/**/*.ts').flatMap((file) => {
  const source = readFileSync(file, 'utf8');
  const found = source.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)'|import\('([^']+)'\)/gms);
  return [...found].map(([, type, specifier, dynamic]) => ({
    file,
    from: file.split(/[\\/]/)[1] as string,
    to: (specifier ?? dynamic) as string,
    typeOnly: type !== undefined,
  }));
});

const roomOf = ({ file, to }: Import): string | undefined =>
  to.startsWith('.') ? relative('src', resolve(dirname(file), to)).split(/[\\/]/)[0] : undefined;

describe('the rooms', () => {
  it('are all on the map', () => {
    expect([...new Set(imports.map(({ from }) => from))].filter((room) => !(room in ROOMS))).toEqual([]);
    expect(imports.length).toBeGreaterThan(200);
  });

  it.each(Object.keys(ROOMS))('%s enters only where it may', (room) => {
    const { values, types = [] } = ROOMS[room] as (typeof ROOMS)[string];
    const trespasses = imports.filter((one) => {
      const target = roomOf(one);
      if (one.from !== room || target === undefined || target === room) return false;
      return !values.includes(target) && !(one.typeOnly && types.includes(target));
    });
    expect(trespasses.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('keep VS Code in the extension, and the MCP SDK in the protocol', () => {
    const strays = imports.filter(({ from, to }) => OWNED.some(([name, owner]) => name.test(to) && from !== owner));
    expect(strays.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('are composed by programs that nobody but programs imports', () => {
    const strays = imports.filter((one) => {
      const target = roomOf(one);
      return target !== undefined && ['worker', 'cli'].includes(target) && !PROGRAMS.includes(one.from);
    });
    expect(strays.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('run on a system’s Node 20 too, which has no more than this', () => {
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
