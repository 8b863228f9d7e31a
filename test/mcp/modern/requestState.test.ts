import { describe, expect, it } from 'vitest';
import { type RoundState, StateSeal } from '../../../src/mcp/modern/requestState.ts';

const STATE: RoundState = {
  nonce: 'n',
  call: 'session 7',
  principal: 'p',
  subject: 's',
  question: 'q',
  asks: { question: 'elicitation/create' },
  mayRepeat: true,
  expires: 5,
};

describe('a sealed state', () => {
  it('opens with its key, and shows nothing', () => {
    const seal = new StateSeal();
    const sealed = seal.seal(STATE);
    expect(seal.open(sealed)).toEqual(STATE);
    expect(sealed).toMatch(/^[\w-]+$/);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('session');
    expect(seal.seal(STATE)).not.toBe(sealed);
  });

  it('does not open with another key, after a change of any byte, or cut', () => {
    const seal = new StateSeal();
    const bytes = Buffer.from(seal.seal(STATE), 'base64url');
    expect(new StateSeal().open(bytes.toString('base64url'))).toBeUndefined();
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] as number) ^ 1;
      expect(seal.open(changed.toString('base64url')), `byte ${i}`).toBeUndefined();
    }
    for (const length of [0, 12, 28, bytes.length - 1]) {
      expect(seal.open(bytes.subarray(0, length).toString('base64url'))).toBeUndefined();
    }
    for (const text of ['', '!', 'x'.repeat(5_000)]) expect(seal.open(text)).toBeUndefined();
  });
});
