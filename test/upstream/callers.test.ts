import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Callers } from '../../src/upstream/connection/callers.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from '../../src/upstream/connection/callOrigin.ts';

const ofSession = (): CallOrigin & { session: object } => ({ session: {} });

describe('who has asked a server since its start', () => {
  it('is one session as long as no other has asked, however often it has', () => {
    const callers = new Callers();
    expect(callers.only).toBeUndefined();
    const origin = ofSession();
    for (const call of [origin, { ...origin }]) {
      callers.enter(call);
      callers.leave(call);
    }
    callers.enter(OWN_BUSINESS);
    expect(callers.only).toBe(origin.session);
  });

  it('is nobody in particular where two have, and where the first of them asks again', () => {
    const callers = new Callers();
    const [one, other] = [ofSession(), ofSession()];
    callers.enter(one);
    callers.enter(other);
    expect(callers.only).toBeUndefined();
    callers.leave(other);
    callers.enter(one);
    expect(callers.only).toBeUndefined();
  });

  it('counts an origin without a session as one of its own', () => {
    const callers = new Callers();
    callers.enter(NOBODY);
    expect(callers.only).toBe(NOBODY);
    callers.enter(ofSession());
    expect(callers.only).toBeUndefined();
  });

  it('begins anew with a start, with those who wait for it', () => {
    const callers = new Callers();
    const [gone, waiting] = [ofSession(), ofSession()];
    callers.enter(gone);
    callers.leave(gone);
    callers.enter(waiting);
    callers.started();
    expect(callers.only).toBe(waiting.session);
    expect(callers.origins).toEqual([waiting]);
  });

  it('keeps no session that has come and gone: a gateway over HTTP has thousands of them', async () => {
    const callers = new Callers();
    const left = Array.from({ length: 3 }, () => {
      const origin = ofSession();
      callers.enter(origin);
      callers.leave(origin);
      return new WeakRef(origin.session);
    });
    // What a WeakRef was made for is kept until the end of the turn.
    await new Promise((done) => setImmediate(done));
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(left.map((session) => session.deref())).toEqual([undefined, undefined, undefined]);
    // Told of beyond the collection: it is not gone itself.
    expect(callers.origins).toEqual([]);
  });
});
