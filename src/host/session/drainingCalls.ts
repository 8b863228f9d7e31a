import type { Fault } from '../../errors/fault.ts';
import { CallJournal } from '../../replay/callJournal.ts';
import type { Admission, JournalCall, JournalEffects, JournalLimits, ReplyVerdict } from '../../replay/journalCall.ts';

/**
 * Calls that only a worker which was replaced can answer: those about the tasks that it still runs. Each such worker has
 * a journal of its own, because new calls go to its successor; what is open when it goes is handed on to that one.
 */
export class DrainingCalls<Payload, Reply> {
  readonly #effects: Pick<JournalEffects<Payload, Reply>, 'dispatch' | 'settle'>;
  readonly #limits: JournalLimits;
  readonly #handOn: (call: JournalCall<Payload>) => void;
  readonly #journals = new Map<number, CallJournal<Payload, Reply>>();

  constructor(
    effects: Pick<JournalEffects<Payload, Reply>, 'dispatch' | 'settle'>,
    limits: JournalLimits,
    handOn: (call: JournalCall<Payload>) => void,
  ) {
    this.#effects = effects;
    this.#limits = limits;
    this.#handOn = handOn;
  }

  get size(): number {
    return this.#all.reduce((sum, { size }) => sum + size, 0);
  }

  /** A worker has a successor, and finishes what it has. */
  drain(generation: number): void {
    const { dispatch, settle } = this.#effects;
    const journal = new CallJournal<Payload, Reply>(
      {
        dispatch,
        // Only reads and cancellations come here, which the next worker may be asked again.
        settle: (call, terminal) => (terminal.kind === 'reply' ? settle(call, terminal) : this.#handOn(call)),
      },
      this.#limits,
    );
    journal.open(generation);
    this.#journals.set(generation, journal);
  }

  /** `undefined` where that worker is none that drains. */
  admit(generation: number | undefined, call: JournalCall<Payload>): Admission | undefined {
    return generation === undefined ? undefined : this.#journals.get(generation)?.admit(call);
  }

  has(id: string): boolean {
    return this.#all.some((journal) => journal.knowledgeOf(id) !== undefined);
  }

  reply(generation: number, id: string, reply: Reply): ReplyVerdict | undefined {
    const journal = this.#journals.get(generation);
    return journal?.knowledgeOf(id) === undefined ? undefined : journal.reply(generation, id, reply);
  }

  cancel(id: string): { generation: number | undefined } | undefined {
    for (const journal of this.#all) {
      const cancelled = journal.cancel(id);
      if (cancelled) return cancelled;
    }
    return undefined;
  }

  lose(generation: number, fault: Fault): void {
    const journal = this.#journals.get(generation);
    this.#journals.delete(generation);
    journal?.lose(generation, fault);
    journal?.failWaiting(fault);
  }

  failAll(fault: Fault): void {
    for (const generation of [...this.#journals.keys()]) this.lose(generation, fault);
  }

  get #all(): CallJournal<Payload, Reply>[] {
    return [...this.#journals.values()];
  }
}
