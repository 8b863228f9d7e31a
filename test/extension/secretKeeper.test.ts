import { describe, expect, it } from 'vitest';
import { secretKeeper } from '../../src/extension/secretKeeper.ts';

describe("the editor's secret storage", () => {
  const values = new Map<string, string>();
  const storage = {
    get: async (key: string) => values.get(key),
    store: async (key: string, value: string) => void values.set(key, value),
    delete: async (key: string) => void values.delete(key),
  };
  const keep = secretKeeper(storage as unknown as Parameters<typeof secretKeeper>[0]);

  it('keeps what sign-ins brought, and is not read for anything else', async () => {
    const key = `oauth-${'0a'.repeat(16)}`;
    expect(await keep({ op: 'get', key })).toEqual({});
    expect(await keep({ op: 'set', key, value: 'v' })).toEqual({});
    expect(await keep({ op: 'get', key })).toEqual({ value: 'v' });
    expect(await keep({ op: 'delete', key })).toEqual({});
    expect(await keep({ op: 'get', key })).toEqual({});
    values.set('other', 'secret');
    expect(await keep({ op: 'get', key: 'other' })).toBe('unavailable');
    expect(await keep({ op: 'set', key: 'other', value: 'x' })).toBe('unavailable');
    expect(values.get('other')).toBe('secret');
  });
});
