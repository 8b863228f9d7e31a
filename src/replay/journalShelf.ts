import type { JournalCall, JournalLimits } from './journalCall.ts';
import { isWith, type JournalEntry, newEntry, type Phase } from './journalEntry.ts';

export type RefusalCode = 'duplicate_id' | 'queue_overflow' | 'queue_bytes';

/** The calls that are not over and the ids of those that are, within bounds. Every count here costs the same at any size. */
export class JournalShelf<Payload> {
  readonly #limits: Pick<JournalLimits, 'maxCalls' | 'maxBytes' | 'maxWaiting'>;
  /** In the order in which they were made, which is the order in which they are sent. */
  readonly #entries = new Map<string, JournalEntry<Payload>>();
  readonly #settled = new SettledIds();
  #bytes = 0;
  #waiting = 0;

  constructor(limits: Pick<JournalLimits, 'maxCalls' | 'maxBytes' | 'maxWaiting'>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A copy: what is done with one may change the others. */
  get all(): readonly JournalEntry<Payload>[] {
    return [...this.#entries.values()];
  }

  get(id: string): JournalEntry<Payload> | undefined {
    return this.#entries.get(id);
  }

  /** The call, if this generation is the one whose reply counts. */
  with(generation: number, id: string): JournalEntry<Payload> | undefined {
    const entry = this.#entries.get(id);
    return entry && isWith(entry, generation) ? entry : undefined;
  }

  holds(entry: JournalEntry<Payload>): boolean {
    return this.#entries.get(entry.call.id) === entry;
  }

  /** Why a call is not taken: the same id twice could not be told apart, and a queue without bounds ends everybody. */
  refusalOf(
    { id, bytes }: JournalCall<Payload>,
    hasGeneration: boolean,
    isLive: (generation: number) => boolean,
  ): RefusalCode | undefined {
    const { maxCalls, maxBytes, maxWaiting } = this.#limits;
    if (this.#entries.has(id) || this.#settled.isOutstanding(id, isLive)) return 'duplicate_id';
    if (this.size >= maxCalls || (!hasGeneration && this.#waiting >= maxWaiting)) return 'queue_overflow';
    // One call alone may be of any size that its frame may have.
    return this.size > 0 && this.#bytes + bytes > maxBytes ? 'queue_bytes' : undefined;
  }

  add(call: JournalCall<Payload>): JournalEntry<Payload> {
    const entry = newEntry(call);
    this.#entries.set(call.id, entry);
    this.#bytes += call.bytes;
    this.#waiting += 1;
    return entry;
  }

  setPhase(entry: JournalEntry<Payload>, phase: Phase): void {
    this.#waiting += Number(phase === 'waiting') - Number(entry.phase === 'waiting');
    entry.phase = phase;
  }

  remove(entry: JournalEntry<Payload>, answered: boolean): void {
    const { id, bytes } = entry.call;
    this.#entries.delete(id);
    this.#bytes -= bytes;
    if (entry.phase === 'waiting') this.#waiting -= 1;
    this.#settled.add(id, { answered, generation: entry.phase === 'in_flight' ? entry.generation : 0 });
  }

  /** What a reply is to which no call answers. */
  verdictOf(id: string): 'duplicate' | 'late' | 'unknown' {
    return this.#settled.verdictOf(id);
  }
}

/** What became of a call whose reply may still come. */
interface Settled {
  answered: boolean;
  /** Who has it; 0 for nobody. */
  generation: number;
}

/** Late replies come soon or never. */
const MAX_REMEMBERED = 1_024;

/** The ids of calls that are over, the latest of them: tells a late reply from one that nobody asked for. */
class SettledIds {
  readonly #settled = new Map<string, Settled>();

  add(id: string, settled: Settled): void {
    this.#settled.delete(id);
    this.#settled.set(id, settled);
    if (this.#settled.size > MAX_REMEMBERED) this.#settled.delete(this.#settled.keys().next().value as string);
  }

  verdictOf(id: string): 'duplicate' | 'late' | 'unknown' {
    const settled = this.#settled.get(id);
    if (settled === undefined) return 'unknown';
    return settled.answered ? 'duplicate' : 'late';
  }

  /** Whether a reply to an earlier call with this id may still come from a generation that lives. */
  isOutstanding(id: string, isLive: (generation: number) => boolean): boolean {
    const settled = this.#settled.get(id);
    return settled?.answered === false && isLive(settled.generation);
  }
}
