import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultError } from '../../src/errors/faultError.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { bump, inAnyOrder, JournalWorld, MAX_REPLAYS } from './journalWorld.ts';

interface Plan {
  contract: ReplayContract;
  cancelled: boolean;
}

/** Processes that announce nothing, and that can be probed. */
class World extends JournalWorld {
  /** Number of deaths with each call. */
  readonly losses = new Map<string, number>();
  readonly cancelled = new Set<string>();

  constructor(scheduler: fc.Scheduler) {
    super(scheduler, 50);
  }

  protected lost(id: string): void {
    bump(this.losses, id);
  }

  /** Reads the call, acts and answers, with pauses in between. */
  protected async serve(id: string, generation: number): Promise<void> {
    await this.later(`${id} read by ${generation}`);
    if (!this.alive.has(generation)) return;
    bump(this.effects, id);
    await this.later(`${id} answered by ${generation}`);
    // An answer written before the end is still read.
    this.journal.reply(generation, id, id);
  }

  protected override async probe(id: string, generation: number): Promise<void> {
    await this.later(`${id} probed at ${generation}`);
    if (!this.alive.has(generation)) return;
    this.journal.resolveProbe(generation, id, this.effects.has(id) ? 'already_completed' : 'safe_to_replay');
  }
}

const always = inAnyOrder({
  begin: (scheduler) => new World(scheduler),
  plan: fc.record<Plan>({
    contract: fc.constantFrom<ReplayContract>('convergent', 'probe_required', 'never_replay'),
    cancelled: fc.boolean(),
  }),
  readToEnd: fc.constant(false),
  call: (world, id, { contract, cancelled }) => {
    world.at(`admit ${id}`, () => world.journal.admit({ id, contract, payload: null, bytes: 1, canProbe: true }));
    if (!cancelled) return;
    world.at(`cancel ${id}`, () => {
      if (world.journal.cancel(id)) world.cancelled.add(id);
    });
  },
});

describe('any order of events', () => {
  it('ends every call once with its own outcome, and a cancelled one without', () =>
    always((world, id) => {
      expect(world.terminals.get(id) ?? []).toHaveLength(world.cancelled.has(id) ? 0 : 1);
      const end = world.endOf(id);
      if (end?.kind === 'reply') expect(end.reply).toBe(id);
    }));

  it('sends a call that must not be replayed at most once', () =>
    always((world, id, { contract }) => {
      if (contract !== 'never_replay') return;
      expect(world.dispatches.get(id) ?? 0).toBeLessThanOrEqual(1);
      expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
    }));

  it('executes a probed call at most once, and its outcome says whether it did', () =>
    always((world, id, { contract }) => {
      if (contract !== 'probe_required') return;
      expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
      const end = world.endOf(id);
      if (end && end.kind !== 'fault') expect(world.effects.get(id)).toBe(1);
    }));

  it('never loses a convergent call within its budget', () =>
    always((world, id, { contract }) => {
      if (contract !== 'convergent' || world.cancelled.has(id)) return;
      if ((world.losses.get(id) ?? 0) <= MAX_REPLAYS) expect(world.endOf(id)).toMatchObject({ kind: 'reply' });
      else expect(world.endOf(id)).toMatchObject({ kind: 'fault', fault: { code: 'replay_exhausted' } });
      expect(world.dispatches.get(id) ?? 0).toBeLessThanOrEqual(MAX_REPLAYS + 1);
    }));

  it('reports every unknown outcome as unknown', () =>
    always((world, id) => {
      const end = world.endOf(id);
      if (end?.kind !== 'fault') return;
      const error = faultError(end.fault, { subject: 'server', ...end });
      if (end.contract === 'never_replay') expect(end.fault.class).toBe('ambiguous_outcome');
      expect([error.retryable, error.details?.outcome]).toEqual([false, 'unknown']);
    }));
});
