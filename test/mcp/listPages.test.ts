import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ListTooSlow, listPages, type Page } from '../../src/mcp/wire/listPages.ts';

/** Makes a server that answers with pages by their number, and records the requested pages. */
function pages(make: (page: number) => Page) {
  const asked: (string | undefined)[] = [];
  const ask = async (cursor: string | undefined): Promise<Page> => {
    asked.push(cursor);
    return make(asked.length);
  };
  return { asked, list: () => listPages('tools', ask) };
}

const items = (count: number, size = 1): unknown[] => Array.from({ length: count }, () => 'x'.repeat(size));

describe('a list in pages', () => {
  it('is joined until there is no next page', async () => {
    const { asked, list } = pages((page) => ({ items: [page], nextCursor: page < 3 ? `c${page}` : undefined }));
    expect(await list()).toEqual({ items: [1, 2, 3] });
    expect(asked).toEqual([undefined, 'c1', 'c2']);
  });

  it.each<[string, (page: number) => Page, number, RegExp, number]>([
    ['pages', (page) => ({ items: items(1), nextCursor: `c${page}` }), 64, /more than 64 pages/, 64],
    ['the same cursor', () => ({ items: items(1), nextCursor: 'again' }), 2, /same page again/, 2],
    ['items', (page) => ({ items: items(3_000), nextCursor: `c${page}` }), 10_000, /more than 10000 tools/, 4],
    ['items on one page', () => ({ items: items(200_000), nextCursor: undefined }), 10_000, /more than 10000/, 1],
    ['bytes', (page) => ({ items: items(4, 1_000_000), nextCursor: `c${page}` }), 8, /more than 8 MiB/, 3],
  ])('without an end of %s is kept up to the limit', async (_what, make, count, cut, asks) => {
    const { asked, list } = pages(make);
    const listed = await list();
    expect(listed.items).toHaveLength(count);
    expect(listed.cut).toMatch(cut);
    expect(asked).toHaveLength(asks);
  });

  it('of exactly the limit is not cut', async () => {
    expect(await pages(() => ({ items: items(10_000), nextCursor: null })).list()).not.toHaveProperty('cut');
    const { list } = pages((page) => ({ items: [page], nextCursor: page < 64 ? `c${page}` : undefined }));
    expect(await list()).not.toHaveProperty('cut');
  });

  it('is partial after its time limit, as after a failed page', async () => {
    let pageNumber = 0;
    const slow = async (_cursor: string | undefined, timeoutMs: number): Promise<Page> => {
      await sleep(Math.min(60, timeoutMs));
      if (timeoutMs < 60) throw new Error('timed out');
      pageNumber += 1;
      return { items: [pageNumber], nextCursor: `c${pageNumber}` };
    };
    const listed = await listPages('tools', slow, 200);
    expect(listed).toEqual({ items: items(pageNumber).map((_, i) => i + 1), failure: new ListTooSlow(200) });
    expect((listed.failure as Error).message).toBe('Its pages take more than 0.2 s.');
    expect(pageNumber).toBeGreaterThan(0);
  });

  it('is partial with the pages before a failed one', async () => {
    const broken = new Error('broken');
    const failing = (at: number) =>
      pages((page) => {
        if (page === at) throw broken;
        return { items: [page], nextCursor: `c${page}` };
      });
    expect(await failing(3).list()).toEqual({ items: [1, 2], failure: broken });
    await expect(failing(1).list()).rejects.toThrow('broken');
  });
});

describe('an item with a huge member', () => {
  it('keeps its other members, and a change of the left-out one shows', async () => {
    const tool = (last: string) => ({
      name: 'wide',
      annotations: { title: 'W' },
      inputSchema: { a: 'x'.repeat(300_000), last },
    });
    const listed = async (last: string) =>
      (await listPages('tools', async () => ({ items: [tool(last)], nextCursor: undefined }))).items[0] as object;
    const [first, again, changed] = [await listed('1'), await listed('1'), await listed('2')];
    expect(first).toMatchObject({ name: 'wide', annotations: { title: 'W' }, inputSchema: { type: 'object' } });
    expect(JSON.stringify(first).length).toBeLessThan(300);
    expect(again).toEqual(first);
    expect(changed).not.toEqual(first);
  });

  it('is written as JSON once', async () => {
    let writes = 0;
    const inputSchema = {
      toJSON() {
        writes += 1;
        return { type: 'object', description: 'x'.repeat(300_000) };
      },
    };
    await listPages('tools', async () => ({ items: [{ name: 'wide', inputSchema }], nextCursor: undefined }));
    expect(writes).toBe(1);
  });
});
