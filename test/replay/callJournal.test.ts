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
let probed: string[];
let ended: Map<string, Terminal<string>>;
/** What an effect does beside being noted. */
let onDispatch: (call: JournalCall<string>, generation: number) => boolean;
let onSettle: (call: JournalCall<string>) => void;
let journal: CallJournal<string, string>;

function newJournal(limits: Partial<JournalLimits> = {}, canProbe = true): CallJournal<string, string> {
  return new CallJournal<string, string>(
    {
      dispatch: (call, generation) => {
        sent.push(`${call.payload}@${generation}`);
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

  it('is sent at once where there is a generation, in the order in which it was made', () => {
    for (const id of ['b', 'a', 'c']) journal.admit(call(id));
    journal.open(1);
    journal.admit(call('d'));
    expect(sent).toEqual(['b@1', 'a@1', 'c@1', 'd@1']);
  });

  it('that was never sent goes to the next generation, whatever its contract, and that is no replay', () => {
    journal = newJournal({ maxReplays: 0 });
    onDispatch = (_, generation) => generation !== 1;
    journal.open(1);
    journal.admit(call('a'));
    journal.lose(1, fault());
    journal.open(2);
    expect([sent, journal.knowledgeOf('a')]).toEqual([['a@1', 'a@2'], 'in_flight']);
    expect(journal.counts).toMatchObject({ dispatched: 1, replayed: 0 });
  });

  it('that a broken generation could not be sent is offered to no other call either', () => {
    onDispatch = () => false;
    journal.open(1);
    journal.admit(call('a'));
    journal.admit(call('b'));
    expect(sent).toEqual(['a@1']);
  });

  it('that was handed back is not offered to the same generation again', () => {
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

  it('that was handed back goes to a newer generation at once', () => {
    journal.open(1);
    journal.admit(call('a'));
    journal.open(2);
    expect(journal.handBack(1, 'a')).toBe(true);
    expect(sent).toEqual(['a@1', 'a@2']);
  });
});

describe('when a generation is lost', () => {
  it('a read is sent again, until it has been often enough', () => {
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

  it('a read that two did not survive is sent to no third, however often it may be sent', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 2 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 9 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted', detail: 'exited' }, dispatches: 2 });
    journal.open(3);
    expect(sent).toEqual(['a@1', 'a@2']);
  });

  it('only those that ended while they had it count: no way that broke off, no probe, none that handed it back', () => {
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

  it('a read that may go to two alone is what ended both', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 3 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 1 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault('exited', 2));
    expect(end('a')).toMatchObject({ fault: { code: 'replay_exhausted', detail: 'exited' }, dispatches: 2 });
  });

  it('a read that may go to more is not yet what ended two, which somebody may have killed', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 3 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 9 }));
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(2, fault());
    journal.open(3);
    expect([sent, ended.size]).toEqual([['a@1', 'a@2', 'a@3'], 0]);
  });

  it('a call that was told to be sent once is told by what it was lost, not as what ends them', () => {
    journal = newJournal({ maxReplays: 9, maxEnded: 2 });
    journal.open(1);
    journal.admit(call('a', 'convergent', { maxReplays: 0 }));
    journal.lose(1, fault('exited'));
    expect(end('a')).toMatchObject({ fault: { class: 'process', code: 'exited' }, dispatches: 1 });
  });

  it('a replay that was handed back is none', () => {
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

  it('a call that may not be repeated is told so once, and calls after it live', () => {
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

  it('only its own calls are concerned: others finish where they are', () => {
    journal.open(1);
    journal.admit(call('old'));
    journal.open(2);
    journal.admit(call('new'));
    journal.lose(1, fault());
    expect([ended.has('old'), journal.knowledgeOf('new')]).toEqual([true, 'in_flight']);
    expect(journal.reply(2, 'new', 'yes')).toBe('delivered');
  });

  it('what it had goes to the one that lives beside it, at once', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.open(2);
    journal.lose(1, fault());
    expect(sent).toEqual(['a@1', 'a@2']);
  });

  it('that is told once more, or was never opened, nothing happens', () => {
    journal.open(1);
    journal.admit(call('a', 'convergent'));
    journal.lose(1, fault());
    journal.lose(1, fault());
    journal.open(2);
    journal.lose(7, fault());
    expect([sent, ended.size]).toEqual([['a@1', 'a@2'], 0]);
  });

  it('that was retired, what it has is treated like any other', () => {
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

describe('a call that must be probed', () => {
  const lose = () => {
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.lose(1, fault());
    journal.open(2);
  };

  it('is held and asked about once there is somebody to ask', () => {
    journal.open(1);
    journal.admit(call('a', 'probe_required'));
    journal.lose(1, fault());
    expect([probed, journal.knowledgeOf('a')]).toEqual([[], 'outcome_unknown']);
    journal.open(2);
    journal.open(2);
    expect([probed, sent]).toEqual([['a@2'], ['a@1']]);
  });

  it('is sent again when it is safe', () => {
    lose();
    expect(journal.resolveProbe(2, 'a', 'safe_to_replay')).toBe(true);
    expect(sent).toEqual(['a@1', 'a@2']);
    expect(journal.reply(2, 'a', 'yes')).toBe('delivered');
    expect(journal.counts).toMatchObject({ probed: 1, replayed: 1 });
  });

  it('is over when its effect is there', () => {
    lose();
    journal.resolveProbe(2, 'a', 'already_completed');
    expect(end('a')).toEqual({ kind: 'completed_by_probe', dispatches: 1 });
    expect(journal.counts.completed_by_probe).toBe(1);
  });

  it('is told as unknown when nobody can say', () => {
    lose();
    journal.resolveProbe(2, 'a', 'unresolved');
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown', detail: 'killed' } });
    expect(sent).toEqual(['a@1']);
  });

  it('is told as unknown at once when there is nothing to ask', () => {
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

  it('is asked about again when the asking was lost, but not for ever', () => {
    lose();
    journal.lose(2, fault());
    journal.open(3);
    expect(probed).toEqual(['a@2', 'a@3']);
    journal.lose(3, fault());
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' }, knowledge: 'outcome_unknown' });
  });

  it('may be asked about as often again once it was sent again', () => {
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

  it('hears only the answer that it waits for', () => {
    lose();
    expect(journal.resolveProbe(1, 'a', 'safe_to_replay')).toBe(false);
    expect(journal.resolveProbe(2, 'b', 'safe_to_replay')).toBe(false);
    expect(journal.resolveProbe(2, 'a', 'safe_to_replay')).toBe(true);
    expect(journal.resolveProbe(2, 'a', 'already_completed')).toBe(false);
    expect(journal.knowledgeOf('a')).toBe('in_flight');
  });
});

describe('a reply', () => {
  it('counts from who has the call, once', () => {
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

  it('to a call that waits, or is probed, is of nobody', () => {
    journal.admit(call('a', 'probe_required'));
    expect(journal.reply(0, 'a', 'x')).toBe('stale');
    journal.open(1);
    journal.lose(1, fault());
    journal.open(2);
    expect(journal.reply(2, 'a', 'x')).toBe('stale');
  });

  it('to one of many settled calls is remembered, to one of too many is not', () => {
    journal.open(1);
    for (let i = 0; i < 1_025; i++) {
      journal.admit(call(`c${i}`));
      journal.reply(1, `c${i}`, 'yes');
    }
    expect([journal.reply(1, 'c0', 'x'), journal.reply(1, 'c1', 'x')]).toEqual(['unknown', 'duplicate']);
  });
});

describe('an id', () => {
  it('is not taken twice while a reply could be meant for either', () => {
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

  it('is free again once its call was answered, or had never been sent', () => {
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

  it('that is used again is judged by its latest call', () => {
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

  it('has room for so many that wait', () => {
    for (let i = 0; i < 4; i++) journal.admit(call(`w${i}`));
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
    journal.cancel('w0');
    expect(journal.admit(call('y'))).toEqual({ admitted: true });
    journal.open(1);
    expect(journal.admit(call('z'))).toEqual({ admitted: true });
    journal.lose(1, fault());
    // The calls that were lost do not wait: they are over.
    for (let i = 0; i < 4; i++) expect(journal.admit(call(`v${i}`))).toEqual({ admitted: true });
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
  });

  it('has as much room again when what waited is over', () => {
    journal.open(1);
    for (let i = 0; i < 4; i++) {
      journal.admit(call(`a${i}`));
      journal.reply(1, `a${i}`, 'yes');
    }
    journal.retire(1);
    for (let i = 0; i < 4; i++) journal.admit(call(`w${i}`));
    expect(journal.admit(call('x'))).toEqual(refusal('queue_overflow'));
  });

  it('is no matter where there is a generation that takes calls', () => {
    journal.open(1);
    for (let i = 0; i < 4; i++) {
      journal.admit(call(`a${i}`));
      journal.handBack(1, `a${i}`);
    }
    expect(journal.admit(call('x'))).toEqual({ admitted: true });
    expect(sent.at(-1)).toBe('x@1');
  });

  it('counts what waits again, and not what is held', () => {
    journal.open(1);
    journal.admit(call('held', 'probe_required'));
    for (let i = 0; i < 3; i++) journal.admit(call(`r${i}`, 'convergent'));
    journal.lose(1, fault());
    expect(journal.admit(call('x'))).toEqual({ admitted: true });
    expect(journal.admit(call('y'))).toEqual(refusal('queue_overflow'));
  });

  it('has room for so many in all, and so many bytes', () => {
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

  it('takes one call of any size', () => {
    journal.open(1);
    expect(journal.admit(call('huge', 'never_replay', { bytes: 1_000 }))).toEqual({ admitted: true });
  });
});

describe('a call that is given up', () => {
  it('is told by what is known of it', () => {
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

  it('has not been sent where it would have been heard to begin', () => {
    journal.open(1);
    for (const id of ['begun', 'told', 'unheard']) journal.admit(call(id, 'never_replay', { declared: true }));
    journal.admit(call('says nothing'));
    journal.begin(1, 'begun');
    const timeout = fault('call_timeout');
    for (const id of ['begun', 'told', 'says nothing']) journal.fail(id, timeout, { readToEnd: true });
    journal.fail('unheard', timeout);
    expect(end('told')).toMatchObject({ fault: timeout, knowledge: 'not_dispatched', dispatches: 0 });
    for (const id of ['begun', 'says nothing', 'unheard']) {
      expect(end(id)).toMatchObject({ fault: { code: 'outcome_unknown_after_timeout' }, knowledge: 'in_flight' });
    }
    expect(journal.counts).toMatchObject({ dispatched: 3, faulted: 4 });
  });

  it('for want of a generation is one that nobody has', () => {
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

  it('by whoever made it gets no answer and is not sent', () => {
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

describe('a contract that is learnt from who has the call', () => {
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

describe('a call of which is told when it begins', () => {
  const declared = (id: string) => ({ ...call(id), declared: true });

  it('is as good as not sent until then, where all was heard: the next generation has it for the first time', () => {
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

  it('may have begun where its last words were not heard', () => {
    journal.open(1);
    journal.admit(declared('a'));
    journal.lose(1, fault());
    expect(ended.get('a')).toMatchObject({ kind: 'fault', knowledge: 'outcome_unknown' });
  });

  it('begins anew with each generation', () => {
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

  it('has not begun when its contract is told, which counts where the last words were not heard', () => {
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

  it('is known to who has it, and to nobody else', () => {
    journal.open(1);
    journal.admit(declared('a'));
    expect([journal.payloadWith(1, 'a'), journal.payloadWith(2, 'a'), journal.payloadWith(1, 'b')]).toEqual([
      'a',
      undefined,
      undefined,
    ]);
  });

  it('goes on however often the one that has it is replaced meanwhile: a person may think for long', () => {
    journal.admit(declared('asks'));
    for (let generation = 1; generation <= 10; generation++) {
      journal.open(generation);
      journal.lose(generation, fault('drain_limit'), { readToEnd: true });
    }
    journal.open(11);
    expect([sent.length, journal.reply(11, 'asks', 'done')]).toEqual([11, 'delivered']);
  });

  it('that ends whoever reads it is not offered for ever', () => {
    journal.admit(declared('poison'));
    for (let generation = 1; generation <= LIMITS.maxReplays + 2; generation++) {
      journal.open(generation);
      journal.lose(generation, fault(), { readToEnd: true });
    }
    expect(sent).toHaveLength(LIMITS.maxReplays + 1);
    expect(ended.get('poison')).toMatchObject({ fault: { code: 'replay_exhausted' }, knowledge: 'not_dispatched' });
  });
});

describe('effects that call the journal back', () => {
  it('may answer a call while it is being sent', () => {
    onDispatch = ({ id }, generation) => {
      journal.reply(generation, id, 'at once');
      // Nobody believes this of a call that was answered.
      return false;
    };
    journal.open(1);
    journal.admit(call('a'));
    expect(end('a')).toMatchObject({ reply: 'at once' });
    expect([journal.size, journal.counts.dispatched]).toEqual([0, 1]);
  });

  it('may lose the generation while calls are being sent', () => {
    for (const id of ['a', 'b']) journal.admit(call(id));
    onDispatch = ({ id }, generation) => {
      if (id === 'a') journal.lose(generation, fault());
      return true;
    };
    journal.open(1);
    expect([sent, journal.knowledgeOf('b')]).toEqual([['a@1'], 'not_dispatched']);
    expect(end('a')).toMatchObject({ fault: { code: 'outcome_unknown' } });
  });

  it('may cancel, fail and make calls while others are told of a loss', () => {
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

  it('may fail everything while everything is being failed', () => {
    for (const id of ['a', 'b']) journal.admit(call(id));
    onSettle = () => journal.failAll(fault());
    journal.failWaiting(fault());
    expect([ended.size, journal.counts.faulted]).toEqual([2, 2]);
  });

  it('may answer a probe while it is being made', () => {
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
