import type { CatalogTool } from '../../catalog/types.ts';
import type { CallRecord } from '../../control/activityContract.ts';
import { faultError } from '../../errors/faultError.ts';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { type SessionRequest, UNKNOWN_METHOD } from '../../mcp/session/sessionRequest.ts';
import { failedCallEvent } from '../../modes/gateway/toolTable.ts';
import type { CallEvent } from '../../modes/shared/callEvent.ts';
import { callRecord } from '../../modes/shared/callRecord.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { Diagnostics } from './diagnostics.ts';

export interface WorkAccountOptions {
  diagnostics: Diagnostics;
  toolOf(toolId: string): CatalogTool | undefined;
  /** Called after a change that watchers show. */
  onChange(): void;
}

const MAX_RECORDS = 100;
const SUBJECT_CHARS = 120;
const TOOL_CHARS = 64;

/** Records every call of this worker once: in the recent calls, in telemetry and in the event log. */
export class WorkAccount {
  readonly #options: WorkAccountOptions;
  readonly #recent: CallRecord[] = [];
  #nextId = 1;
  #inFlight = 0;
  #closed = false;

  constructor(options: WorkAccountOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The latest calls, newest first. Argument values are never recorded. */
  get recent(): readonly CallRecord[] {
    return [...this.#recent];
  }

  callStarted(): void {
    this.#inFlight += 1;
  }

  callEnded(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }): void {
    this.#inFlight -= 1;
    if (!this.#closed) this.#record(call, event);
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
      this.#record(record, event);
    }
    onChange();
  }

  #record(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId?: string }): void {
    this.#recent.unshift({
      ...call,
      id: this.#nextId++,
      metaTool: oneLine(call.metaTool, TOOL_CHARS),
      subject: oneLine(call.subject, SUBJECT_CHARS),
    });
    this.#recent.length = Math.min(this.#recent.length, MAX_RECORDS);
    this.#options.diagnostics.callEnded(call, event);
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
