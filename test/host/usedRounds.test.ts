import { chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { roundKey, UsedRounds } from '../../src/host/session/usedRounds.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('the key for states of rounds', () => {
  it('is made once, for its owner alone', () => {
    const folder = temporaryFolder('waygate-key-');
    const key = roundKey(folder);
    expect(key).toHaveLength(32);
    expect(roundKey(folder)).toEqual(key);
    expect(roundKey(temporaryFolder('waygate-key-'))).not.toEqual(key);
    expect(statSync(join(folder, 'round-key')).mode & 0o777).toBe(0o600);
  });

  it('is not used if it is damaged or open to others', () => {
    const damaged = temporaryFolder('waygate-key-');
    writeFileSync(join(damaged, 'round-key'), 'short', { mode: 0o600 });
    expect(() => roundKey(damaged)).toThrow('does not hold a key');
    const open = temporaryFolder('waygate-key-');
    roundKey(open);
    if (process.platform === 'win32') return;
    chmodSync(join(open, 'round-key'), 0o644);
    expect(() => roundKey(open)).toThrow();
  });
});

describe('an answered round', () => {
  it('counts once, in every host', () => {
    const folder = temporaryFolder('waygate-rounds-');
    const [one, other] = [new UsedRounds(folder), new UsedRounds(folder)];
    expect([one.use('a'), other.use('a'), one.use('a'), other.use('b')]).toEqual([true, false, false, true]);
  });

  it('is forgotten long after its state has expired', () => {
    const folder = temporaryFolder('waygate-rounds-');
    const rounds = new UsedRounds(folder);
    rounds.use('old');
    rounds.use('young');
    const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
    utimesSync(join(folder, 'rounds-used', 'old'), ago(31), ago(31));
    utimesSync(join(folder, 'rounds-used', 'young'), ago(11), ago(11));
    rounds.forgetOld();
    expect(readdirSync(join(folder, 'rounds-used'))).toEqual(['young']);
  });

  it('that cannot be recorded is an error, and no consent', () => {
    const folder = temporaryFolder('waygate-rounds-');
    const rounds = new UsedRounds(folder);
    expect(() => rounds.use('no/such/folder')).toThrow('ENOENT');
  });
});
