import { describe, expect, it } from 'vitest';
import { knownSecrets, SECRET_MASK, scrubPieces } from '../../src/secrets/mask.ts';
import { scrubValue } from '../../src/secrets/scrubValue.ts';

const KEPT = 'Zq7-of-no-shape-4411';
const DIGITS = 8_877_665_544;
const PEM = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBg', '-----END PRIVATE KEY-----'].join('\n');
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

describe('a value of JSON', () => {
  knownSecrets.learn('scrubValue', [KEPT, String(DIGITS)]);

  it.each([
    ['a text', `it is ${KEPT}`, `it is ${SECRET_MASK}`],
    ['a number', DIGITS, SECRET_MASK],
    ['what is in lists and objects', [{ deep: [`a ${TOKEN}`] }], [{ deep: [`a ${SECRET_MASK}`] }]],
    ['a text under a secret name', { password: 'hunter2-and-more' }, { password: SECRET_MASK }],
    ['a number under a secret name', { password: 12_345_678 }, { password: SECRET_MASK }],
    ['a name', { [KEPT]: 1 }, { [SECRET_MASK]: 1 }],
    ['a name and its value', { [KEPT]: KEPT }, { [SECRET_MASK]: SECRET_MASK }],
    ['an object under a secret name', { password: { value: KEPT } }, { password: { value: SECRET_MASK } }],
    ['two in one text', [`${KEPT} and ${TOKEN}${KEPT}`, KEPT], [`${SECRET_MASK} and ${SECRET_MASK}`, SECRET_MASK]],
    ['a private key in lines', PEM.split('\n'), PEM.split('\n').map(() => SECRET_MASK)],
  ])('has masked secrets: %s', (_what, value, masked) => {
    expect(scrubValue(value)).toEqual(masked);
  });

  it('is returned unchanged without a secret', () => {
    const value = { a: [1, 2.5, true, null, 'plain'], b: { c: {}, '': [] }, password: null, token: true };
    expect(scrubValue(value)).toEqual(value);
  });
});

describe('pieces of a text', () => {
  it('have a secret masked in each piece that contains a part of it, and nothing else', () => {
    const pieces = ['a ', KEPT.slice(0, 8), '', `${KEPT.slice(8)} b`, `c${KEPT}`, 'd'];
    expect(scrubPieces(pieces)).toEqual(['a ', SECRET_MASK, '', `${SECRET_MASK} b`, `c${SECRET_MASK}`, 'd']);
  });

  it('are returned unchanged without a secret', () => {
    const pieces = ['a', 'b'];
    expect(scrubPieces(pieces)).toBe(pieces);
  });
});
