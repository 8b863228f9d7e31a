import { describe, expect, it } from 'vitest';
import { ExposedCatalog, isExposed } from '../../src/upstream/listing/exposedTools.ts';
import type { ServerCatalog } from '../../src/upstream/listing/serverCatalog.ts';

const catalog: ServerCatalog = {
  tools: [{ name: 'read_file' }, { name: 'read_secret' }, { name: 'write_file' }, { title: 'nameless' }, null],
  resources: [],
  resourceTemplates: [],
  prompts: [],
  capabilities: { tools: {} },
};

describe('the tool filter', () => {
  it.each([
    ['read_file', { include: ['read_*'], exclude: [] }, true],
    ['write_file', { include: ['read_*'], exclude: [] }, false],
    ['read_secret', { include: ['read_*'], exclude: ['*secret*'] }, false],
    ['Read_file', { include: ['read_*'], exclude: [] }, false],
    ['read_file', { include: ['read_fil[ef]'], exclude: [] }, true],
    ['x', { include: [], exclude: [] }, true],
    ['x', { include: [], exclude: ['?'] }, false],
    ['x', undefined, true],
  ])('%s by %j: %s', (name, filter, expected) => {
    expect(isExposed(name, filter)).toBe(expected);
  });

  it('returns the same list while nothing changes', () => {
    const exposed = new ExposedCatalog();
    const first = exposed.of(catalog, { include: ['read_*'], exclude: ['*secret*'] });
    expect(first.tools).toEqual([{ name: 'read_file' }]);
    expect(first.capabilities).toBe(catalog.capabilities);
    expect(exposed.of(catalog, { include: ['read_*'], exclude: ['*secret*'] })).toBe(first);
    expect(exposed.of(catalog, { include: [], exclude: ['write_*'] }).tools).toHaveLength(4);
    expect(exposed.of(catalog, undefined)).toBe(catalog);
  });
});
