import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import { CallJournal } from '../../src/replay/callJournal.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import type { ProbeResolution } from '../../src/replay/requestDisposition.ts';
import { JournalModel, MODEL_LIMITS } from './journalModel.ts';

/** Compares the journal with the model in any sequence of events: same dispatches, same ends, same order. */
class Real {
  readonly sent: string[] = [];
  readonly ended: string[] = [];
  /** Calls that the journal has reported as waiting since their last dispatch. */
  readonly waiting = new Set<string>();
  readonly journal = new CallJournal<null, string>(
    {
      dispatch: ({ id }, generation) => {
        this.waiting.delete(id);
        return this.sent.push(`${id}@${generation}`) > 0;
      },
      wait: ({ id }) => void this.waiting.add(id),
      probe: ({ id }) => void this.waiting.delete(id),
      settle: ({ id }, terminal) => {
        this.waiting.delete(id);
        this.ended.push(`${id}: ${terminal.kind === 'fault' ? terminal.fault.code : terminal.kind}`);
      },
    },
    { ...MODEL_LIMITS, maxCalls: 1_000, maxBytes: 1_000, maxWaiting: 1_000, retryAfter: 1 },
  );
}

type Step = fc.Command<JournalModel, Real>;

function step(words: string, run: (model: JournalModel, real: Real) => void): Step {
  return {
    check: () => true,
    run: (model, real) => {
      run(model, real);
      expect(real.sent).toEqual(model.sent);
      expect(real.ended).toEqual(model.ended);
      for (const id of IDS) {
        const call = model.find(id);
        expect(real.journal.knowledgeOf(id)).toBe(call && model.knowledge(call));
        const waits = call?.at === 'queue' || call?.at === 'limbo';
        expect([real.journal.isWaiting(id), real.waiting.has(id)]).toEqual([waits, waits]);
      }
      expect([real.journal.size, real.journal.bytes]).toEqual([model.calls.length, model.calls.length]);
    },
    toString: () => words,
  };
}

const fault = (code: KnownFaultCode) => faultOf(code, { generation: 1 }, (text) => text);
const IDS = ['a', 'b', 'c', 'd'] as const;
const id = fc.constantFrom(...IDS);
const contract = fc.constantFrom<ReplayContract>('convergent', 'probe_required', 'never_replay');
/** Above, at and below the journal's own limit, and undefined. */
const allowance = fc.constantFrom(undefined, 0, 1, 5);
const resolution = fc.constantFrom<ProbeResolution>('already_completed', 'safe_to_replay', 'unresolved');
/** Distance from the latest generation: mostly living ones, sometimes one long gone. */
const back = fc.nat({ max: 3 });

const commands: fc.Arbitrary<Step>[] = [
  fc.tuple(id, contract, allowance, fc.boolean()).map(([name, how, maxReplays, declared]) =>
    step(`admit ${name} ${how}, ${maxReplays} replays${declared ? ', declared' : ''}`, (model, real) => {
      const taken = model.takes(name);
      if (taken) model.admit(name, how, maxReplays ?? MODEL_LIMITS.maxReplays, declared);
      const call = {
        id: name,
        contract: how,
        payload: null,
        bytes: 1,
        canProbe: true,
        declared,
        ...(maxReplays === undefined ? {} : { maxReplays }),
      };
      expect(real.journal.admit(call).admitted).toBe(taken);
    }),
  ),
  fc.constant(step('open', (model, real) => real.journal.open(model.open()))),
  fc.tuple(back, id, contract).map(([n, name, how]) =>
    step(`${name} is ${how}, says ${n} back`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const counts = call?.at === 'process' && call.process === process;
      if (call && counts) call.contract = how;
      expect(real.journal.reclassify(process, name, { contract: how, canProbe: true })).toBe(counts);
    }),
  ),
  fc.tuple(back, id).map(([n, name]) =>
    step(`${name} begun by ${n} back`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const counts = call?.at === 'process' && call.process === process;
      if (call && counts) call.begun = true;
      expect(real.journal.begin(process, name)).toBe(counts);
    }),
  ),
  fc
    .tuple(back, fc.boolean(), fc.constantFrom('killed' as const, 'drain_limit' as const))
    .map(([n, readToEnd, cause]) =>
      step(`lose ${n} back, ${cause}${readToEnd ? ', heard out' : ''}`, (model, real) => {
        const process = model.processes - n;
        if (model.alive.has(process)) model.lose(process, readToEnd, cause);
        real.journal.lose(process, fault(cause), { readToEnd });
      }),
    ),
  back.map((n) =>
    step(`retire ${n} back`, (model, real) => {
      if (model.current === model.processes - n) model.current = 0;
      real.journal.retire(model.processes - n);
    }),
  ),
  fc.tuple(back, id).map(([n, name]) =>
    step(`reply of ${n} back to ${name}`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const counts = call?.at === 'process' && call.process === process;
      if (call && counts) {
        model.end(call, 'reply');
        model.owed.delete(name);
      }
      expect(real.journal.reply(process, name, 'yes') === 'delivered').toBe(counts);
    }),
  ),
  fc.tuple(back, id).map(([n, name]) =>
    step(`loss of ${name} alone by ${n} back`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const counts = call?.at === 'process' && call.process === process;
      if (call && counts) model.loseCall(call);
      expect(real.journal.loseCall(process, name, fault('connection_lost'))).toBe(counts);
    }),
  ),
  fc.tuple(back, id).map(([n, name]) =>
    step(`${name} handed back by ${n} back`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const counts = call?.at === 'process' && call.process === process;
      if (call && counts) model.handBack(call);
      expect(real.journal.handBack(process, name)).toBe(counts);
    }),
  ),
  fc.tuple(back, id, resolution).map(([n, name, how]) =>
    step(`probe of ${name} by ${n} back: ${how}`, (model, real) => {
      const process = model.processes - n;
      const call = model.find(name);
      const awaited = call?.at === 'probe' && call.process === process;
      if (call && awaited) model.probed(call, how);
      expect(real.journal.resolveProbe(process, name, how)).toBe(awaited);
    }),
  ),
  id.map((name) =>
    step(`cancel ${name}`, (model, real) => {
      const call = model.find(name);
      if (call) model.forget(call);
      real.waiting.delete(name);
      expect(real.journal.cancel(name) !== undefined).toBe(call !== undefined);
    }),
  ),
  fc.tuple(id, fc.boolean()).map(([name, readToEnd]) =>
    step(`time-out of ${name}${readToEnd ? ', heard out' : ''}`, (model, real) => {
      const call = model.find(name);
      if (call) model.fail(call, 'call_timeout', readToEnd);
      real.journal.fail(name, fault('call_timeout'), { readToEnd });
    }),
  ),
  fc.constant(
    step('none to be had', (model, real) => {
      for (const call of [...model.calls])
        if (call.at === 'queue' || call.at === 'limbo') model.fail(call, 'crash_loop');
      real.journal.failWaiting(fault('crash_loop'));
    }),
  ),
];

describe('the call journal', () => {
  it('behaves like its model in any order of events', () => {
    fc.assert(
      fc.property(fc.commands(commands, { maxCommands: 60, size: 'max' }), (sequence) => {
        fc.modelRun(() => ({ model: new JournalModel(), real: new Real() }), sequence);
      }),
      { seed: 4, numRuns: 2_000 },
    );
  });
});
