import { describe, expect, it } from 'vitest';
import { buildCatalog, type Catalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/catalogError.ts';
import { decodeCatalog, encodeCatalog } from '../../src/catalog/snapshot.ts';
import { sampleListings } from './sampleListings.ts';

const odd = {
  server: 'Odd Server',
  instructions: 'Ask first.',
  tools: [
    { name: '__proto__', title: 'Proto', description: 'd', inputSchema: JSON.parse('{"properties":{"__proto__":{}}}') },
    { name: 'odd.name/é', description: '日本語 🚀 \ud800', outputSchema: { type: 'object' }, _meta: { version: '1' } },
    { name: 'slow', description: 'd', execution: { taskSupport: 'required' } },
    { name: 'either', description: 'd', execution: { taskSupport: 'optional' } },
    { name: 'safe', description: 'd', annotations: { readOnlyHint: true, costHint: 0.5 } },
    null,
  ],
};
const catalog = buildCatalog([...sampleListings(), odd]);
const file = encodeCatalog(catalog);

/** Returns all visible parts of a catalog except the pins, which are slow to compute. */
function plain({ tools, byId, graph, servers, findings, hash }: Catalog): string {
  const visible = { tools, byId: [...byId.keys()], nodes: graph.nodes, servers, findings, hash };
  return JSON.stringify(visible, (key, value) => (key === 'fingerprint' ? undefined : value));
}

function codeOf(bytes: Uint8Array): string | undefined {
  try {
    decodeCatalog(bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return error.code;
  }
}

describe('a snapshot', () => {
  const decoded = decodeCatalog(file);

  it('contains the whole catalog', () => {
    const sample = catalog.tools.filter((tool, at) => at % 10 === 0 || tool.server === odd.server);
    for (const tool of sample) {
      expect({ ...decoded.byId.get(tool.id) }).toEqual({ ...tool });
    }
    expect(plain(decoded)).toBe(plain(catalog));
    expect(decoded.graph.pathOf('odd-server:safe#00000000')).toBeUndefined();
    expect(decoded.graph.children('/')).toEqual(catalog.graph.children('/'));
  });

  it('keeps which tools run only as tasks', () => {
    const required = ({ tools }: Catalog) => tools.filter((tool) => tool.requiresTask).map(({ name }) => name);
    expect(required(catalog)).toEqual(['slow']);
    expect(required(decoded)).toEqual(['slow']);
  });

  it('is the same file each time', () => {
    expect(Buffer.compare(encodeCatalog(decoded), file)).toBe(0);
  });

  it('is rejected if any byte is wrong', () => {
    const header = Buffer.from(file).indexOf('\n');
    for (const at of [0, header - 3, header, header + 1, Math.floor(file.length / 2), file.length - 1]) {
      const damaged = Uint8Array.from(file);
      damaged[at] = (damaged[at] as number) ^ 1;
      expect(codeOf(damaged), `byte ${at}`).toMatch(/^snapshot_/);
    }
  });

  it('is rejected if it is truncated, longer, or something else', () => {
    for (const bytes of [
      file.subarray(0, file.length - 1),
      file.subarray(0, 40),
      new Uint8Array(0),
      Buffer.concat([file, Buffer.from('x')]),
      Buffer.from('null\n'),
      Buffer.from('{}\n'),
      Buffer.from('{"format":"waygate-catalog","version":1}\n{}'),
      Buffer.from('x'.repeat(5000)),
    ]) {
      expect(codeOf(bytes)).toBe('snapshot_damaged');
    }
  });

  it('is rejected if another version wrote it', () => {
    const text = Buffer.from(file).toString('latin1').replace('"version":1', '"version":2');
    expect(codeOf(Buffer.from(text, 'latin1'))).toBe('snapshot_version');
  });
});
