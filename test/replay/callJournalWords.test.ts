import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { bump, inAnyOrder, JournalWorld, MAX_REPLAYS } from './journalWorld.ts';

/**
 * Processes that say before they begin with a call, and whose last words are heard or not. What they have said is on its
 * way for a while; whoever is heard out is heard to the end.
 */
class World extends JournalWorld {
  /** How many processes died before they had begun with it, and were heard out. */
  readonly inVain = new Map<string, number>();
  /** One died that had begun, or that was not heard out. */
  readonly risked = new Set<string>();
  readonly #begunBy = new Map<string, number>();
  /** What is on its way, of each process. */
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

  /** Words arrive in their order, each some time after it was said. */
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

describe('of calls that are begun with a word, in any order of events', () => {
  it('each has one end', () => always((world, id) => expect(world.terminals.get(id) ?? []).toHaveLength(1)));

  it('one that may never be replayed takes effect once at most', () =>
    always((world, id, contract) => {
      if (contract === 'never_replay') expect(world.effects.get(id) ?? 0).toBeLessThanOrEqual(1);
    }));

  it('one that nobody had begun with is answered, whatever its contract', () =>
    always((world, id) => {
      if (world.risked.has(id)) return;
      const kind = (world.inVain.get(id) ?? 0) > MAX_REPLAYS ? 'fault' : 'reply';
      expect(world.endOf(id)?.kind).toBe(kind);
    }));

  it('one is told as unknown only where a process had begun with it, or was not heard out', () =>
    always((world, id) => {
      const end = world.endOf(id);
      if (end?.kind === 'fault' && end.fault.code === 'outcome_unknown') expect(world.risked.has(id)).toBe(true);
    }));
});
