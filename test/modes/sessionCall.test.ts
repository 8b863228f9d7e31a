import { describe, expect, it } from 'vitest';
import { SessionCall } from '../../src/modes/shared/sessionCall.ts';

describe('the end of a running request', () => {
  it('aborts a signal that a question took before, and one that is asked for afterwards', () => {
    const asked = new SessionCall(undefined);
    const before = asked.over;
    expect(before.aborted).toBe(false);
    asked.end();
    expect(before.aborted).toBe(true);
    expect(asked.over).toBe(before);

    const unasked = new SessionCall(undefined);
    unasked.end();
    expect(unasked.over.aborted).toBe(true);
  });
});
