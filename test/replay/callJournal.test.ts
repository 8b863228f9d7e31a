import { beforeEach, describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import { CallJournal } from '../../src/replay/callJournal.ts';
import type { JournalCall, JournalLimits, Terminal } from '../../src/replay/journalCall.ts';

const LIMITS: JournalLimits = {
  maxCalls: 8,
  maxBytes: 100,
  maxWaiting: 4,
  maxReplays: 1,
  maxProbes: 2,
  retryAfter: 3,
};
const fault = (code: KnownFaultCode = 'killed', generation = 1) => faultOf(code, { generation }, (text) => text);

let sent: string[];
/** Number of replays before each dispatch. */
let replays: number[];
let probed: string[];
let ended: Map<string, Terminal<string>>;
/** Runs in the middle of an effect. */
let onDispatch: (call: JournalCall<string>, generation: number) => boolean;
let onSettle: (call: JournalCall<string>) => void;
let journal: CallJournal<string, string>;

function newJournal(limits: Partial<JournalLimits> = {}, canProbe = true): CallJournal<string, string> {
  return new CallJournal<string, string>(
    {
      dispatch: (call, generation, earlier) => {
        sent.push(`${call.payload}@${generation}`);
        replays.push(earlier);
        return onDispatch(call, generation);
      },
      ...(canProbe
        ? { probe: (call: JournalCall<string>, generation: number) => void probed.push(`${call.id}@${generation}`) }
        : {}),
      settle: (call, terminal) => {
        if (ended.has(call.id)) throw new Error(`${call.id} has ended twice`);
        ended.set(call.id, terminal);
        onSettle(call);
      },
    },
    { ...LIMITS, ...limits },
  );
}

beforeEach(() => {
  sent = [];
  replays = [];
  probed = [];
  ended = new Map();
  onDispatch = () => true;
  onSettle = () => undefined;
  journal = newJournal();
});

const call = (id: string, contract: JournalCall<string>['contract'] = 'never_replay', more = {}) => ({
  id,
  contract,
  payload: id,
  bytes: 1,
  canProbe: contract === 'probe_required',
  ...more,
});
const end = (id: string) => ended.get(id);

describe('a call', () => {
  it('waits for a generation, is sent once and gets its reply', () => {
    expect(journal.admit(call('a'))).toEqual({ admitted: true });
    expect([sent, journal.knowledgeOf('a')]).toEqual([[], 'not_dispatched']);
    journal.open(1);
    expect([sent, journal.knowledgeOf('a')]).toEqual([['a@1'], 'in_flight']);
    journal.open(1);
    expect(journal.reply(1, 'a', 'yes')).toBe('delivered');
    expect(end('a')).toEqual({ kind: 'reply', reply: 'yes', generation: 1, dispatches: 1 });
    expect([sent, journal.size, journal.bytes, journal.knowledgeOf('a')]).toEqual([['a@1'], 0, 0, undefined]);
  });

  it('is sent at once if there is a generation, in the order of admission', () => {
    for (const id of ['b', 'a', 'c']) journal.admit(call(id));
    journal.open(1);
    journal.admit(call('d'));
    expect(sent).toEqual(['b@1', 'a@1', 'c@1', 'd@1']);
  });

  it('that was never sent goes to the next generation without counting as a replay, whatever its contract', () => {
    journal = newJournal({ maxReplays: 0 });
    onDispatch = (_, generation) => generation !== 1;
    journal.open(1);
    journal.admit(call('a'));
    journal.lose(1, fault());
    journal.open(2);
    expect([sent, journal.knowledgeOf('a')]).toEqual([['a@1', 'a@2'], 'in_flight']);
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 0 });
  });

  it('rejected by a broken generation stops other calls to it', () => {
    onDispatch = () => false;
    journal.open(1);
    journal.admit(call('a'));
    journal.admit(call('b'));
    expect(sent).toEqual(['a@1']);
  });

  it('handed back is not offered to the same generation again', () => {
    journal.open(1);
    journal.admit(call('a'));
    expect(journal.handBack(1, 'a')).toBe(true);
    expect([sent, journal.knowledgeOf('a')]).toEqual([['a@1'], 'not_dispatched']);
    journal.open(1);
    expect(sent).toEqual(['a@1']);
    journal.open(2);
    expect(sent).toEqual(['a@1', 'a@2']);
    expect([journal.handBack(1, 'a'), journal.handBack(2, 'nobody')]).toEqual([false, false]);
  });

  it('handed back goes to a newer generation at once', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.open(2);
    expect(journal.handBack(1, 'a')).toBe(true);
    expect(sent).toEqual(['a@1', 'a@2']);
  });
});

