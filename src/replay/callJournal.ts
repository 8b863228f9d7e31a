import { type Fault, faultFrom, faultOf } from '../errors/fault.ts';
import {
  type Admission,
  type JournalCall,
  type JournalCounts,
  type JournalEffects,
  type JournalLimits,
  noCounts,
  type ReplyVerdict,
  type Terminal,
} from './journalCall.ts';
import { isUnbegun, isWith, type JournalEntry, knowledgeOf } from './journalEntry.ts';
import { JournalShelf } from './journalShelf.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';
import { dispositionOf, type ProbeResolution } from './requestDisposition.ts';

/**
 * Keeps calls between their maker and a process that may die (O3.7). The journal knows which process has which call,
 * ends each call exactly once, and decides by contract about the calls of a lost process. Processes are numbered
 * generations; several may live at once, and new calls go to the one opened last.
 *
 * The journal holds no timer and performs no I/O. The host keeps the requests of a client in one, a server connection
 * its calls in another.
 */
export class CallJournal<Payload, Reply> {
  readonly #effects: JournalEffects<Payload, Reply>;
  readonly #limits: JournalLimits;
  readonly #shelf: JournalShelf<Payload>;
  readonly #live = new Set<number>();
  readonly #counts: JournalCounts = noCounts();
  #current: number | undefined;
  #latest = 1;

  constructor(effects: JournalEffects<Payload, Reply>, limits: JournalLimits) {
    this.#effects = effects;
    this.#limits = limits;
    this.#shelf = new JournalShelf(limits);
  }

  get size(): number {
    return this.#shelf.size;
  }

  get bytes(): number {
    return this.#shelf.bytes;
  }

