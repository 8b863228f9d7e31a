import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallJournal } from '../../src/ops/callJournal.ts';
import { faultOf } from '../../src/ops/fault.ts';
import { faultError } from '../../src/ops/faultError.ts';
import type { JournalCall, Terminal } from '../../src/ops/journalCall.ts';
import type { ReplayContract } from '../../src/ops/replay.ts';

/**
 * Clients, processes that die at any moment, and the messages between them, in any order that the scheduler thinks of.
 * What counts is what an effect log and the replies say afterwards: nothing is asked of the journal itself.
 */
const MAX_REPLAYS = 2;
const fault = (generation: number) => faultOf('killed', { generation }, (text) => text);

interface Plan {
  contract: ReplayContract;
  cancelled: boolean;
}

class World {
  readonly effects = new Map<string, number>();
  readonly dispatches = new Map<string, number>();
  /** How often a process died that had the call. */
  readonly losses = new Map<string, number>();
  readonly terminals = new Map<string, Terminal<string>[]>();
  readonly cancelled = new Set<string>();
  readonly journal: CallJournal<Plan, string>;
  readonly #scheduler: fc.Scheduler;
  /** A new one may start beside the old. */
  readonly #alive = new Set<number>();
  /** Who was sent a call last. */
  readonly #holders = new Map<string, number>();
  #generation = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
    this.journal = new CallJournal<Plan, string>(
      {
        dispatch: (call, generation) => {
          bump(this.dispatches, call.id);
          this.#holders.set(call.id, generation);
          void this.#serve(call, generation);
          return true;
        },
        probe: (call, generation) => void this.#probe(call.id, generation),
        settle: ({ id }, terminal) => void this.terminals.set(id, [...(this.terminals.get(id) ?? []), terminal]),
      },
      { maxCalls: 100, maxBytes: 100, maxWaiting: 100, maxReplays: MAX_REPLAYS, maxProbes: 50, retryAfter: 1 },
    );
  }

  start(): void {
    this.#generation += 1;
    this.#alive.add(this.#generation);
    this.journal.open(this.#generation);
  }

  /** The oldest of those that live. */
  kill(): void {
    const [dead] = this.#alive;
    if (dead === undefined) return;
    this.#alive.delete(dead);
    for (const [id, holder] of this.#holders) {
      if (holder === dead && this.journal.knowledgeOf(id) === 'in_flight') bump(this.losses, id);
    }
    this.journal.lose(dead, fault(dead));
  }

  /** It reads the call, acts, and answers, with time in between for anything. */
  async #serve({ id }: JournalCall<Plan>, generation: number): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), `${id} read by ${generation}`);
    if (!this.#alive.has(generation)) return;
    bump(this.effects, id);
    await this.#scheduler.schedule(Promise.resolve(), `${id} answered by ${generation}`);
    // What was written before the end is still read after it.
    this.journal.reply(generation, id, id);
  }

  async #probe(id: string, generation: number): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), `${id} probed at ${generation}`);
    if (!this.#alive.has(generation)) return;
    this.journal.resolveProbe(generation, id, this.effects.has(id) ? 'already_completed' : 'safe_to_replay');
  }
}

function bump(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}

async function play(scheduler: fc.Scheduler, plans: readonly Plan[], kills: number): Promise<World> {
  const world = new World(scheduler);
  const at = (label: string, act: () => void): void => {
    void scheduler.schedule(Promise.resolve(), label).then(act);
  };
  at('first start', () => world.start());
  plans.forEach((plan, i) => {
    const id = `c${i}`;
    at(`admit ${id}`, () => {
      world.journal.admit({ id, contract: plan.contract, payload: plan, bytes: 1, canProbe: true });
    });
    if (plan.cancelled) {
      at(`cancel ${id}`, () => {
        if (world.journal.cancel(id)) world.cancelled.add(id);
      });
    }
  });
  for (let k = 0; k < kills; k++) {
    at(`kill ${k}`, () => world.kill());
    at(`start ${k}`, () => world.start());
  }
  await scheduler.waitIdle();
  // One lives: what can still be done is done.
  world.start();
  await scheduler.waitIdle();
  return world;
}

const plan = fc.record<Plan>({
  contract: fc.constantFrom<ReplayContract>('convergent', 'probe_required', 'never_replay'),
  cancelled: fc.boolean(),
});
const inAnyOrder = (judge: (world: World, id: string, plan: Plan) => void): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(plan, { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 5 }),
      async (scheduler, plans, kills) => {
        const world = await play(scheduler, plans, kills);
        for (const [i, one] of plans.entries()) judge(world, `c${i}`, one);
        expect([world.journal.size, world.journal.bytes]).toEqual([0, 0]);
      },
    ),
    { seed: 7, numRuns: 600 },
  );

const endOf = (world: World, id: string): Terminal<string> | undefined => world.terminals.get(id)?.[0];

describe('in any order of events', () => {
  it('every call has one end, its own, and a cancelled one none', () =>
    inAnyOrder((world, id) => {
      expect(world.terminals.get(id) ?? []).toHaveLength(world.cancelled.has(id) ? 0 : 1);
      const end = endOf(world, id);
      if (end?.kind === 'reply') expect(end.reply).toBe(id);
    }));

  it('a call that may never be replayed is sent once at most', () =>
    inAnyOrder((world, id, { contract }) => {
      if (contract !== 'never_replay') return;
      expect(world.dispatches.get(id) ?? 0).toBeLessThanOrEqual(1);
      expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
    }));

  it('a call that is probed first takes effect once at most, and its end tells whether it did', () =>
    inAnyOrder((world, id, { contract }) => {
      if (contract !== 'probe_required') return;
      expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
      const end = endOf(world, id);
      if (end && end.kind !== 'fault') expect(world.effects.get(id)).toBe(1);
    }));

  it('a convergent call is never lost within its budget', () =>
    inAnyOrder((world, id, { contract }) => {
      if (contract !== 'convergent' || world.cancelled.has(id)) return;
      if ((world.losses.get(id) ?? 0) <= MAX_REPLAYS) expect(endOf(world, id)).toMatchObject({ kind: 'reply' });
      else expect(endOf(world, id)).toMatchObject({ kind: 'fault', fault: { code: 'replay_exhausted' } });
      expect(world.dispatches.get(id) ?? 0).toBeLessThanOrEqual(MAX_REPLAYS + 1);
    }));

  it('every unknown outcome is told as one', () =>
    inAnyOrder((world, id) => {
      const end = endOf(world, id);
      if (end?.kind !== 'fault') return;
      const error = faultError(end.fault, { subject: 'server', ...end });
      if (end.contract === 'never_replay') expect(end.fault.class).toBe('ambiguous_outcome');
      expect([error.retryable, error.details?.outcome]).toEqual([false, 'unknown']);
    }));
});
