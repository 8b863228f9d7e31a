import { describe, expect, it } from 'vitest';
import type { GatewaySnapshot, ServerStatus, TreeNode } from '../../../src/control/contract.ts';
import { FolderTools } from '../../../src/extension/tree/folderTools.ts';
import { toolRow } from '../../../src/extension/tree/toolRows.ts';
import { attached, node, server, snapshot } from '../fixtures.ts';

/** Tools of a worker that the test changes. Only the transport to a real worker is left out. */
class Catalog {
  revision = 1;
  servers: readonly ServerStatus[] = [server('files')];
  levels = new Map<string, readonly TreeNode[]>([
    ['/', [node('/files')]],
    ['/files', [node('/files/read', { kind: 'tool', toolId: 'files:read#1' })]],
  ]);
  readonly asked: string[] = [];
  readonly tools = new FolderTools(
    'one',
    {
      state: Object.defineProperty({}, 'value', { get: () => this.state }) as never,
      children: async (path) => {
        this.asked.push(path);
        return { revision: this.revision, nodes: this.levels.get(path) ?? [] };
      },
    },
    (text) => {
      throw new Error(text);
    },
  );

  get state(): ReturnType<typeof attached> {
    return attached(this.snapshot);
  }

  get snapshot(): GatewaySnapshot {
    const catalog = { ...snapshot().catalog, revision: this.revision };
    return snapshot({ servers: this.servers, catalog });
  }

  /** Reports a new revision, as a worker does after it has listed a server. */
  relisted(): boolean {
    this.revision += 1;
    return this.tools.update({ link: this.state, policy: undefined });
  }

  async drawn(): Promise<string[]> {
    const roots = await this.tools.children();
    const below = await Promise.all(roots.map((root) => this.tools.children(root)));
    return [...roots, ...below.flat()].map((element) => toolRow(element).label);
  }
}

async function drawnCatalog(): Promise<Catalog> {
  const catalog = new Catalog();
  catalog.tools.update({ link: catalog.state, policy: undefined });
  expect(await catalog.drawn()).toEqual(['files', 'read']);
  return catalog;
}

describe('the tools of a folder', () => {
  it('are not drawn again after a list that brought nothing new', async () => {
    const catalog = await drawnCatalog();
    const before = catalog.tools.node('/files/read');
    expect(catalog.relisted()).toBe(true);
    expect(catalog.tools.isStale).toBe(true);
    expect(await catalog.tools.load()).toEqual([]);
    expect(catalog.tools.isStale).toBe(false);
    expect(catalog.tools.node('/files/read')).toBe(before);
  });

  it('are there, on all shown levels, before they are drawn again', async () => {
    const catalog = await drawnCatalog();
    catalog.levels.set('/files', [node('/files/write', { kind: 'tool', toolId: 'files:write#1' })]);
    catalog.relisted();
    expect(await catalog.tools.load()).toBe('all');
    catalog.asked.splice(0);
    expect(await catalog.drawn()).toEqual(['files', 'write']);
    expect(catalog.asked).toEqual([]);
    expect(catalog.tools.node('/files/read')).toBeUndefined();
  });

  it('are drawn again if only the definition of a tool is another', async () => {
    const catalog = await drawnCatalog();
    catalog.levels.set('/files', [node('/files/read', { kind: 'tool', toolId: 'files:read#2' })]);
    catalog.relisted();
    expect(await catalog.tools.load()).toMatchObject([{ node: { toolId: 'files:read#2' } }]);
    expect(catalog.tools.node('/files/read')).toMatchObject({ node: { toolId: 'files:read#2' } });
  });

  it('are drawn again alone where only a row differs, and all together where rows come or get rows below', async () => {
    const catalog = await drawnCatalog();
    const [files] = await catalog.tools.children();
    const failed = (over: Partial<ServerStatus>) => {
      catalog.servers = [server('files', { state: 'failed', ...over })];
      return catalog.tools.update({ link: catalog.state, policy: undefined });
    };
    expect(failed({ nextTryAt: 1_000_000 })).toBe(true);
    const [only, ...others] = await catalog.tools.load();
    // VS Code redraws a row by the object that it got.
    expect(only).toBe(files);
    expect(others).toEqual([]);
    // Nothing that is visible differs while the next start comes nearer.
    expect(failed({ nextTryAt: 1_000_000, since: 5, calls: 3 })).toBe(false);
    expect(failed({ nextTryAt: 1_001_000 })).toBe(true);
    expect(await catalog.tools.load()).toEqual([files]);
    catalog.levels.set('/', []);
    catalog.relisted();
    expect(await catalog.tools.load()).toBe('all');
  });

  it('are not asked for on a level that nobody has opened', async () => {
    const catalog = new Catalog();
    catalog.tools.update({ link: catalog.state, policy: undefined });
    await catalog.tools.children();
    catalog.relisted();
    await catalog.tools.load();
    expect(catalog.asked).toEqual(['/', '/']);
  });
});
