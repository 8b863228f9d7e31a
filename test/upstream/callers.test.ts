import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Callers } from '../../src/upstream/connection/callers.ts';
import { type CallOrigin, NOBODY, OWN_BUSINESS } from '../../src/upstream/connection/callOrigin.ts';

const ofSession = (): CallOrigin & { session: object } => ({ session: {} });

describe('the callers of a server', () => {
  it('have one session while no other session has called', () => {
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

  it('have no single session once two have called, even if the first calls again', () => {
    const callers = new Callers();
    const [one, other] = [ofSession(), ofSession()];
    callers.enter(one);
    callers.enter(other);
    expect(callers.only).toBeUndefined();
    callers.leave(other);
    callers.enter(one);
    expect(callers.only).toBeUndefined();
  });

  it('count an origin without a session as its own session', () => {
    const callers = new Callers();
    callers.enter(NOBODY);
    expect(callers.only).toBe(NOBODY);
    callers.enter(ofSession());
    expect(callers.only).toBeUndefined();
  });

  it('start again with each start, except for waiting requests', () => {
    const callers = new Callers();
    const [gone, waiting] = [ofSession(), ofSession()];
    callers.enter(gone);
    callers.leave(gone);
    callers.enter(waiting);
    callers.started();
    expect(callers.only).toBe(waiting.session);
    expect(callers.origins).toEqual([waiting]);
  });

  it("do not include Waygate's own requests, which leave no trace", () => {
    const callers = new Callers();
    const origin = ofSession();
    callers.enter(origin);
    callers.enter(OWN_BUSINESS);
    callers.leave(OWN_BUSINESS);
    expect(callers.origins).toEqual([origin]);
  });

  it('are over at once without a request, and otherwise with the last one', async () => {
    const callers = new Callers();
    const over: string[] = [];
    const wait = (name: string): void => void callers.over().then(() => over.push(name));
    const turn = (): Promise<void> => new Promise((next) => setImmediate(next));
    wait('none');
    await turn();
    expect(over).toEqual(['none']);
    const [one, other] = [ofSession(), ofSession()];
    callers.enter(one);
    callers.enter(other);
    wait('first');
    wait('second');
    callers.leave(one);
    await turn();
    expect(over).toEqual(['none']);
    callers.leave(other);
    await turn();
    expect(over).toEqual(['none', 'first', 'second']);
  });

  it('keep no finished session in memory', async () => {
    const callers = new Callers();
    const left = Array.from({ length: 3 }, () => {
      const origin = ofSession();
      callers.enter(origin);
      callers.leave(origin);
      return new WeakRef(origin.session);
    });
    // The engine keeps the target of a new WeakRef until the end of the turn.
    await new Promise((done) => setImmediate(done));
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(left.map((session) => session.deref())).toEqual([undefined, undefined, undefined]);
    // Used after the collection, so that `callers` itself stays alive.
    expect(callers.origins).toEqual([]);
  });
});