describe('the loss of a generation', () => {
  it('resends a read up to its limit', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.lose(1, fault());
    expect(journal.knowledgeOf('a')).toBe('outcome_unknown');
    journal.open(2);
    expect(sent).toEqual(['a@1', 'a@2']);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toEqual({
      kind: 'fault',
      fault: expect.objectContaining({ class: 'replay', code: 'replay_exhausted', detail: 'exited', generation: 2 }),
      knowledge: 'outcome_unknown',
      contract: 'convergent',
      dispatches: 2,
    });
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 1, faulted: 1 });
  });

  it('resends a read to no third generation after two have died, whatever its limit', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 2 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 9 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted', detail: 'exited' }, dispatches: 2 });
    journal.open(3);
    expect([sent, replays]).toEqual([
      ['a@1', 'a@2'],
      [0, 1],
    ]);
  });

  it('counts only generations that died with the call: no closed stream, no probe, no handed back call', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 2 });
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.loseCall(1, 'a', fault('connection_lost'));
    expect(probed).toEqual(['a@1']);
    journal.lose(1, fault());
    journal.open(2);
    journal.resolveProbe(2, 'a', 'safe_to_replay');
    journal.handBack(2, 'a');
    journal.lose(2, fault());
    journal.open(3);
    journal.lose(3, fault());
    journal.open(4);
    journal.resolveProbe(4, 'a', 'safe_to_replay');
    expect([sent, ended.size]).toEqual([['a@1', 'a@2', 'a@3', 'a@4'], 0]);
    journal.lose(4, fault());
    journal.open(5);
    journal.resolveProbe(5, 'a', 'safe_to_replay');
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted' }, dispatches: 3 });
  });

  it('blames a read that may go to two generations only', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 3 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 1 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted', detail: 'exited' }, dispatches: 2 });
  });

  it('blames no read if the deaths are not limited', () => {
    journal = newJournal({ maxReplays: 9 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 1 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toMatchObject({ fault: { class: 'process', code: 'exited' }, dispatches: 2 });
  });

  it('does not blame a read that may go to more after two deaths', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 3 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 9 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault());
    journal.open(3);
    expect([sent, ended.size]).toEqual([['a@1', 'a@2', 'a@3'], 0]);
  });

  it('reports the loss, not the call, as the cause for a call without replay', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 2 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 0 }));
    journal.lose(1, fault('exited'));
    expect(end('a')).toMatchObject({ fault: { class: 'process', code: 'exited' }, dispatches: 1 });
  });

  it('does not count a handed back replay', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.lose(1, fault());
    journal.open(2);
    journal.handBack(2, 'a');
    expect(journal.knowledgeOf('a')).toBe('outcome_unknown');
    journal.open(3);
    expect(journal.reply(3, 'a', 'yes')).toBe('delivered');
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 1 });
  });

  it('reports the unknown outcome of a call without replay once, and later calls continue', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.lose(1, fault());
    expect(end('a')).toMatchObject({
      kind: 'fault',
      fault: { class: 'ambiguous_outcome', code: 'outcome_unknown', detail: 'killed' },
      knowledge: 'outcome_unknown',
    });
    journal.open(2);
    journal.admit(call('b'));
    journal.reply(2, 'b', 'yes');
    expect([sent, end('b')?.kind]).toEqual([['a@1', 'b@2'], 'reply']);
  });

  it('concerns only its own calls: others finish', () => {
    journal.open(1);
    journal.admit(call('old'));
    journal.open(2);
    journal.admit(call('new'));
    journal.lose(1, fault());
    expect([ended.has('old'), journal.knowledgeOf('new')]).toEqual([true, 'in_flight']);
    expect(journal.reply(2, 'new', 'yes')).toBe('delivered');
  });

  it('moves calls at once to another living generation', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.open(2);
    journal.lose(1, fault());
    expect(sent).toEqual(['a@1', 'a@2']);
  });

  it('has no effect the second time, or if the generation was never opened', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.lose(1, fault());
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(7, fault());
    expect([sent, ended.size]).toEqual([['a@1', 'a@2'], 0]);
  });

  it('of a retired one treats its calls like any other', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.retire(1);
    journal.admit(call('b'));
    expect(sent).toEqual(['a@1']);
    expect(journal.reply(1, 'a', 'yes')).toBe('delivered');
    journal.retire(2);
    journal.open(3);
    journal.retire(1);
    expect(sent).toEqual(['a@1', 'b@3']);
    journal.admit(call('c'));
    expect(sent).toEqual(['a@1', 'b@3', 'c@3']);
  });
});