  get counts(): Readonly<JournalCounts> {
    return structuredClone(this.#counts);
  }

  knowledgeOf(id: string): ExecutionKnowledge | undefined {
    const entry = this.#shelf.get(id);
    return entry && knowledgeOf(entry);
  }

  /** Whether it is with nobody. */
  isWaiting(id: string): boolean {
    return this.#shelf.get(id)?.generation === 0;
  }

  /** Takes a call and sends it as soon as it can. */
  admit(call: JournalCall<Payload>): Admission {
    const code = this.#shelf.refusalOf(call, this.#current !== undefined, (one) => this.#live.has(one));
    if (code) {
      this.#counts.rejected += 1;
      const fault = faultOf(code, { generation: this.#latest }, (text) => text);
      return { admitted: false, fault, ...(code === 'duplicate_id' ? {} : { retryAfter: this.#limits.retryAfter }) };
    }
    const entry = this.#shelf.add(call);
    this.#counts.admitted += 1;
    this.#advance(entry);
    return { admitted: true };
  }

  /** A generation is ready: it gets what waits, and from now on what comes. */
  open(generation: number): void {
    this.#live.add(generation);
    this.#latest = generation;
    this.#current = generation;
    this.#advanceAll();
  }

  /** A generation finishes what it has and gets nothing more. */
  retire(generation: number): void {
    if (this.#current === generation) this.#current = undefined;
  }

  /**
   * A generation is gone, or given up: no reply of it counts any more. `heardOut`: everything that it ever said has been
   * heard, so that what it has not said is known too.
   */
  lose(generation: number, fault: Fault, { heardOut = false } = {}): void {
    if (!this.#live.delete(generation)) return;
    this.retire(generation);
    for (const entry of this.#shelf.all) {
      if (entry.generation !== generation || !this.#shelf.holds(entry)) continue;
      if (heardOut && isUnbegun(entry)) this.#takeBackUnbegun(entry, fault);
      else {
        if (entry.phase === 'in_flight') entry.ended += 1;
        this.#lose(entry, fault);
      }
    }
    this.#advanceAll();
  }

  /**
   * The way of one call alone is gone, a stream of HTTP: no reply to it can come any more. Its generation lives, and may
   * be asked about it or be sent it again.
   */
  loseCall(generation: number, id: string, fault: Fault): boolean {
    const entry = this.#shelf.with(generation, id);
    if (!entry) return false;
    this.#lose(entry, fault);
    this.#advance(entry);
    return true;
  }

  reply(generation: number, id: string, reply: Reply): ReplyVerdict {
    const entry = this.#shelf.get(id);
    const verdict = entry === undefined ? this.#shelf.verdictOf(id) : isWith(entry, generation) ? 'delivered' : 'stale';
    this.#counts.replies[verdict] += 1;
    if (entry && verdict === 'delivered') {
      this.#settle(entry, { kind: 'reply', reply, generation, dispatches: entry.dispatches });
    }
    return verdict;
  }

  /** A generation tells that it never took a call: to send it elsewhere is no replay. */
  handBack(generation: number, id: string): boolean {
    const entry = this.#shelf.with(generation, id);
    if (!entry) return false;
    this.#takeBack(entry, generation);
    return true;
  }

  /** Who has a call learns what its contract is: `tool_execute` has that of its tool, which the host does not know. */
  reclassify(generation: number, id: string, terms: { contract: ReplayContract; canProbe: boolean }): boolean {
    const entry = this.#shelf.with(generation, id);
    if (!entry) return false;
    entry.call = { ...entry.call, ...terms };
    return true;
  }

  /** Who has a call is about to begin with it: from now on it may have taken effect. */
  begin(generation: number, id: string): boolean {
    const entry = this.#shelf.with(generation, id);
    if (entry) entry.begun = true;
    return entry !== undefined;
  }

  /** What a generation has. */
  payloadWith(generation: number, id: string): Payload | undefined {
    return this.#shelf.with(generation, id)?.call.payload;
  }

  resolveProbe(generation: number, id: string, resolution: ProbeResolution): boolean {
    const entry = this.#shelf.get(id);
    if (entry?.phase !== 'probing' || entry.generation !== generation) return false;
    entry.generation = 0;
    this.#decide(entry, entry.lastFault as Fault, resolution);
    this.#advance(entry);
    return true;
  }

  /** Whoever made it no longer wants its answer: it gets none, and is not sent again. Returns who has it. */
  cancel(id: string): { generation: number | undefined } | undefined {
    const entry = this.#shelf.get(id);
    if (!entry) return undefined;
    const generation = entry.phase === 'in_flight' ? entry.generation : undefined;
    this.#shelf.remove(entry, false);
    this.#counts.cancelled += 1;
    return { generation };
  }

  /** Gives one call up, for a deadline most often. `heardOut`: who has it would have been heard to begin with it. */
  fail(id: string, fault: Fault, { heardOut = false } = {}): boolean {
    const entry = this.#shelf.get(id);
    if (!entry) return false;
    if (heardOut && isUnbegun(entry)) this.#uncount(entry);
    this.#fail(entry, fault);
    return true;
  }

  /** No generation is to be had: what waits for one is answered without. */
  failWaiting(fault: Fault): void {
    for (const entry of this.#shelf.all) if (entry.generation === 0) this.#fail(entry, fault);
  }

  /** Whoever makes the calls goes: nothing is left open. */
  failAll(fault: Fault): void {
    for (const entry of this.#shelf.all) this.#fail(entry, fault);
  }

  #advanceAll(): void {
    for (const entry of this.#shelf.all) this.#advance(entry);
  }

  /** Sends what waits and asks what is held, if there is a generation for it and nobody was faster. */
  #advance(entry: JournalEntry<Payload>): void {
    const generation = this.#current;
    if (!this.#shelf.holds(entry)) return;
    if (generation === undefined || entry.refusedBy === generation) {
      if (entry.generation === 0) this.#effects.wait?.(entry.call);
    } else if (entry.phase === 'waiting') this.#dispatch(entry, generation);
    else if (entry.phase === 'held') {
      this.#shelf.setPhase(entry, 'probing');
      entry.generation = generation;
      entry.probes += 1;
      this.#counts.probed += 1;
      this.#effects.probe?.(entry.call, generation);
    }
  }

  #dispatch(entry: JournalEntry<Payload>, generation: number): void {
    this.#shelf.setPhase(entry, 'in_flight');
    entry.generation = generation;
    entry.dispatches += 1;
    entry.probes = 0;
    entry.begun = false;
    this.#counts[entry.dispatches === 1 ? 'dispatched' : 'replayed'] += 1;
    if (this.#effects.dispatch(entry.call, generation, entry.dispatches - 1)) return;
    this.retire(generation);
    // It may have been settled, or lost, while it was being sent.
    if (this.#shelf.with(generation, entry.call.id) === entry) this.#takeBack(entry, generation);
  }

  #takeBack(entry: JournalEntry<Payload>, generation: number): void {
    this.#uncount(entry);
    entry.refusedBy = generation;
    this.#advance(entry);
  }

  /** It was sent in vain, and may be what ends whoever reads it. */
  #takeBackUnbegun(entry: JournalEntry<Payload>, fault: Fault): void {
    this.#uncount(entry);
    // One that was replaced has not ended by what it had.
    if (fault.class === 'rollout') return;
    entry.unbegun += 1;
    if (entry.unbegun > this.#limits.maxReplays) this.#settleFault(entry, faultFrom('replay_exhausted', fault));
  }

  #uncount(entry: JournalEntry<Payload>): void {
    this.#counts[entry.dispatches === 1 ? 'dispatched' : 'replayed'] -= 1;
    entry.dispatches -= 1;
    this.#shelf.setPhase(entry, 'waiting');
    entry.generation = 0;
  }

  #lose(entry: JournalEntry<Payload>, fault: Fault): void {
    entry.lastFault = fault;
    entry.generation = 0;
    entry.lost = true;
    this.#decide(entry, fault, undefined);
  }

  #decide(entry: JournalEntry<Payload>, fault: Fault, probe: ProbeResolution | undefined): void {
    this.#shelf.setPhase(entry, 'waiting');
    const { contract, maxReplays = this.#limits.maxReplays } = entry.call;
    const { maxEnded = ALWAYS } = this.#limits;
    const { dispatches, ended } = entry;
    // Where all that may have it have ended with it, two at least, nothing else is known of it either.
    const endsAll = ended >= maxEnded || (maxEnded < ALWAYS && ended >= 2 && dispatches > maxReplays);
    const isExhausted = dispatches > this.#limits.maxReplays || endsAll;
    const mayReplay = !isExhausted && dispatches <= maxReplays;
    const disposition = dispositionOf({ knowledge: knowledgeOf(entry), contract, probe, mayReplay });
    if (disposition === 'replay') return;
    if (disposition === 'hold_for_probe') this.#holdForProbe(entry, fault);
    else if (disposition === 'complete_from_probe') {
      this.#counts.completed_by_probe += 1;
      this.#settle(entry, { kind: 'completed_by_probe', dispatches: entry.dispatches });
    } else if (disposition !== 'reject_replay_exhausted') {
      this.#settleFault(entry, faultFrom('outcome_unknown', fault));
    } else {
      // Whoever made it may want no more of it: that says nothing of the call, which was lost like others.
      this.#settleFault(entry, isExhausted ? faultFrom('replay_exhausted', fault) : fault);
    }
  }

  #holdForProbe(entry: JournalEntry<Payload>, fault: Fault): void {
    const canAsk = entry.call.canProbe && this.#effects.probe !== undefined;
    if (canAsk && entry.probes < this.#limits.maxProbes) this.#shelf.setPhase(entry, 'held');
    else this.#decide(entry, fault, 'unresolved');
  }

  #fail(entry: JournalEntry<Payload>, fault: Fault): void {
    const mayHaveTakenEffect = knowledgeOf(entry) !== 'not_dispatched' && entry.call.contract !== 'convergent';
    const ambiguous = fault.class === 'timeout' ? 'outcome_unknown_after_timeout' : 'outcome_unknown';
    this.#settleFault(entry, mayHaveTakenEffect ? faultFrom(ambiguous, fault) : fault);
  }

  #settleFault(entry: JournalEntry<Payload>, fault: Fault): void {
    const { call, dispatches } = entry;
    if (!this.#shelf.holds(entry)) return;
    this.#counts.faulted += 1;
    this.#settle(entry, { kind: 'fault', fault, knowledge: knowledgeOf(entry), contract: call.contract, dispatches });
  }

  #settle(entry: JournalEntry<Payload>, terminal: Terminal<Reply>): void {
    this.#shelf.remove(entry, terminal.kind === 'reply');
    this.#effects.settle(entry.call, terminal);
  }
}

const ALWAYS = Number.POSITIVE_INFINITY;
