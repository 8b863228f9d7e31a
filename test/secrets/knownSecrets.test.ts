import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/secrets/knownSecrets.ts';
import { knownSecrets, SECRET_MASK, scrubSecretChunks, scrubSecrets } from '../../src/secrets/mask.ts';
import { computedMs } from '../support/computedMs.ts';

/** Returns a text with each run of found places as one sign. */
function rest(known: KnownSecrets, text: string): string {
  const found = [...known.find(text)];
  const isFound = (at: number): boolean => found.some(({ start, end }) => start <= at && at < end);
  return [...text].map((sign, at) => (!isFound(at) ? sign : isFound(at - 1) ? '' : '*')).join('');
}

function knowing(...values: string[]): KnownSecrets {
  const known = new KnownSecrets(SECRET_MASK);
  known.learn('server one', values);
  return known;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a value that a server was given', () => {
  it('is found literally, anywhere in a text', () => {
    const known = knowing('Zq7-secret', 'a.*+?^$()[b]{2}|\\c');
    expect(rest(known, 'Zq7-secret and "Zq7-secret", xZq7-secrety')).toBe('* and "*", x*y');
    expect(rest(known, 'is a.*+?^$()[b]{2}|\\c, not aXbbc')).toBe('is *, not aXbbc');
    expect(rest(known, 'zq7-secret')).toBe('zq7-secret');
  });

  it.each([
    ['JSON', (value: string) => JSON.stringify(value).slice(1, -1)],
    [
      'JSON as Python writes it',
      (value: string) => JSON.stringify(value).slice(1, -1).replaceAll('ü', '\\u00fc').replaceAll('€', '\\u20ac'),
    ],
    ['a URL', encodeURIComponent],
    ['a form', (value: string) => new URLSearchParams({ '': value }).toString().slice(1)],
  ])('is found in the form of %s', (_, encode) => {
    for (const value of ['Zq7-plain-value', 'pass w€rt/ü+ "so"\\?&=~!', 'two\nlines of it']) {
      expect(rest(knowing(value), `<${encode(value)}>`)).toBe('<*>');
    }
  });

  const hex = (text: string): string => Buffer.from(text).toString('hex');
  it.each<[string, (value: string) => string]>([
    ['HTML', (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&#39;')],
    ['a URL in small letters', (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ['a URL with every sign escaped', (value) => hex(value).replace(/../g, '%$&')],
    ['JSON with every sign escaped', (value) => hex(value).replace(/../g, '\\u00$&')],
    ['a URL in a URL', (value) => encodeURIComponent(encodeURIComponent(value))],
    ['base64 in a URL', (value) => encodeURIComponent(base64(value))],
    ['digits of base64', (value) => hex(base64(value))],
    ['base64 of digits', (value) => base64(hex(value))],
    ['base64 of a URL', (value) => base64(encodeURIComponent(value))],
    ['base64 of base64', (value) => base64(base64(`user:${value}`))],
  ])('is found in the form of %s', (_, encode) => {
    for (const value of ["Zq7&plain'<value", 'pass/w+rd=77']) {
      // The last signs of base64 also depend on what follows.
      const left = rest(knowing(value), `<${encode(value)}>`);
      expect(left).toContain('*');
      expect(left.length).toBeLessThan(20);
    }
  });

  it('is not encoded twice if it is a long block', () => {
    const known = knowing('Zq7-'.repeat(200));
    expect(known.longest).toBeLessThanOrEqual(800 * 3);
  });

  it('is found in base64, whatever surrounds it', () => {
    for (const value of ['Zq7-value', 'Zq7?>value~', 'Zq7-valué-77']) {
      const known = knowing(value);
      for (const before of ['', 'u', 'us', 'usr:', 'user:']) {
        for (const after of ['', '!', '!!']) {
          const encoded = base64(before + value + after);
          const left = rest(known, encoded);
          expect(left.length).toBeLessThanOrEqual(base64(before).length + base64(after).length + 5);
          expect(left).toContain('*');
          const url = encoded.replaceAll('+', '-').replaceAll('/', '_');
          expect(rest(known, url)).toHaveLength(left.length);
        }
      }
    }
  });

  it('is not searched for if many texts contain it by chance', () => {
    const known = knowing('', 'a', 'true', '8080', 'admin', '1234567', ' on ', 'x\ny');
    const text = 'true: 8080 is on, admin has 12345678 a x y dHJ1ZQ== ODA4MA== YWRtaW4=';
    expect(rest(known, text)).toBe(text);
    expect(rest(knowing('hunter', '12345678'), 'hunter has 12345678')).toBe('* has *');
  });

  it('is masked whole if it overlaps or contains another value', () => {
    const known = knowing('abc123def', '123defghi', 'zq7-zq7-zq7', 'zq7-zq7-zq7-more');
    expect(rest(known, '<abc123defghi>')).toBe('<*>');
    expect(rest(known, '<zq7-zq7-zq7-zq7-more>')).toBe('<*>');
    expect(rest(known, '<zq7-zq7-zq7-zq7-zq7>')).toBe('<*>');
  });

  it('is found line by line if it has several lines', () => {
    const known = knowing('first-line\r\n  second-line\nend-line');
    expect(rest(known, 'said:\nsecond-line')).toBe('said:\n*');
    expect(rest(known, 'first-line | end-line')).toBe('* | *');
    expect(rest(known, '<first-line\r\n  second-line\nend-line>')).toBe('<*>');
  });

  it('is not searched for if the mask contains it', () => {
    const known = knowing('REDACTED', 'SECRET]', 'D-SECRET');
    expect(rest(known, SECRET_MASK)).toBe(SECRET_MASK);
  });

  it('stays known for some changes after it was replaced', () => {
    const known = knowing('value-number-0');
    const version = () => known.version;
    for (let n = 1; n < 8; n++) known.learn('server one', [`value-number-${n}`]);
    expect(rest(known, 'value-number-0 value-number-7')).toBe('* *');
    known.learn('server two', ['value-of-two']);
    known.learn('server one', ['value-number-8']);
    expect(rest(known, 'value-number-0 value-number-1 value-of-two')).toBe('value-number-0 * *');
    const before = version();
    for (let n = 0; n < 20; n++) known.learn('server two', ['value-of-two']);
    expect(version()).toBe(before);
    known.learn('server two', []);
    expect([version(), rest(known, 'value-of-two')]).toEqual([before + 1, '*']);
  });
});

describe('the mask of a process', () => {
  const value = 'Bn5-kept by the whole process';
  knownSecrets.learn('a test', [value]);

  it('masks a known value once, also if a form overlaps it', () => {
    expect(scrubSecrets(`no: ${value}.`)).toBe(`no: ${SECRET_MASK}.`);
    expect(scrubSecrets(scrubSecrets(`password=x${value}`))).toBe(`password=${SECRET_MASK}`);
  });

  it('finds a known value of any length in a stream, wherever the stream is cut', () => {
    const long = `Lg8 ${'a long one '.repeat(9_000)}`;
    knownSecrets.learn('a long test', [long]);
    for (const secret of [value, long]) {
      for (const shift of [0, 1, 5, 17, 28, 29]) {
        const text = `${'x '.repeat(70_000)}${secret}${'y '.repeat(110_000)}`;
        const at = 140_000 + shift;
        const chunks = [text.slice(0, at), text.slice(at, at + 70_000), text.slice(at + 70_000)];
        expect([...scrubSecretChunks(chunks)].join('')).toBe(text.replace(secret, SECRET_MASK));
      }
    }
    // Earlier values stay known for a few changes, and other test files of this process may follow.
    for (let n = 0; n < 10; n++) knownSecrets.learn('a long test', [`short value ${n} of the test`]);
  });

  it('needs no preparation per text for many known values', () => {
    const many = Array.from({ length: 100 }, (_, i) => `${i}-many-values-${i * 7_919}`);
    knownSecrets.learn('many', many);
    const line = 'github: failed: It ended before it answered (exit code 3). It said: Error: no way there. '.repeat(2);
    const ms = computedMs(() => {
      for (let n = 0; n < 2_000; n++) scrubSecrets(line);
    });
    // About 40 µs each. Computing the forms anew would take a millisecond.
    expect(ms / 2_000).toBeLessThan(0.4);
  });
});