describe('a call that requires a probe', () => {
  const lose = () => {
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.lose(1, fault());
    journal.open(2);
  };

  it('is held and probed when a generation can answer', () => {
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.lose(1, fault());
    expect([probed, journal.knowledgeOf('a')]).toEqual([[], 'outcome_unknown']);
    journal.open(2);
    journal.open(2);
    expect([probed, sent]).toEqual([['a@2'], ['a@1']]);
  });

  it('is sent again if that is safe', () => {
    lose();
    expect(journal.resolveProbe(2, 'a', 'safe_to_replay')).toBe(true);
    expect(sent).toEqual(['a@1', 'a@2']);
    expect(journal.reply(2, 'a', 'yes')).toBe('delivered');
    expect(journal.counts).toMatchObject({ probed: 1, replayed: 1 });
  });

  it('ends if its effect is there', () => {
    lose();
    journal.resolveProbe(2, 'a', 'already_completed');
    expect(end('a')).toEqual({ kind: 'completed_by_probe', dispatches: 1 });
    expect(journal.counts.completed_by_probe).toBe(1);
  });

  it('fails with an unknown outcome if the probe gives no answer', () => {
    lose();
    journal.resolveProbe(2, 'a', 'unresolved');
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown', detail: 'killed' } });
    expect(sent).toEqual(['a@1']);
  });

  it('fails with an unknown outcome at once if it cannot be probed', () => {
    for (const make of [() => newJournal({}, false), () => newJournal({ maxProbes: 0 })]) {
      ended.clear();
      journal = make();
      lose();
      expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' } });
    }
    ended.clear();
    journal = newJournal();
    journal.open(1);
    journal.admit(call('a', 'probe_required', { canProbe: false }));
    journal.lose(1, fault());
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' } });
    expect(probed).toEqual([]);
  });

  it('is probed again after a lost probe, up to a limit', () => {
    lose();
    journal.lose(2, fault());
    journal.open(3);
    expect(probed).toEqual(['a@2', 'a@3']);
    journal.lose(3, fault());
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' }, knowledge: 'outcome_unknown' });
  });

  it('can be probed as often again after a replay', () => {
    journal = newJournal({ maxProbes: 1, maxReplays: 2 });
    lose();
    journal.resolveProbe(2, 'a', 'safe_to_replay');
    journal.lose(2, fault());
    journal.open(3);
    expect(probed).toEqual(['a@2', 'a@3']);
    journal.resolveProbe(3, 'a', 'safe_to_replay');
    journal.lose(3, fault());
    journal.open(4);
    journal.resolveProbe(4, 'a', 'safe_to_replay');
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted' }, dispatches: 3 });
  });

  it('takes only the answer of its own probe', () => {
    lose();
    expect(journal.resolveProbe(1, 'a', 'safe_to_replay')).toBe(false);
    expect(journal.resolveProbe(2, 'b', 'safe_to_replay')).toBe(false);
    expect(journal.resolveProbe(2, 'a', 'safe_to_replay')).toBe(true);
    expect(journal.resolveProbe(2, 'a', 'already_completed')).toBe(false);
    expect(journal.knowledgeOf('a')).toBe('in_flight');
  });
});

