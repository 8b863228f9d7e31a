import { describe, expect, it } from 'vitest';
import { MemoryReader } from '../../src/results/artifacts/artifactReader.ts';
import { readMasked } from '../../src/results/artifacts/readMasked.ts';
import { tablePage } from '../../src/results/select/tablePage.ts';

const readerOf = (text: string | Buffer, mediaType = 'text/plain') => {
  const bytes = Buffer.from(text);
  const info = { handle: 'h', owner: 'workspace', mediaType, label: '', size: bytes.length, lines: 1, sha256: '' };
  return new MemoryReader(info, bytes);
};

const SECRET = 'S3CRET'.repeat(4);
const mask = (text: string): string => text.replaceAll(SECRET, '***');

/** Reads everything in ranges of a length. */
async function inRanges(text: string | Buffer, length: number, mediaType?: string): Promise<Buffer[]> {
  const reader = readerOf(text, mediaType);
  const parts: Buffer[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { bytes, next }: Awaited<ReturnType<typeof readMasked>> = await readMasked(reader, offset, length, mask);
    parts.push(bytes);
    offset = next;
  }
  return parts;
}

describe('a range of a result', () => {
  it.each([7, 100, 100_000])('of %i bytes cuts no character, and together they are the whole', async (length) => {
    const text = 'a€ü😀 '.repeat(500);
    const parts = await inRanges(text, length);
    expect(Buffer.concat(parts).toString()).toBe(text);
    for (const part of parts) expect(part.toString()).not.toContain('\ufffd');
  });

  it.each([5, 13, 23, 24, 25, 31, 200])('of %i bytes shows no part of a secret, wherever it is cut', async (length) => {
    const text = `${'before '.repeat(9)}${SECRET}${' after'.repeat(9)}`;
    const all = (await inRanges(text, length)).map(String).join('');
    expect(all).not.toMatch(/S3C|RET/);
    expect(all.startsWith('before before')).toBe(true);
    expect(all.endsWith('after after')).toBe(true);
    expect(all.replace(/\*+/g, '')).toBe(text.replace(SECRET, ''));
  });

  it('of a picture has its bytes unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 7) % 256));
    expect(Buffer.concat(await inRanges(bytes, 100, 'image/png')).equals(bytes)).toBe(true);
  });

  it('beyond the end is empty', async () => {
    expect(await readMasked(readerOf('abc'), 99, 10, mask)).toEqual({ offset: 3, bytes: Buffer.alloc(0) });
  });
});

describe('a page of a table', () => {
  const CSV = `id,name,size\n${Array.from({ length: 300 }, (_, i) => `${i},"n, ${i % 7}",${(i * 37) % 300}`).join('\n')}`;

  it('has one hundred rows and the number of all', async () => {
    const { columns, rows, total } = await tablePage(readerOf(CSV), { start: 201 });
    expect([columns, rows.length, total, rows[0]]).toEqual([['id', 'name', 'size'], 100, 300, ['200', 'n, 4', '200']]);
  });

  it('sorts numbers as numbers, in both directions, and equal rows keep their order', async () => {
    const first = async (query: object) =>
      (await tablePage(readerOf(CSV), { ...query, end: 3 })).rows.map(([id]) => id);
    expect(await first({ sort: 'size' })).toEqual(['0', '73']);
    expect(await first({ sort: 'id', descending: true })).toEqual(['299', '298']);
    expect(await first({ sort: 'name' })).toEqual(['0', '7']);
  });

  it('filters by a text in any column and any case', async () => {
    expect(await tablePage(readerOf(CSV), { contains: 'N, 3', columns: ['id'], end: 2 })).toMatchObject({
      rows: [['3']],
      total: 43,
    });
  });

  it('reads JSON arrays of objects, and names a column that is missing', async () => {
    const json = readerOf(JSON.stringify([{ a: 1 }, { a: 2, b: { c: 3 } }]), 'application/json');
    expect(await tablePage(json, {})).toMatchObject({
      columns: ['a', 'b'],
      rows: [
        ['1', ''],
        ['2', '{"c":3}'],
      ],
    });
    await expect(tablePage(json, { sort: 'z' })).rejects.toThrow('There is no column "z"');
  });
});
