import { describe, expect, it } from 'vitest';
import { StderrTail } from '../../src/upstream/process/stderrTail.ts';

const tail = (...chunks: (string | Buffer)[]): StderrTail => {
  const it = new StderrTail((text) => text);
  for (const chunk of chunks) it.push(Buffer.from(chunk));
  return it;
};

describe('the last lines of stderr', () => {
  it('are assembled from pieces of any size', () => {
    const euro = Buffer.from('10 €\n');
    expect(tail('a', 'b\r\nc\n\nd', euro.subarray(0, 4), euro.subarray(4)).lines).toEqual(['ab', 'c', '', 'd10 €']);
  });

  it('are limited in number and length, including a line without end', () => {
    const many = tail(Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`).join(''));
    expect(many.lines).toHaveLength(40);
    expect(many.lines.at(-1)).toBe('line 9999');
    const long = tail('x'.repeat(1_000_000), 'y'.repeat(1_000_000));
    expect(long.lines).toEqual(['y'.repeat(1_000)]);
    expect(tail(`${'z'.repeat(5_000)}\n`).lines[0]).toHaveLength(1_000);
  });

  it('take no more memory than the ring, and count dropped bytes', () => {
    const ring = new StderrTail((text) => text);
    for (let i = 0; i < 5_000; i++) ring.push(Buffer.from(`${'€'.repeat(33)}\n`));
    expect(ring.dropped).toBeGreaterThan(5_000 * 100 - 2 * 64 * 1024);
    // No line is cut, and no character.
    expect(new Set(ring.lines)).toEqual(new Set(['€'.repeat(33)]));
    const one = tail(`lost\n${'a'.repeat(64 * 1024)}\nlast\n`);
    expect(one.lines).toEqual(['last']);
    expect(one.dropped).toBe(11);
  });

  it('keep their limit and order if they arrive byte by byte', () => {
    const bytewise = new StderrTail((text) => text);
    for (let i = 0; i < 30_000; i++) for (const byte of Buffer.from(`${i}\n`)) bytewise.push(Buffer.from([byte]));
    expect(bytewise.lines).toEqual(Array.from({ length: 40 }, (_, i) => String(29_960 + i)));
    const written = Array.from({ length: 30_000 }, (_, i) => `${i}\n`).join('').length;
    expect(bytewise.dropped).toBeGreaterThanOrEqual(written - 2 * 64 * 1024);
    expect(bytewise.dropped).toBeLessThan(written);
  });

  it('contain no secret, even one that spans lines or crosses a cut', () => {
    const secret = `top\n${'secret-'.repeat(20)}`;
    const scrubbed = (text: string) => {
      const ring = new StderrTail((said) => said.replaceAll(secret, '*'));
      ring.push(Buffer.from(text));
      return ring;
    };
    expect(scrubbed(`one ${secret} two\nthree ${secret}`).lines).toEqual(['one * two', 'three *']);
    expect(scrubbed(`Error: ${secret}\nbye\n`).lastMeaningful()).toBe('Error: *');
    expect(scrubbed(`top\n${'x'.repeat(950)} ${secret}\n`).lines[1]).toBe(`${'x'.repeat(950)} *`);
    const [last] = scrubbed(`${secret}${'y'.repeat(950)}`).lines;
    expect(last).toBe(`*${'y'.repeat(950)}`);
  });

  it.each([
    [['starting', 'Error: no key', '    at main.js:1', 'Node.js v24', 'bye'], 'Error: no key'],
    [['first', 'second', '---'], 'second'],
    [['', ' '], undefined],
  ])('of %j give the reason %j', (lines, reason) => {
    expect(tail(lines.join('\n')).lastMeaningful()).toBe(reason);
  });
});