describe('a call that may run elsewhere', () => {
  const mayRepeat = (id: string): boolean => journal.mayRepeat(id);

  it('has not begun, or has a contract that allows it', () => {
    journal.admit(call('waits'));
    expect(mayRepeat('waits')).toBe(true);
    journal.open(1);
    journal.admit(call('declared', 'never_replay', { declared: true }));
    journal.admit(call('read', 'convergent'));
    expect(['waits', 'declared', 'read'].map(mayRepeat)).toEqual([false, true, true]);
    journal.begin(1, 'declared');
    expect(mayRepeat('declared')).toBe(false);
  });

  it('is not one that ended, or that a lost generation had', () => {
    journal.open(1);
    journal.admit(call('read', 'convergent'));
    journal.admit(call('probed', 'probe_required', { canProbe: true }));
    journal.lose(1, fault());
    expect(['read', 'probed', 'unknown'].map(mayRepeat)).toEqual([true, false, false]);
    journal.open(2);
    journal.reply(2, 'read', 'answer');
    expect(mayRepeat('read')).toBe(false);
  });
});

describe('a reply', () => {
  it('counts once, from the generation that has the call', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.lose(1, fault());
    journal.open(2);
    expect(journal.reply(1, 'a', 'late')).toBe('stale');
    expect(journal.reply(2, 'a', 'yes')).toBe('delivered');
    expect(journal.reply(2, 'a', 'again')).toBe('duplicate');
    expect(journal.reply(2, 'b', 'what')).toBe('unknown');
    journal.admit(call('c'));
    journal.cancel('c');
    expect(journal.reply(2, 'c', 'too late')).toBe('late');
    expect(journal.counts.replies).toEqual({ delivered: 1, duplicate: 1, late: 1, stale: 1, unknown: 1 });
    expect(end('a')).toMatchObject({ reply: 'yes', dispatches: 2 });
  });

  it('to a waiting or probed call is stale', () => {
    journal.admit(call('a', 'probe_required'));
    expect(journal.reply(0, 'a', 'x')).toBe('stale');
    journal.open(1);
    journal.lose(1, fault());
    journal.open(2);
    expect(journal.reply(2, 'a', 'x')).toBe('stale');
  });

  it('is recognised for many settled calls, but not for too many', () => {
    journal.open(1);
    for (let i = 0; i < 1_025; i++) {
      journal.admit(call(`c${i}`));
      journal.reply(1, `c${i}`, 'yes');
    }
    expect([journal.reply(1, 'c0', 'x'), journal.reply(1, 'c1', 'x')]).toEqual(['unknown', 'duplicate']);
  });
});

describe('an id', () => {
  it('is rejected while a reply could belong to either call', () => {
    const refused = { admitted: false, fault: expect.objectContaining({ class: 'invariant', code: 'duplicate_id' }) };
    journal.open(1);
    journal.admit(call('a'));
    expect(journal.admit(call('a'))).toEqual(refused);
    journal.cancel('a');
    expect(journal.admit(call('a'))).toEqual(refused);
    journal.lose(1, fault());
    expect(journal.admit(call('a'))).toEqual({ admitted: true });
    expect(journal.counts).toMatchObject({ admitted: 2, rejected: 2, cancelled: 1 });
  });

  it('is free again after its call was answered or if it was never sent', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.reply(1, 'a', 'yes');
    ended.clear();
    expect(journal.admit(call('a'))).toEqual({ admitted: true });
    journal.retire(1);
    journal.admit(call('b'));
    journal.cancel('b');
    expect(journal.admit(call('b'))).toEqual({ admitted: true });
  });

  it('used again belongs to its latest call', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.reply(1, 'a', 'yes');
    ended.clear();
    journal.admit(call('a'));
    journal.cancel('a');
    expect(journal.reply(1, 'a', 'x')).toBe('late');
  });
});

