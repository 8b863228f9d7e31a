import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('the tokens of sign-ins', () => {
  it('are in files that only the owner can read', async () => {
    const root = temporaryFolder('wg-');
    const tokens = new FileTokens(root);
    expect(await tokens.get('a')).toBeUndefined();
    await tokens.set('a', 'secret');
    expect(await new FileTokens(root).get('a')).toBe('secret');
    expect(await tokens.get('b')).toBeUndefined();
    expect(statSync(join(root, 'tokens')).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'tokens', 'a.json')).mode & 0o777).toBe(0o600);
    await tokens.delete('a');
    await tokens.delete('a');
    expect(await tokens.get('a')).toBeUndefined();
  });

  it('are renewed by one process at a time, also after a failure', async () => {
    const root = temporaryFolder('wg-');
    const steps: string[] = [];
    const step = (name: string) => async (): Promise<void> => {
      steps.push(`${name} begins`);
      await new Promise((done) => setTimeout(done, 30));
      steps.push(`${name} ends`);
      if (name === 'a') throw new Error('no');
    };
    const all = ['a', 'b', 'c'].map((name) => new FileTokens(root).exclusively('key', step(name)));
    await Promise.allSettled(all);
    expect(steps).toHaveLength(6);
    for (let i = 0; i < 6; i += 2) expect(steps[i + 1]).toBe(steps[i]?.replace('begins', 'ends'));
    expect(readdirSync(join(root, 'tokens'))).toEqual([]);
  });

  it('do not wait for a process that died during a renewal', async () => {
    const root = temporaryFolder('wg-');
    const tokens = new FileTokens(root);
    await tokens.set('key', 'x');
    const lock = join(root, 'tokens', 'key.json.lock');
    writeFileSync(lock, '');
    const longAgo = Date.now() / 1000 - 120;
    utimesSync(lock, longAgo, longAgo);
    expect(await tokens.exclusively('key', async () => 'done')).toBe('done');
  });
});
