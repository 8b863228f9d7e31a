import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withCompileCache } from '../support/compileCache.ts';
import { fingerprintOfRoom } from './roomFingerprint.ts';

describe('equal bytes', () => {
  it('in any order of the servers', () => {
    expect(new Set([1, 2, 3, 4, 5].map(fingerprintOfRoom)).size).toBe(1);
  });

  it.each(['C', 'tr_TR.UTF-8', 'sv_SE.UTF-8', 'ja_JP.UTF-8'])(
    'in a process of the locale %s and another time zone',
    (locale) => {
      const child = fileURLToPath(new URL('./printFingerprint.ts', import.meta.url));
      const env = withCompileCache({
        ...process.env,
        ...{ LANG: locale, LC_ALL: locale, LANGUAGE: locale, TZ: 'Asia/Tokyo' },
      });
      const printed = execFileSync(process.execPath, [child], { env, encoding: 'utf8' });
      expect(printed.trim()).toBe(fingerprintOfRoom(9));
    },
  );
});