describe('the queue', () => {
  const refusal = (code: string, generation = 1) => ({
    admitted: false,
    retryAfter: 3,
    fault: expect.objectContaining({ class: 'resource', code, generation }),
  });

  it('takes a limited number of waiting calls', () => {
    for (let i = 0; i < 4; i++) journal.admit(call(`w${i}`));
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
    journal.cancel('w0');
    expect(journal.admit(call('y'))).toEqual({ admitted: true });
    journal.open(1);
    expect(journal.admit(call('z'))).toEqual({ admitted: true });
    journal.lose(1, fault());
    // The lost calls do not wait, they have failed.
    for (let i = 0; i < 4; i++) expect(journal.admit(call(`v${i}`))).toEqual({ admitted: true });
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
  });

  it('has the same room again after the waiting calls are over', () => {
    journal.open(1);
    for (let i = 0; i < 4; i++) {
      journal.admit(call(`a${i}`));
      journal.reply(1, `a${i}`, 'yes');
    }
    journal.retire(1);
    for (let i = 0; i < 4; i++) journal.admit(call(`w${i}`));
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
  });

  it('does not matter while a generation takes calls', () => {
    journal.open(1);
    for (let i = 0; i < 4; i++) {
      journal.admit(call(`a${i}`));
      journal.handBack(1, `a${i}`);
    }
    expect(journal.admit(call('x'))).toEqual({ admitted: true });
    expect(sent.at(-1)).toBe('x@1');
  });

  it('counts calls that wait again, but not held ones', () => {
    journal.open(1);
    journal.admit(call('held', 'probe_required'));
    for (let i = 0; i < 3; i++) journal.admit(call(`r${i}`, 'convergent'));
    journal.lose(1, fault());
    expect(journal.admit(call('x'))).toEqual({ admitted: true });
    expect(journal.admit(call('y'))).toEqual(refusal('queue_overflow'));
  });

  it('has a limit of calls and of bytes', () => {
    journal.open(2);
    for (let i = 0; i < 8; i++) journal.admit(call(`f${i}`));
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow', 2));
    journal.failAll(fault());
    journal.admit(call('big', 'never_replay', { bytes: 99 }));
    expect(journal.bytes).toBe(99);
    expect(journal.admit(call('x', 'never_replay', { bytes: 2 }))).toEqual(refusal('queue_bytes', 2));
    expect(journal.admit(call('y'))).toEqual({ admitted: true });
    journal.cancel('big');
    expect(journal.bytes).toBe(1);
  });

  it('takes a single call of any size', () => {
    journal.open(1);
    expect(journal.admit(call('huge', 'never_replay', { bytes: 1_000 }))).toEqual({ admitted: true });
  });
});

describe('a call that is given up', () => {
  it('fails with the knowledge of its execution', () => {
    journal.open(1);
    journal.admit(call('sent'));
    journal.admit(call('read', 'convergent'));
    journal.retire(1);
    journal.admit(call('waits'));
    const timeout = fault('call_timeout');
    for (const id of ['sent', 'read', 'waits']) expect(journal.fail(id, timeout)).toBe(true);
    expect(journal.fail('nobody', timeout)).toBe(false);
    expect(end('sent')).toMatchObject({ fault: { code: 'outcome_unknown_after_timeout' }, knowledge: 'in_flight' });
    expect(end('read')).toMatchObject({ fault: timeout, knowledge: 'in_flight' });
    expect(end('waits')).toMatchObject({ fault: timeout, knowledge: 'not_dispatched' });
    expect(journal.counts.faulted).toBe(3);
    expect(journal.reply(1, 'sent', 'x')).toBe('late');
  });

  it('counts as not sent if the generation would have announced a begin', () => {
    journal.open(1);
    for (const id of ['begun', 'declared', 'unheard']) journal.admit(call(id, 'never_replay', { declared: true }));
    journal.admit(call('says nothing'));
    journal.begin(1, 'begun');
    const timeout = fault('call_timeout');
    for (const id of ['begun', 'declared', 'says nothing']) journal.fail(id, timeout, { readToEnd: true });
    journal.fail('unheard', timeout);
    expect(end('declared')).toMatchObject({ fault: timeout, knowledge: 'not_dispatched', dispatches: 0 });
    for (const id of ['begun', 'says nothing', 'unheard']) {
      expect(end(id)).toMatchObject({ fault: { code: 'outcome_unknown_after_timeout' }, knowledge: 'in_flight' });
    }
    expect(journal.counts).toMatchObject({ dispatched: 3, faulted: 4 });
  });

  it('for lack of a generation is unavailable, with an unknown outcome if it was sent', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.admit(call('p', 'probe_required'));
    journal.lose(1, fault());
    journal.admit(call('w'));
    const unavailable = fault('crash_loop');
    journal.failWaiting(unavailable);
    expect(end('a')).toMatchObject({ fault: unavailable, knowledge: 'outcome_unknown' });
    expect(end('p')).toMatchObject({ fault: { code: 'outcome_unknown', detail: 'crash_loop' } });
    expect(end('w')).toMatchObject({ fault: unavailable, knowledge: 'not_dispatched' });
    journal.open(2);
    journal.admit(call('b'));
    journal.failWaiting(unavailable);
    expect([sent, journal.size]).toEqual([['a@1', 'p@1', 'b@2'], 1]);
    journal.failAll(fault('stopped'));
    expect(end('b')).toMatchObject({ fault: { code: 'outcome_unknown', detail: 'stopped' } });
  });

  it('by its maker gets no answer and is not sent', () => {
    journal.admit(call('a'));
    expect(journal.cancel('a')).toEqual({ generation: undefined });
    journal.open(4);
    journal.admit(call('b'));
    expect(journal.cancel('b')).toEqual({ generation: 4 });
    expect(journal.cancel('b')).toBeUndefined();
    journal.lose(4, fault());
    expect([sent, ended.size, journal.counts.cancelled]).toEqual([['b@4'], 0, 2]);
  });
});

