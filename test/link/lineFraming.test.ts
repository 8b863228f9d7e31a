import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/link/lineFraming.ts';

interface Seen {
  lines: string[];
  oversized: { prefix: string; bytes: number }[];
  pending: number;
}

function split(chunks: readonly Buffer[], limit?: number): Seen {
  const seen: Seen = { lines: [], oversized: [], pending: 0 };
  const splitter = new LineSplitter(
    {
      onLine: (line) => void seen.lines.push(line.toString('utf8')),
      onOversize: (prefix, bytes) => void seen.oversized.push({ prefix: prefix.toString('latin1'), bytes }),
    },
    limit,
  );
  for (const chunk of chunks) splitter.push(chunk);
  seen.pending = splitter.pendingBytes;
  return seen;
}

/** Cuts the bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...[...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

describe('line framing', () => {
  it('does not depend on where the stream is cut', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', '{', '"', '\r', '\ufeff', 'é', '😀', ' ', '\n', '\n'),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (texts, places) => {
        const bytes = Buffer.from(texts.join('\n'));
        expect(split(cut(bytes, places), 30)).toEqual(split([bytes], 30));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  it('returns every line that was written', () => {
    const line = fc.string({ minLength: 1, maxLength: 50 }).filter((text) => !/[\r\n\ufeff]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat()), (texts, end, places) => {
        const seen = split(cut(Buffer.from(texts.map((text) => text + end).join('')), places));
        expect(seen.lines).toEqual(texts.map((text) => Buffer.from(text).toString()));
        expect(seen.pending).toBe(0);
      }),
      { seed: 2, numRuns: 1_000 },
    );
  });

  it('removes a byte order mark and the line end, and skips empty lines', () => {
    const text = '\ufeff{"a":1}\r\n\n\r\n  \n{"b":2}\nrest';
    const seen = split([Buffer.from(text)]);
    expect(seen.lines).toEqual(['{"a":1}', '  ', '{"b":2}']);
    expect(seen.pending).toBe(4);
  });

  it('drops only an oversized frame, and keeps its beginning', () => {
    const big = Buffer.alloc(5_000_000, 0x78);
    const chunks = [Buffer.from('before\n{"id":7,'), big, big, Buffer.from('}\nafter\n')];
    const seen = split(chunks, 1_000_000);
    expect(seen.lines).toEqual(['before', 'after']);
    expect(seen.oversized).toHaveLength(1);
    expect(seen.oversized[0]?.bytes).toBe(10_000_009);
    expect(seen.oversized[0]?.prefix).toMatch(/^\{"id":7,x+$/);
    expect(seen.oversized[0]?.prefix.length).toBeLessThanOrEqual(1024);
  });

  it('keeps the end of an oversized frame too, however it arrives', () => {
    const line = `{"result":"${'x'.repeat(5_000)}","id":7}`;
    for (const places of [[], [10], [4_990], [10, 4_990, 5_015], [5_012, 5_013, 5_014, 5_015, 5_016]]) {
      const ends: string[] = [];
      const splitter = new LineSplitter(
        { onLine: () => undefined, onOversize: (_prefix, _bytes, suffix) => void ends.push(suffix.toString()) },
        100,
      );
      for (const chunk of cut(Buffer.from(`${line}\n${line}\n`), places)) splitter.push(chunk);
      expect(ends).toEqual([line.slice(-1_024), line.slice(-1_024)]);
    }
  });

  it('accepts a frame of exactly the limit, and none longer', () => {
    expect(split([Buffer.from('12345\n123456\n')], 5)).toMatchObject({ lines: ['12345'], oversized: [{ bytes: 6 }] });
  });
});
