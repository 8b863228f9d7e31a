import fc from 'fast-check';
import { expect } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { CallJournal } from '../../src/replay/callJournal.ts';
import type { Terminal } from '../../src/replay/journalCall.ts';

export const MAX_REPLAYS = 2;

/**
 * Clients, processes that may die at any moment, and the messages between them, in any order that the scheduler
 * chooses. The tests judge by the effect log and the replies, never by the journal itself.
 */
export abstract class JournalWorld {
  readonly effects = new Map<string, number>();
  readonly dispatches = new Map<string, number>();
  readonly terminals = new Map<string, Terminal<string>[]>();
  readonly journal: CallJournal<null, string>;
  /** Living processes; a new one may start beside the old. */
  protected readonly alive = new Set<number>();
  /** Process of each call's last dispatch. */
  protected readonly holders = new Map<string, number>();
  readonly #scheduler: fc.Scheduler;
  #generation = 0;

  constructor(scheduler: fc.Scheduler, maxProbes = 0) {
    this.#scheduler = scheduler;
    this.journal = new CallJournal<null, string>(
      {
        dispatch: ({ id }, generation) => {
          bump(this.dispatches, id);
          this.holders.set(id, generation);
          void this.serve(id, generation);
          return true;
        },
        probe: ({ id }, generation) => void this.probe(id, generation),
        settle: ({ id }, terminal) => void this.terminals.set(id, [...(this.terminals.get(id) ?? []), terminal]),
      },
      { maxCalls: 100, maxBytes: 100, maxWaiting: 100, maxReplays: MAX_REPLAYS, maxProbes, retryAfter: 1 },
    );
  }

  /** Executes a call in a process. */
  protected abstract serve(id: string, generation: number): Promise<void>;
  protected async probe(_id: string, _generation: number): Promise<void> {}
  /** Called after a process has ended. */
  protected ended(_generation: number, _readToEnd: boolean): void {}
  /** Called for each call of an ended process. */
  protected abstract lost(id: string, generation: number, readToEnd: boolean): void;

  start(): void {
    this.#generation += 1;
    this.alive.add(this.#generation);
    this.journal.open(this.#generation);
  }

  /** Kills the oldest living process. */
  kill(readToEnd: boolean): void {
    const [dead] = this.alive;
    if (dead === undefined) return;
    this.alive.delete(dead);
    this.ended(dead, readToEnd);
    for (const [id, holder] of this.holders) {
      if (holder === dead && this.journal.knowledgeOf(id) === 'in_flight') this.lost(id, dead, readToEnd);
    }
    this.journal.lose(
      dead,
      faultOf('killed', { generation: dead }, (text) => text),
      { readToEnd },
    );
  }

  /** Lets the scheduler run other events. */
  async later(label: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), label);
  }

  at(label: string, act: () => void): void {
    void this.later(label).then(act);
  }

  endOf(id: string): Terminal<string> | undefined {
    return this.terminals.get(id)?.[0];
  }
}

export function bump(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}

export interface Play<World, Plan> {
  begin(scheduler: fc.Scheduler): World;
  plan: fc.Arbitrary<Plan>;
  /** Whether all frames of a killed process are read. */
  readToEnd: fc.Arbitrary<boolean>;
  /** Performs the client's plan for a call. */
  call(world: World, id: string, plan: Plan): void;
}

/** Checks a property of every call in any order of events. */
export const inAnyOrder =
  <World extends JournalWorld, Plan>({ begin, plan, readToEnd, call }: Play<World, Plan>) =>
  (judge: (world: World, id: string, plan: Plan) => void): Promise<void> =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(plan, { minLength: 1, maxLength: 6 }),
        fc.array(readToEnd, { maxLength: 5 }),
        async (scheduler, plans, kills) => {
          const world = begin(scheduler);
          world.at('first start', () => world.start());
          for (const [i, one] of plans.entries()) call(world, `c${i}`, one);
          for (const [k, isHeardOut] of kills.entries()) {
            world.at(`kill ${k}${isHeardOut ? ', heard out' : ''}`, () => world.kill(isHeardOut));
            world.at(`start ${k}`, () => world.start());
          }
          await scheduler.waitIdle();
          // Start a living process, so that every call can end.
          world.start();
          await scheduler.waitIdle();
          for (const [i, one] of plans.entries()) judge(world, `c${i}`, one);
          expect([world.journal.size, world.journal.bytes]).toEqual([0, 0]);
        },
      ),
      { seed: 7, numRuns: 600 },
    );
