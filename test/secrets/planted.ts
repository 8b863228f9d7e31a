/** Invented secrets of the fifteen kinds. */

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Returns deterministic text in the issuer's alphabet and length. */
function made(length: number, seed: number, alphabet = LETTERS): string {
  let state = seed * 7919 + 17;
  let text = '';
  for (let i = 0; i < length; i++) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += alphabet[state % alphabet.length];
  }
  return text;
}

/** Assembled at run time, so that no scanner of this repository finds one. */
export const ISSUERS: readonly ((seed: number) => { secret: string; in: string })[] = [
  (n) => bare(`AK${'IA'}${made(16, n, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`),
  (n) => bare(`AI${'za'}${made(35, n)}`),
  (n) => bare(`gh${'p_'}${made(36, n)}`),
  (n) => bare(`github${'_pat_'}${made(22, n)}_${made(59, n)}`),
  (n) => bare(`xo${'xb'}-${made(12, n, '0123456789')}-${made(24, n)}`),
  (n) => bare(`hooks.slack${'.com'}/services/T${made(8, n)}/B${made(8, n)}/${made(24, n)}`),
  (n) => bare(`sk-${'ant'}-api03-${made(40, n)}`),
  (n) => bare(`sk-${'proj'}-${made(40, n)}`),
  (n) => bare(`sk_${'live'}_${made(24, n)}`),
  (n) => bare(`S${'G'}.${made(22, n)}.${made(43, n)}`),
  (n) => bare(`ey${'J'}${made(20, n)}.ey${'J'}${made(40, n)}.${made(43, n)}`),
  (n) => ({ secret: made(14, n), in: `postgres://admin:${made(14, n)}@db.internal:5432/app` }),
  (n) => ({ secret: made(24, n), in: `Authorization: Bearer ${made(24, n)}` }),
  (n) => ({ secret: made(18, n), in: `{"client_secret": "${made(18, n)}"}` }),
  (n) => ({
    secret: made(60, n),
    in: `-----BEGIN ${'RSA'} PRIVATE KEY-----\n${made(60, n)}\n${made(60, n + 1)}\n-----END ${'RSA'} PRIVATE KEY-----`,
  }),
];

function bare(secret: string): { secret: string; in: string } {
  return { secret, in: `found ${secret} here` };
}

export const PLANTED = Array.from({ length: 50 }, (_, i) => (ISSUERS[i % ISSUERS.length] as (typeof ISSUERS)[0])(i));
