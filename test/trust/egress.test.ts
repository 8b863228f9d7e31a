import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/secrets/knownSecrets.ts';
import { MaskedValues } from '../../src/secrets/maskedValues.ts';
import { sentSecrets } from '../../src/trust/egress.ts';

const SECRET = 'Zq7-secret of/A?4411';
const known = new KnownSecrets('[REDACTED]');
known.learn('A', [SECRET, 'short-7', 'postgres', '-----BEGIN KEY-----\nQk9keTEyMzQ1\n-----END KEY-----']);
known.learn('B', ['given-to-both-1']);
known.learn('C', ['given-to-both-1']);
const masked = new MaskedValues();
const found = (args: unknown, server = 'B') =>
  sentSecrets(args, { server, isOwner: (owner) => owner === server }, { known, masked })[0];

const base64 = (text: string) => Buffer.from(text).toString('base64');
const escapedAll = [...SECRET].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const percentAll = [...SECRET].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

describe('a secret of another server in arguments', () => {
  it.each([
    ['plain', `x ${SECRET} y`],
    ['in base64', base64(SECRET)],
    ['in base64 behind one byte', base64(`u${SECRET}`)],
    ['in base64 behind two bytes', base64(`u:${SECRET}!`)],
    ['in base64 for URLs', Buffer.from(`\u00ff\u00ff${SECRET}`).toString('base64url')],
    ['in base64 with line breaks', base64(`${'x'.repeat(50)}${SECRET}`).replace(/(.{20})/g, '$1\r\n')],
    ['encoded for a URL', encodeURIComponent(SECRET)],
    ['encoded for a URL in full', percentAll],
    ['encoded for a URL twice', encodeURIComponent(percentAll)],
    ['encoded for a form', new URLSearchParams({ '': SECRET }).toString().slice(1)],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in JSON within the text', JSON.stringify({ a: SECRET })],
    ['with escapes of JSON in it', `{"a":"Zq7-s\\u0065cret of\\/A?4411"}`],
    ['in escapes of JSON alone', escapedAll],
    ['in JSON within JSON within JSON', JSON.stringify(JSON.stringify({ a: escapedAll }))],
    ['in references of HTML', [...SECRET].map((one) => `&#${one.charCodeAt(0)};`).join('')],
    ['with backslashes in it', SECRET.replace('secret', 's\\ecret')],
    ['with line breaks in it', 'Zq7-sec\nret of/A?44\n11'],
    ['with hidden characters in it', 'Zq7-sec\u200bret of/A?4411'],
  ])('is found %s', (_form, text) => {
    expect(found({ list: [{ 'a/b~c': text }] })).toEqual({ kind: 'given', pointer: '/list/0/a~1b~0c', owners: ['A'] });
  });

  it('is found split over texts, as a name, and as the whole arguments', () => {
    expect(found({ parts: ['Zq7-secret', ' of/A?4411'] })).toEqual({
      kind: 'given',
      pointer: '/parts/0',
      owners: ['A'],
    });
    expect(found({ [SECRET]: 1 })).toMatchObject({ owners: ['A'] });
    expect(found(SECRET)).toEqual({ kind: 'given', pointer: '', owners: ['A'] });
  });

  it('is found in any surroundings, and a character beyond ASCII elsewhere changes nothing', () => {
    const secret = fc.constantFrom(SECRET, base64(SECRET), percentAll, escapedAll);
    const split = fc.constantFrom('', ' ', '\t', '\n', '\\', '\v\f\r', ' \u200b');
    const around = fc.string({ maxLength: 60 });
    fc.assert(
      fc.property(around, secret, split, fc.nat({ max: 12 }), around, (before, planted, gap, at, after) => {
        const all = [before, `\0${planted.slice(0, at)}${gap}${planted.slice(at)}\0`, after];
        const isEscape = planted === percentAll || planted === escapedAll;
        if (!isEscape || gap === '') expect(found(all)).toEqual({ kind: 'given', pointer: '/1', owners: ['A'] });
        expect(found([...all, 'é'])).toEqual(found(all));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is none if the server itself was given it too', () => {
    expect(found({ a: SECRET }, 'A')).toBeUndefined();
    expect(found({ a: 'given-to-both-1' }, 'C')).toBeUndefined();
    expect(found({ a: 'given-to-both-1' }, 'A')).toMatchObject({ pointer: '/a' });
    known.learn('D', [`${SECRET} and more`]);
    expect(found({ a: `${SECRET} and more` }, 'D')).toBeUndefined();
    expect(found({ a: `${SECRET} and less` }, 'D')).toMatchObject({ owners: ['A'] });
  });

  it('is not seen in ordinary arguments', () => {
    const ordinary = [
      { query: 'SELECT * FROM postgres.public.users WHERE id = 7', limit: 100, dry: false, none: null },
      { path: '/home/ada/notes.md', content: 'short-7 is short; -----BEGIN KEY----- is a header' },
      { url: 'https://example.test/a%20b?c=d&e=%C3%A9', body: '{"a":"\\u00e9\\n"}' },
      { picture: base64('x'.repeat(10_000)), when: '2026-11-19T13:00:00Z' },
    ];
    expect(ordinary.map((args) => found(args))).toEqual(ordinary.map(() => undefined));
  });
});
