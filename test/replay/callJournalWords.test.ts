import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { bump, inAnyOrder, JournalWorld, MAX_REPLAYS } from './journalWorld.ts';

/**
 * Processes that announce the begin of a call. Announcements take a while to arrive; after a death, either all of them
 * are read or none.
 */
class World extends JournalWorld {
  /** Number of processes that died before the begin, with all frames read. */
  readonly inVain = new Map<string, number>();
  /** Calls that a dead process had begun, or might have. */
  readonly risked = new Set<string>();
  readonly #begunBy = new Map<string, number>();
  /** Messages in transit, by process. */
  readonly #said = new Map<number, (() => void)[]>();

  protected async serve(id: string, generation: number): Promise<void> {
    if (!(await this.#lives(`${id} read by ${generation}`, generation))) return;
    this.#begunBy.set(id, generation);
    this.#say(generation, `${id} begins`, () => void this.journal.begin(generation, id));
    if (!(await this.#lives(`${id} run by ${generation}`, generation))) return;
    bump(this.effects, id);
    if (!(await this.#lives(`${id} answered by ${generation}`, generation))) return;
    this.#say(generation, `${id} answers`, () => void this.journal.reply(generation, id, id));
  }

  protected override ended(generation: number, readToEnd: boolean): void {
    if (readToEnd) for (const word of this.#said.get(generation) ?? []) word();
    this.#said.delete(generation);
  }

  protected lost(id: string, generation: number, readToEnd: boolean): void {
    if (readToEnd && this.#begunBy.get(id) !== generation) bump(this.inVain, id);
    else this.risked.add(id);
  }

  async #lives(label: string, generation: number): Promise<boolean> {
    await this.later(label);
    return this.alive.has(generation);
  }

  /** Delivers messages in order, each some time after it was sent. */
  #say(generation: number, label: string, word: () => void): void {
    this.#said.set(generation, [...(this.#said.get(generation) ?? []), word]);
    this.at(label, () => this.#said.get(generation)?.shift()?.());
  }
}

const always = inAnyOrder({
  begin: (scheduler) => new World(scheduler),
  plan: fc.constantFrom<ReplayContract>('convergent', 'never_replay'),
  readToEnd: fc.boolean(),
  call: (world, id, contract) =>
    world.at(`admit ${id}`, () =>
      world.journal.admit({ id, contract, payload: null, bytes: 1, canProbe: false, declared: true }),
    ),
});

describe('any order of events with announced begins', () => {
  it('ends each call once', () => always((world, id) => expect(world.terminals.get(id) ?? []).toHaveLength(1)));

  it('executes a call that must not be replayed at most once', () =>
    always((world, id, contract) => {
      if (contract === 'never_replay') expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
    }));

  it('answers a call that no process has begun, whatever its contract', () =>
    always((world, id) => {
      if (world.risked.has(id)) return;
      const kind = (world.inVain.get(id) ?? 0) > MAX_REPLAYS ? 'fault' : 'reply';
      expect(world.endOf(id)?.kind).toBe(kind);
    }));

  it('reports an unknown outcome only after a begin or an unread frame', () =>
    always((world, id) => {
      const end = world.endOf(id);
      if (end?.kind === 'fault' && end.fault.code === 'outcome_unknown') expect(world.risked.has(id)).toBe(true);
    }));
});
