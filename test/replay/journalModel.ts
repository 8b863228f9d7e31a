import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import type { ExecutionKnowledge, ReplayContract } from '../../src/replay/replay.ts';
import type { ProbeResolution } from '../../src/replay/requestDisposition.ts';

/** Model of the call journal, a plain form of the rules (O3). The tests compare the real journal with it. */
export interface ModelCall {
  id: string;
  contract: ReplayContract;
  at: 'queue' | 'process' | 'limbo' | 'probe';
  process: number;
  /** Number of dispatches. */
  sends: number;
  /** A process died with the call. */
  haunted: boolean;
  /** Number of processes that died with the call. */
  deaths: number;
  probes: number;
  /** Maximum of replays that the caller allows. */
  allowance: number;
  /** The process announces the begin of the call. */
  declared: boolean;
  begun: boolean;
  /** Number of processes that died before they had begun the call. */
  inVain: number;
  /** Generation that refused the call. */
  refusedBy: number;
  /** Code of the loss. */
  cause: KnownFaultCode;
}

export const MODEL_LIMITS = { maxReplays: 4, maxEnded: 3, maxProbes: 2 } as const;

export class JournalModel {
  readonly calls: ModelCall[] = [];
  readonly sent: string[] = [];
  readonly ended: string[] = [];
  /** Ids of calls that were given up while a living process has them. */
  readonly owed = new Map<string, number>();
  readonly alive = new Set<number>();
  current = 0;
  processes = 0;

  find(id: string): ModelCall | undefined {
    return this.calls.find((call) => call.id === id);
  }

  knowledge({ at, haunted }: ModelCall): ExecutionKnowledge {
    if (at === 'process') return 'in_flight';
    return haunted ? 'outcome_unknown' : 'not_dispatched';
  }

  takes(id: string): boolean {
    return !this.find(id) && !this.alive.has(this.owed.get(id) ?? -1);
  }

  admit(id: string, contract: ReplayContract, allowance: number, declared: boolean): void {
    this.owed.delete(id);
    const fresh = {
      at: 'queue',
      process: 0,
      sends: 0,
      haunted: false,
      deaths: 0,
      probes: 0,
      refusedBy: 0,
      cause: 'killed',
      begun: false,
      inVain: 0,
    } as const;
    this.calls.push({ ...fresh, id, contract, allowance, declared });
    this.pump();
  }

  pump(): void {
    if (this.current === 0) return;
    for (const call of this.calls) {
      if (call.refusedBy === this.current) continue;
      if (call.at === 'queue') {
        Object.assign(call, { at: 'process', process: this.current, sends: call.sends + 1, probes: 0, begun: false });
        this.sent.push(`${call.id}@${this.current}`);
      } else if (call.at === 'limbo') {
        Object.assign(call, { at: 'probe', process: this.current, probes: call.probes + 1 });
      }
    }
  }

  open(): number {
    this.processes += 1;
    this.current = this.processes;
    this.alive.add(this.current);
    this.pump();
    return this.current;
  }

  lose(process: number, readToEnd: boolean, cause: KnownFaultCode): void {
    this.alive.delete(process);
    if (this.current === process) this.current = 0;
    for (const call of this.calls.filter((one) => one.process === process)) {
      if (readToEnd && call.declared && !call.begun && call.at === 'process') this.wasInVain(call, cause);
      else {
        if (call.at === 'process') call.deaths += 1;
        this.bereave(call, cause);
      }
    }
    this.pump();
  }

  /** Loses a single call; the process lives. */
  loseCall(call: ModelCall): void {
    this.bereave(call, 'connection_lost');
    this.pump();
  }

  /** Takes back a dispatch without a begin, but counts the death. */
  wasInVain(call: ModelCall, cause: KnownFaultCode): void {
    const deaths = cause === 'drain_limit' ? 0 : 1;
    Object.assign(call, { at: 'queue', process: 0, sends: call.sends - 1, inVain: call.inVain + deaths });
    if (call.inVain > MODEL_LIMITS.maxReplays) this.end(call, 'not_begun');
  }

  bereave(call: ModelCall, cause: KnownFaultCode): void {
    const wasAsked = call.at === 'probe';
    Object.assign(call, { process: 0, haunted: true, cause });
    if (call.contract === 'never_replay') this.end(call, 'outcome_unknown');
    else if (call.contract === 'probe_required') {
      if (wasAsked && call.probes >= MODEL_LIMITS.maxProbes) this.end(call, 'outcome_unknown');
      else call.at = 'limbo';
    } else this.again(call);
  }

  again(call: ModelCall): void {
    const { maxReplays, maxEnded } = MODEL_LIMITS;
    const mayNot = call.sends > call.allowance;
    if (call.sends > maxReplays || call.deaths >= maxEnded || (mayNot && call.deaths >= 2)) {
      this.end(call, 'replay_exhausted');
    } else if (mayNot) this.end(call, call.cause);
    else call.at = 'queue';
  }

  handBack(call: ModelCall): void {
    Object.assign(call, { at: 'queue', refusedBy: call.process, process: 0, sends: call.sends - 1 });
    this.pump();
  }

  probed(call: ModelCall, resolution: ProbeResolution): void {
    call.process = 0;
    call.at = 'limbo';
    if (resolution === 'already_completed') this.end(call, 'completed_by_probe');
    else if (resolution === 'unresolved') this.end(call, 'outcome_unknown');
    else this.again(call);
    this.pump();
  }

  fail(call: ModelCall, code: KnownFaultCode, readToEnd = false): void {
    // The call counts as not sent.
    if (readToEnd && call.declared && !call.begun && call.at === 'process') call.at = 'queue';
    const risky = this.knowledge(call) !== 'not_dispatched' && call.contract !== 'convergent';
    this.end(call, risky ? (code === 'call_timeout' ? 'outcome_unknown_after_timeout' : 'outcome_unknown') : code);
  }

  end(call: ModelCall, how: string): void {
    this.ended.push(`${call.id}: ${how}`);
    this.forget(call);
  }

  forget(call: ModelCall): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    if (call.at === 'process') this.owed.set(call.id, call.process);
    else this.owed.delete(call.id);
  }
}
