import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findShapes } from '../../src/secrets/findShapes.ts';
import { KnownSecrets } from '../../src/secrets/knownSecrets.ts';
import { MaskedValues } from '../../src/secrets/maskedValues.ts';
import { SECRET_SHAPES } from '../../src/secrets/shapes.ts';
import { sentSecrets } from '../../src/trust/egress.ts';

const known = new KnownSecrets('[REDACTED]');
known.learn('A', ['Zq7-secret-of-A-4411', 'postgres', 'production']);
const masked = new MaskedValues();
masked.note('Tr0ub4dor-Xk29', 'A');
const found = (sent: unknown, server = 'B') =>
  sentSecrets(sent, { server, isOwner: (owner) => owner === server }, { known, masked });

/** Ordinary calls: names and arguments of real tools with invented values. A bar breaks what scanners look for. */
const ORDINARY = (
  JSON.parse(readFileSync(new URL('ordinaryCalls.json', import.meta.url), 'utf8').replaceAll('¦', '')) as {
    tool: string;
    args: object;
  }[]
).map(({ tool, args }) => ({ tool, args, text: JSON.stringify(args) }));

describe('ordinary calls', () => {
  it('are many, and a third of them has what masking takes for a secret', () => {
    expect(ORDINARY.length).toBeGreaterThanOrEqual(200);
    expect(ORDINARY.filter(({ text }) => !findShapes(text).next().done).length).toBeGreaterThan(50);
  });

  it('are sent without a refusal and without a question', () => {
    expect(ORDINARY.flatMap(({ tool, args }) => found(args).map((secret) => ({ tool, ...secret })))).toEqual([]);
  });
});

/** Keys that an issuer publishes, and test keys. */
const HARMLESS = /^(?:pk[_-]|shippo_test_)|@o1\.ingest\./;
const LIVE = SECRET_SHAPES.flatMap((shape): string[] =>
  'prefixes' in shape ? shape.prefixes.map((prefix) => prefix + shape.example) : [shape.example.replace(/[«»]/g, '')],
).filter((secret) => !HARMLESS.test(secret));

describe('secrets by their form', () => {
  it.each(LIVE)('are found: %s', (secret) => {
    expect(LIVE.length).toBeGreaterThan(60);
    const [first] = found({ note: ['see', `use ${secret} here`] });
    expect(first).toEqual({ kind: 'form', pointer: '/note/1', owners: [] });
    const encoded = Buffer.from(`use ${secret} here`);
    expect(found({ text: encoded.toString('base64') })).toHaveLength(1);
    expect(found({ text: encoded.toString('base64url') })).toHaveLength(1);
    expect(found({ text: encoded.toString('hex') })).toHaveLength(1);
    expect(found({ text: [...encoded].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('') })).toHaveLength(
      1,
    );
  });

  const token = `gh${'p_'}${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'}`;

  it('are found with hidden characters in them, as names, and in JSON within JSON', () => {
    expect(found({ text: `${token.slice(0, 9)}\u200b${token.slice(9)}` })).toHaveLength(1);
    expect(found({ [token]: 1 })).toHaveLength(1);
    expect(found({ text: JSON.stringify({ a: JSON.stringify({ b: `\\u0067${token.slice(1)}` }) }) })).toHaveLength(1);
  });

  it('may return to the server that was given them or sent them', () => {
    const own = new KnownSecrets('[REDACTED]');
    own.learn('B', [token]);
    const isOwner = (owner: string) => owner === 'B';
    expect(sentSecrets({ token }, { server: 'B', isOwner }, { known: own, masked: new MaskedValues() })).toEqual([]);
    const sentByB = new MaskedValues();
    sentByB.note(token, 'B');
    expect(sentSecrets({ token }, { server: 'B', isOwner }, { known, masked: sentByB })).toEqual([]);
    expect(sentSecrets({ token }, { server: 'C', isOwner: () => false }, { known, masked: sentByB })).toMatchObject([
      { kind: 'masked', owners: ['B'] },
      { kind: 'form' },
    ]);
  });

  it.each([
    ['an example of a document', `AK${'IA'}IOSFODNN7EXAMPLE`],
    ['a placeholder', `gh${'p_'}${'x'.repeat(36)}`],
    ['a password of this machine', 'postgres://me:Zq8xL4tn8vb3@localhost:5432/app'],
    ['an excerpt of a key', `-----BEGIN ${'RSA'} PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----`],
  ])('are none: %s', (_, text) => {
    expect(found({ text })).toEqual([]);
  });

  it('hide no value of another server', () => {
    const sent = { note: token, data: encodeURIComponent(Buffer.from('Zq7-secret-of-A-4411').toString('base64')) };
    expect(found(sent).map(({ kind }) => kind)).toEqual(['given', 'form']);
    const escaped = [...'Zq7-secret-of-A-4411'].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    expect(found({ note: token, data: escaped }).map(({ kind }) => kind)).toEqual(['given', 'form']);
  });
});

describe('a value that was masked in a text of a server', () => {
  const value = 'Tr0ub4dor-Xk29';

  it.each([
    ['plain', `x ${value} y`],
    ['in base64', Buffer.from(`u:${value}`).toString('base64')],
    ['in hex', Buffer.from(value).toString('hex')],
    ['escaped', [...value].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
    ['with line breaks', 'Tr0ub4\ndor-Xk29'],
  ])('is found %s', (_, text) => {
    expect(found({ list: [text] })).toEqual([{ kind: 'masked', pointer: '/list/0', owners: ['A'] }]);
    expect(found({ list: [text] }, 'A')).toEqual([]);
  });

  it('is found split over texts', () => {
    expect(found({ parts: ['Tr0ub4', 'dor-Xk29'] })).toHaveLength(1);
  });

  it('is kept as a hash alone, and for a bounded number of later values', () => {
    const values = new MaskedValues();
    const made = (nth: number) => `Zq${nth}-masked-value-${nth}`;
    for (let nth = 0; nth < 1_000; nth += 1) values.note(made(nth), 'A');
    const isFound = (nth: number) => !values.find(made(nth)).next().done;
    expect([isFound(999), isFound(900), isFound(10)]).toEqual([true, true, false]);
    expect(JSON.stringify(Object.values(values))).not.toContain('masked-value');
  });

  it('is not remembered if it is a word or a short number', () => {
    const values = new MaskedValues();
    for (const word of ['password', 'production', '20261119', 'in-progress', 'short-7']) values.note(word, 'A');
    expect([...values.find('password production 20261119 in-progress short-7')]).toEqual([]);
  });
});
