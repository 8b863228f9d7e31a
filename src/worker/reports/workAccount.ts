import { randomUUID } from 'node:crypto';
import type { CatalogTool } from '../../catalog/types.ts';
import type { CallRecord } from '../../control/contract.ts';
import type { KeptCounts } from '../../control/healthContract.ts';
import { BUILD } from '../../lib/build.ts';
import type { CallEvent } from '../../modes/shared/callEvents.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import { Activity } from '../../telemetry/activity.ts';
import type { Diagnostics } from './diagnostics.ts';
import { lostRequest, lostToolCall } from './lostCalls.ts';

export interface WorkAccountOptions {
  diagnostics: Diagnostics;
  toolOf(toolId: string): CatalogTool | undefined;
  /** Something that a watcher shows has changed. */
  onChange(): void;
}

/** The account of a gateway's calls: each is told and counted once, here or, what is handed on, by its successor. */
export class WorkAccount {
  readonly activity = new Activity();
  readonly #options: WorkAccountOptions;
  /** What was taken over from others, by its id. */
  readonly #inherited = new Set<string>();
  #inFlight = 0;
  #closed = false;

  constructor(options: WorkAccountOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  callStarted(): void {
    this.#inFlight += 1;
  }

  callEnded(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }): void {
    this.#inFlight -= 1;
    // Its successor serves it, or is told of its loss by the host.
    if (!this.#closed) this.#note(call, event);
    this.#options.onChange();
  }

  /** What ends from now on ends with this worker, and is told and counted by the next. */
  close(): void {
    this.#closed = true;
  }

  /** What hosts have answered because there was no worker. */
  lost(calls: readonly LostCall[], client: string): void {
    const { diagnostics, toolOf, onChange } = this.#options;
    for (const call of calls) {
      if (call.tool === undefined) diagnostics.sessionAnswered(lostRequest(call));
      else {
        const { record, event } = lostToolCall(call, client, toolOf);
        this.#note(record, event);
      }
    }
    onChange();
  }

  /** What was counted and noted so far; it is the successor's from now on. */
  takeCounts(): KeptCounts {
    const telemetry = this.#options.diagnostics.takeCounts();
    return { id: randomUUID(), build: BUILD, telemetry, recentCalls: this.activity.take() };
  }

  /** What comes again, because it was not heard that it was taken, is not counted again. */
  inherit({ id, build, telemetry, recentCalls }: KeptCounts): { inherited: boolean } {
    if (build !== BUILD) return { inherited: false };
    if (this.#inherited.has(id)) return { inherited: true };
    this.#inherited.add(id);
    this.#options.diagnostics.inherit(telemetry);
    this.activity.inherit(recentCalls);
    this.#options.onChange();
    return { inherited: true };
  }

  #note(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }): void {
    this.activity.add(call);
    this.#options.diagnostics.callEnded(call, event);
  }
}
