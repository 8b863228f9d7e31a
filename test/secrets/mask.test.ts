import { describe, expect, it } from 'vitest';
import { SECRET_MASK, scrubSecretChunks, scrubSecrets } from '../../src/secrets/mask.ts';
import { computedMs } from '../support/computedMs.ts';
import { ISSUERS, PLANTED } from './planted.ts';

describe('secrets', () => {
  it('masks fifty planted secrets of fifteen kinds', () => {
    expect(ISSUERS).toHaveLength(15);
    const scrubbed = scrubSecrets(PLANTED.map((one) => one.in).join('\n'));
    for (const { secret } of PLANTED) expect(scrubbed).not.toContain(secret);
    expect(scrubbed.split(SECRET_MASK)).toHaveLength(51);
  });

  it('leaves the text around secrets', () => {
    expect(scrubSecrets(PLANTED[0]?.in as string)).toBe(`found ${SECRET_MASK} here`);
    expect(scrubSecrets('mysql://root:p@ss@host/db?x=1')).toBe(`mysql://root:${SECRET_MASK}@host/db?x=1`);
    expect(scrubSecrets('API_KEY=abc123def&page=2')).toBe(`API_KEY=${SECRET_MASK}&page=2`);
    expect(scrubSecrets(`{"password":"hunter22","user":"bob"}`)).toBe(`{"password":"${SECRET_MASK}","user":"bob"}`);
  });

  it('leaves text that only resembles a secret', () => {
    for (const text of [
      'token=abc',
      'total_tokens: 1234567',
      'https://example.org:8080/a@b',
      'Bearer of bad news',
      'sk-short',
      'the secretary: Miss Lemon',
      'AKIA is a prefix',
    ]) {
      expect(scrubSecrets(text)).toBe(text);
    }
  });

  it('does not change a text that is already masked', () => {
    const once = scrubSecrets(PLANTED.map((one) => one.in).join('\n'));
    expect(scrubSecrets(once)).toBe(once);
  });

  it.each([1, 7, 1_000, 70_000])('finds the same secrets in a stream of chunks of %i characters', (size) => {
    const filler = 'an ordinary line of a log, nothing in it\n'.repeat(60);
    // Longer than the part that is held back: a stream without a cut proves nothing.
    const text = PLANTED.map((one) => one.in + filler).join('\n');
    expect(text.length).toBeGreaterThan(100_000);
    const part = size === 1 ? text.slice(0, 6_000) : text;
    const chunks = Array.from({ length: Math.ceil(part.length / size) }, (_, i) =>
      part.slice(i * size, (i + 1) * size),
    );
    expect([...scrubSecretChunks(chunks)].join('')).toBe(scrubSecrets(part));
  });

  it('finds a secret that two chunks of a long stream share', () => {
    const secret = 'password=hunter2hunter2';
    const before = 'plain words '.repeat(6_000);
    for (let cut = 1; cut < secret.length; cut++) {
      const chunks = [before + secret.slice(0, cut), `${secret.slice(cut)} plain words`];
      expect([...scrubSecretChunks(chunks)].join('')).toBe(`${before}password=${SECRET_MASK} plain words`);
    }
  });

  it('repeats nothing if a secret is just before, at or after a cut', () => {
    for (let shift = -60; shift < 60; shift++) {
      // The cut is 8,192 characters before the end of the first chunk.
      const chunk = `${'x '.repeat(34_000)}password=hunter2hunter2 ${'y'.repeat(8_192 - 12 + shift)}`;
      const chunks = [chunk, ' the end'];
      expect([...scrubSecretChunks(chunks)].join('')).toBe(scrubSecrets(chunks.join('')));
    }
  });

  it('passes a stream on as it arrives, and holds back at most the length of a key', () => {
    let pulled = 0;
    function* chunks(): Generator<string> {
      for (; pulled < 400; pulled++) yield `password=hunter2hunter2 ${'plain words '.repeat(80)}`;
    }
    let given = 0;
    for (const piece of scrubSecretChunks(chunks())) {
      given += piece.length;
      expect(piece.length).toBeLessThan(80_000);
      expect(pulled * 984 - given).toBeLessThan(80_000);
      expect(piece).not.toContain('hunter2');
    }
    expect(scrubSecretChunks([]).next()).toEqual({ done: true, value: undefined });
  });

  it.each([
    ...['api', 'private', 'secret', 'encryption', 'account', 'access'].flatMap((word) =>
      ['', '_', '-'].map((sign) => `${word}${sign}key`),
    ),
    ...['access_key_id', 'access-key-id', 'accessKeyId', 'aws_access_keyid'],
    ...['secret', 'token', 'password', 'passwd', 'passphrase', 'pwd', 'credential', 'credentials'],
  ])('masks a value assigned to %s', (name) => {
    expect(scrubSecrets(`${name} = "abc123def"`)).toBe(`${name} = "${SECRET_MASK}"`);
    expect(scrubSecrets(`{"${name}":"abc123def"}`)).toBe(`{"${name}":"${SECRET_MASK}"}`);
  });

  it('leaves the word Bearer and masks the whole token after it', () => {
    expect(scrubSecrets('Authorization: Bearer \t abcdef0123456789')).toBe(`Authorization: Bearer \t ${SECRET_MASK}`);
    expect(scrubSecrets('token: Bearer abcdef0123456789')).toBe(`token: Bearer ${SECRET_MASK}`);
  });

  it('masks a whole webhook address', () => {
    expect(scrubSecrets('https://hooks.slack.com/services/T00000000/B0000/abcdefgh now')).toBe(
      `https://${SECRET_MASK} now`,
    );
  });

  it('masks at most the length of the longest private key', () => {
    const [begin, end] = [`-----BEGIN ${'PRIVATE'} KEY-----`, `-----END ${'PRIVATE'} KEY-----`];
    const rest = (text: string) => scrubSecrets(text).replace(SECRET_MASK, '');
    expect(rest(`${begin}${'a'.repeat(100)}${end} seen`)).toBe(' seen');
    expect(rest(`${begin}${'a'.repeat(100)}`)).toBe('');
    const limit = 32 * 1024 - begin.length;
    expect(rest(`${begin}${'a'.repeat(limit)}seen ${end}`)).toBe(`seen ${end}`);
    expect(rest(`${begin}${'a'.repeat(limit)}seen`)).toBe('seen');
  });

  it('finds a secret at every cut of a line without a blank', () => {
    for (let shift = 0; shift < 40; shift++) {
      const text = `${'x'.repeat(70_000 + shift)},password=hunter2hunter2,${'y'.repeat(8_170)}${'z'.repeat(80_000)}`;
      const chunks = [text.slice(0, 78_210), text.slice(78_210)];
      expect([...scrubSecretChunks(chunks)].join('')).not.toContain('hunter2');
    }
  });

  it.each([
    ['a prefix over and over', 'eyJ'],
    ['parts of a token', 'eyJaaaaa.'],
    ['keys that never end', `-----BEGIN ${'PRIVATE'} KEY-----`],
    ['addresses', '://a:'],
    ['names', 'token'],
    ['blanks', 'bearer        '],
  ])('takes linear time for %s', (_, piece) => {
    const timeOf = (chars: number): number => {
      const text = piece.repeat(chars / piece.length);
      return computedMs(() => scrubSecrets(text));
    };
    timeOf(100_000);
    // Quadratic time would take minutes.
    expect(timeOf(2_000_000)).toBeLessThan(15_000);
  });
});