describe('a contract declared by the generation', () => {
  it('counts when the call is lost', () => {
    journal.open(1);
    for (const id of ['a', 'b', 'c']) journal.admit(call(id));
    expect(journal.reclassify(1, 'a', { contract: 'convergent', canProbe: false })).toBe(true);
    expect(journal.reclassify(1, 'b', { contract: 'probe_required', canProbe: true })).toBe(true);
    expect(journal.reclassify(2, 'c', { contract: 'convergent', canProbe: false })).toBe(false);
    expect(journal.reclassify(1, 'nobody', { contract: 'convergent', canProbe: false })).toBe(false);
    journal.lose(1, fault());
    journal.open(2);
    expect([sent, probed]).toEqual([['a@1', 'b@1', 'c@1', 'a@2'], ['b@2']]);
    expect([...ended.keys()]).toEqual(['c']);
  });
});

describe('a call with an announced begin', () => {
  const declared = (id: string) => ({ ...call(id), declared: true });

  it('counts as not sent before that if all frames were read: the next generation gets it for the first time', () => {
    journal.open(1);
    for (const id of ['begun', 'not']) journal.admit(declared(id));
    journal.admit(call('silent'));
    journal.begin(1, 'begun');
    journal.lose(1, fault(), { readToEnd: true });
    expect([...ended.keys()]).toEqual(['begun', 'silent']);
    expect(journal.knowledgeOf('not')).toBe('not_dispatched');
    journal.open(2);
    expect(sent).toEqual(['begun@1', 'not@1', 'silent@1', 'not@2']);
    expect(journal.counts).toMatchObject({ dispatched: 3, replayed: 0 });
  });

  it('may have begun if not all frames were read', () => {
    journal.open(1);
    journal.admit(declared('a'));
    journal.lose(1, fault());
    expect(ended.get('a')).toMatchObject({ kind: 'fault', knowledge: 'outcome_unknown' });
  });

  it('begins again with each generation', () => {
    journal.open(1);
    journal.admit(declared('a'));
    journal.reclassify(1, 'a', { contract: 'convergent', canProbe: false });
    expect([journal.begin(1, 'a'), journal.begin(2, 'a'), journal.begin(1, 'b')]).toEqual([true, false, false]);
    journal.lose(1, fault(), { readToEnd: true });
    journal.open(2);
    journal.lose(2, fault(), { readToEnd: true });
    expect(journal.knowledgeOf('a')).toBe('outcome_unknown');
    journal.open(3);
    expect(sent).toEqual(['a@1', 'a@2', 'a@3']);
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 1 });
  });

  it('has not begun by the declaration of its contract, which matters if not all frames were read', () => {
    journal.admit(declared('a'));
    journal.open(1);
    journal.reclassify(1, 'a', { contract: 'convergent', canProbe: false });
    journal.lose(1, fault(), { readToEnd: true });
    expect(journal.knowledgeOf('a')).toBe('not_dispatched');
    journal.open(2);
    journal.lose(2, fault());
    expect(journal.knowledgeOf('a')).toBe('outcome_unknown');
    journal.open(3);
    expect(sent).toEqual(['a@1', 'a@2', 'a@3']);
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 1 });
  });

  it('can be begun only by the generation that has it', () => {
    journal.open(1);
    journal.admit(declared('a'));
    expect([journal.payloadWith(1, 'a'), journal.payloadWith(2, 'a'), journal.payloadWith(1, 'b')]).toEqual([
      'a',
      undefined,
      undefined,
    ]);
  });

  it('survives any number of replacements meanwhile: the user may think for long', () => {
    journal.admit(declared('asks'));
    for (let generation = 1; generation <= 10; generation++) {
      journal.open(generation);
      journal.lose(generation, fault('drain_limit'), { readToEnd: true });
    }
    journal.open(11);
    expect([sent.length, journal.reply(11, 'asks', 'done')]).toEqual([11, 'delivered']);
  });

  it('that kills every reader is not offered for ever', () => {
    journal.admit(declared('poison'));
    for (let generation = 1; generation <= LIMITS.maxReplays + 2; generation++) {
      journal.open(generation);
      journal.lose(generation, fault(), { readToEnd: true });
    }
    expect(sent).toHaveLength(LIMITS.maxReplays + 1);
    // Another call may be to blame, so the words accuse nobody.
    expect(ended.get('poison')).toMatchObject({ fault: { code: 'not_begun' }, knowledge: 'not_dispatched' });
  });
});

