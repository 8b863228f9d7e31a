import type { CallTrace } from '../../calls/pipeline/callTrace.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { CallRecord } from '../../control/activityContract.ts';
import { faultError } from '../../errors/faultError.ts';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { type SessionRequest, UNKNOWN_METHOD } from '../../mcp/session/sessionRequest.ts';
import { failedCallEvent } from '../../modes/gateway/toolTable.ts';
import type { CallEvent } from '../../modes/shared/callEvent.ts';
import type { BegunCall, EndedCall } from '../../modes/shared/callRecord.ts';
import { callRecord } from '../../modes/shared/callRecord.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import { Activity, type ActivityOptions } from './activity.ts';
import type { Diagnostics } from './diagnostics.ts';

export interface WorkAccountOptions extends ActivityOptions {
  diagnostics: Diagnostics;
  toolOf(toolId: string): CatalogTool | undefined;
  /** Called after a change that watchers show. */
  onChange(): void;
}

/** Length of the list in the snapshots. */
const MAX_RECENT = 100;

/** Records every call of this worker once: in the activity, in telemetry and in the event log. */
export class WorkAccount {
  readonly activity: Activity;
  readonly #options: WorkAccountOptions;
  #inFlight = 0;
  #closed = false;

  constructor(options: WorkAccountOptions) {
    this.#options = options;
    this.activity = new Activity(options);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The latest calls, newest first. */
  get recent(): readonly CallRecord[] {
    return this.activity.page({ limit: MAX_RECENT }).calls;
  }

  callStarted(call: BegunCall): CallTrace {
    this.#inFlight += 1;
    return this.activity.begin(call);
  }

  callEnded(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }, end: EndedCall): void {
    this.#inFlight -= 1;
    if (this.#closed) this.activity.abandon(end.trace);
    else this.#record(call, event, end);
    this.#options.onChange();
  }

  /** Ignores calls that end from now on: the next worker serves them, or their hosts report them to it as lost. */
  close(): void {
    this.#closed = true;
  }

  /** Records calls that a host answered with an error because there was no worker. */
  lost(calls: readonly LostCall[], client: string): void {
    const { diagnostics, toolOf, onChange } = this.#options;
    for (const call of calls) {
      if (call.tool === undefined) {
        diagnostics.sessionAnswered(lostRequest(call));
        continue;
      }
      const { record, event } = lostToolCall(call, client, toolOf);
      this.#record(record, event, { trace: undefined });
    }
    onChange();
  }

  #record(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }, end: EndedCall): void {
    const server = call.toolId === undefined ? undefined : this.#options.toolOf(call.toolId)?.server;
    const ended = this.activity.end({ ...call, ...(server !== undefined && { server }) }, end);
    this.#options.diagnostics.callEnded(ended.record, event, (figures) => this.activity.counted(ended, figures));
  }
}

export function lostToolCall(
  { method, tool: given = '', toolId, runs, took, fault, knowledge, contract, dispatches }: LostCall,
  client: string,
  toolOf: (toolId: string) => CatalogTool | undefined,
): { record: Omit<CallRecord, 'id'>; event: CallEvent } {
  const error = faultError(fault, { subject: undefined, knowledge, contract, dispatches });
  // A client may call a server's tool by a name of its own.
  const name = runs ? 'tool_execute' : given;
  const metaTool = given === method ? method : name;
  const event = failedCallEvent(name, { tool_id: toolId }, error, toolOf);
  const call = { at: Date.now() - took, client, session: '', metaTool, subject: toolId ?? '', durationMs: took };
  return { record: callRecord(call, event), event };
}

export function lostRequest({ method, contract, took, dispatches }: LostCall): SessionRequest {
  // Requests of MCP's own methods are reads. An unknown method gets no row of its own.
  const named = contract === 'convergent' ? method : UNKNOWN_METHOD;
  return { method: named, latencyMs: took, failed: INTERNAL_ERROR, replays: Math.max(0, dispatches - 1) };
}
