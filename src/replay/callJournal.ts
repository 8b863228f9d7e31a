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
import { type ExecutionKnowledge, mayRepeat, type ReplayContract } from './replay.ts';
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

  /** Returns whether no generation has the call. */
  isWaiting(id: string): boolean {
    return this.#shelf.get(id)?.generation === 0;
  }

  /** Returns whether a call may run elsewhere without asking: it has certainly not begun, or is convergent (O3.3). */
  mayRepeat(id: string): boolean {
    const entry = this.#shelf.get(id);
    if (!entry) return false;
    return mayRepeat(entry.call.contract, isUnbegun(entry) ? 'not_dispatched' : knowledgeOf(entry));
  }

  /** Admits a call and sends it as soon as possible. */
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

  /** Opens a generation: it gets the waiting calls, and all new ones from now on. */
  open(generation: number): void {
    this.#live.add(generation);
    this.#latest = generation;
    this.#current = generation;
    this.#advanceAll();
  }

  /** Retires a generation: it finishes its calls and gets no more. */
  retire(generation: number): void {
    if (this.#current === generation) this.#current = undefined;
  }

  /**
   * Reports a lost generation. Later replies of it do not count. `readToEnd`: the caller has read every frame of the
   * generation, so calls without a begin have not begun.
   */
  lose(generation: number, fault: Fault, { readToEnd = false } = {}): void {
    if (!this.#live.delete(generation)) return;
    this.retire(generation);
    for (const entry of this.#shelf.all) {
      if (entry.generation !== generation || !this.#shelf.holds(entry)) continue;
      if (readToEnd && isUnbegun(entry)) this.#takeBackUnbegun(entry, fault);
      else {
        if (entry.phase === 'in_flight') entry.ended += 1;
        this.#lose(entry, fault);
      }
    }
    this.#advanceAll();
  }

  /**
   * Reports the loss of one call's HTTP stream: no reply can come on it. The generation lives, and may answer a probe
   * or get the call again.
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

  /** Takes back a call that a generation never accepted. Sending it elsewhere is no replay. */
  handBack(generation: number, id: string): boolean {
    const entry = this.#shelf.with(generation, id);
    if (!entry) return false;
    this.#takeBack(entry, generation);
    return true;
  }

  /**
   * Sets the contract of a call from the generation that has it. The host does not know the tool behind `tool_execute`.
   */
  reclassify(generation: number, id: string, terms: { contract: ReplayContract; canProbe: boolean }): boolean {
    const entry = this.#shelf.with(generation, id);
    if (!entry) return false;
    entry.call = { ...entry.call, ...terms };
    return true;
  }

  /** Records that a generation is about to begin a call, which may have an effect from now on. */
  begin(generation: number, id: string): boolean {
    const entry = this.#shelf.with(generation, id);
    if (entry) entry.begun = true;
    return entry !== undefined;
  }

  /** Returns the payload of a call that a generation has. */
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

  /** Cancels a call: it gets no answer and is not sent again. Returns the generation that has it. */
  cancel(id: string): { generation: number | undefined } | undefined {
    const entry = this.#shelf.get(id);
    if (!entry) return undefined;
    const generation = entry.phase === 'in_flight' ? entry.generation : undefined;
    this.#shelf.remove(entry, false);
    this.#counts.cancelled += 1;
    return { generation };
  }

  /** Gives up one call, for example at its deadline. `readToEnd`: the generation would have announced a begin. */
  fail(id: string, fault: Fault, { readToEnd = false } = {}): boolean {
    const entry = this.#shelf.get(id);
    if (!entry) return false;
    if (readToEnd && isUnbegun(entry)) this.#uncount(entry);
    this.#fail(entry, fault);
    return true;
  }

  /** Fails all calls that wait for a generation, because none can be had. */
  failWaiting(fault: Fault): void {
    for (const entry of this.#shelf.all) if (entry.generation === 0) this.#fail(entry, fault);
  }

  /** Fails all calls, because their maker goes away. */
  failAll(fault: Fault): void {
    for (const entry of this.#shelf.all) this.#fail(entry, fault);
  }

  #advanceAll(): void {
    for (const entry of this.#shelf.all) this.#advance(entry);
  }

  /** Sends a waiting call, or probes a held one, if there is a generation for it. */
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
    // The dispatch may have settled or lost the call.
    if (this.#shelf.with(generation, entry.call.id) === entry) this.#takeBack(entry, generation);
  }

  #takeBack(entry: JournalEntry<Payload>, generation: number): void {
    this.#uncount(entry);
    entry.refusedBy = generation;
    this.#advance(entry);
  }

  /** Takes back a call that did not begin. Such a call may kill each process that reads it. */
  #takeBackUnbegun(entry: JournalEntry<Payload>, fault: Fault): void {
    this.#uncount(entry);
    // A replaced generation did not end because of this call.
    if (fault.class === 'rollout') return;
    entry.unbegun += 1;
    if (entry.unbegun > this.#limits.maxReplays) this.#settleFault(entry, faultFrom('not_begun', fault));
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
    // At least two generations ended, and each had this call: assume that it kills them.
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
      // A call without any replay allowed fails with its loss, not as exhausted.
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