describe('an effect that calls the journal', () => {
  it('may answer a call during its dispatch', () => {
    onDispatch = ({ id }, generation) => {
      journal.reply(generation, id, 'at once');
      // A begin of an answered call does not count.
      return false;
    };
    journal.open(1);
    journal.admit(call('a'));
    expect(end('a')).toMatchObject({ reply: 'at once' });
    expect([journal.size, journal.counts.dispatched]).toEqual([0, 1]);
  });

  it('may lose the generation during the dispatch of calls', () => {
    for (const id of ['a', 'b']) journal.admit(call(id));
    onDispatch = ({ id }, generation) => {
      if (id === 'a') journal.lose(generation, fault());
      return true;
    };
    journal.open(1);
    expect([sent, journal.knowledgeOf('b')]).toEqual([['a@1'], 'not_dispatched']);
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' } });
  });

  it('may cancel, fail and admit calls during a loss', () => {
    journal.open(1);
    for (const id of ['a', 'b', 'c']) journal.admit(call(id));
    onSettle = ({ id }) => {
      if (id !== 'a') return;
      journal.cancel('b');
      journal.admit(call('d', 'convergent'));
    };
    journal.lose(1, fault());
    expect([...ended.keys()]).toEqual(['a', 'c']);
    expect(journal.counts).toMatchObject({ faulted: 2, cancelled: 1 });
    journal.open(2);
    expect(sent).toEqual(['a@1', 'b@1', 'c@1', 'd@2']);
  });

  it('may fail everything while everything fails', () => {
    for (const id of ['a', 'b']) journal.admit(call(id));
    onSettle = () => journal.failAll(fault());
    journal.failWaiting(fault());
    expect([ended.size, journal.counts.faulted]).toEqual([2, 2]);
  });

  it('may answer a probe during its dispatch', () => {
    journal = new CallJournal<string, string>(
      {
        dispatch: ({ id }, generation) => sent.push(`${id}@${generation}`) > 0,
        probe: ({ id }, generation) => void journal.resolveProbe(generation, id, 'safe_to_replay'),
        settle: ({ id }, terminal) => void ended.set(id, terminal),
      },
      LIMITS,
    );
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.lose(1, fault());
    journal.open(2);
    expect(sent).toEqual(['a@1', 'a@2']);
  });
});
