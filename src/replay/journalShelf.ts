import type { JournalCall, JournalLimits } from './journalCall.ts';
import { isWith, type JournalEntry, newEntry, type Phase } from './journalEntry.ts';

export type RefusalCode = 'duplicate_id' | 'queue_overflow' | 'queue_bytes';

/** Open calls, and the ids of finished ones, within bounds. Every count takes constant time. */
export class JournalShelf<Payload> {
  readonly #limits: Pick<JournalLimits, 'maxCalls' | 'maxBytes' | 'maxWaiting'>;
  /** Entries in the order of admission, which is the order of dispatch. */
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

  /** Returns a copy, because handling one entry may change the others. */
  get all(): readonly JournalEntry<Payload>[] {
    return [...this.#entries.values()];
  }

  get(id: string): JournalEntry<Payload> | undefined {
    return this.#entries.get(id);
  }

  /** Returns the call if a reply of this generation counts. */
  with(generation: number, id: string): JournalEntry<Payload> | undefined {
    const entry = this.#entries.get(id);
    return entry && isWith(entry, generation) ? entry : undefined;
  }

  holds(entry: JournalEntry<Payload>): boolean {
    return this.#entries.get(entry.call.id) === entry;
  }

  /** Returns why a call is rejected: a duplicate id would be ambiguous, and an unbounded queue would exhaust memory. */
  refusalOf(
    { id, bytes }: JournalCall<Payload>,
    hasGeneration: boolean,
    isLive: (generation: number) => boolean,
  ): RefusalCode | undefined {
    const { maxCalls, maxBytes, maxWaiting } = this.#limits;
    if (this.#entries.has(id) || this.#settled.isOutstanding(id, isLive)) return 'duplicate_id';
    if (this.size >= maxCalls || (!hasGeneration && this.#waiting >= maxWaiting)) return 'queue_overflow';
    // A single call may have any size that its frame allows.
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

  /** Returns the verdict about a reply without an open call. */
  verdictOf(id: string): 'duplicate' | 'late' | 'unknown' {
    return this.#settled.verdictOf(id);
  }
}

/** Finished call with a reply that may still come. */
interface Settled {
  answered: boolean;
  /** Generation that has the call; 0 for none. */
  generation: number;
}

/** Limit of remembered ids. Late replies come soon or never. */
const MAX_REMEMBERED = 1_024;

/** Latest ids of finished calls, which distinguish a late reply from an unknown one. */
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

  /** Returns whether a living generation may still reply to an earlier call with this id. */
  isOutstanding(id: string, isLive: (generation: number) => boolean): boolean {
    const settled = this.#settled.get(id);
    return settled?.answered === false && isLive(settled.generation);
  }
}
