import { CallTrace } from '../../calls/pipeline/callTrace.ts';
import type { CallDetails, CallFilter, CallPage, CallRecord } from '../../control/activityContract.ts';
import type { BegunCall, EndedCall } from '../../modes/shared/callRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { ActiveCall, type Figures, roughBytes } from './activeCall.ts';

export interface ActivityOptions {
  /** Whether arguments and answers are kept (`activity.keepArguments`). */
  keeps(): boolean;
  /** Last lines of a server's stderr. */
  stderrOf(server: string): readonly string[];
  /** Called when a call begins, changes its phase, ends or was counted. */
  onCall(call: ActiveCall): void;
}

const MAX_ENDED = 500;
/** Bounds of the arguments and answers, which are in memory only. */
const MAX_KEPT = 200;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_CALL_BYTES = 512 * 1024;
const MAX_PAGE = 500;
const SUBJECT_CHARS = 120;
const TOOL_CHARS = 64;
const STDERR_LINES = 20;
/** Sessions and conversations with calls, whose limits the user can look at. */
const MAX_CALLERS = 100;

/** Session or conversation that has made calls. `owner` is the object that its quotas count for. */
export interface Caller {
  session: string;
  client: string;
  owner: object;
}

/** Calls that run, and the last ones that ended, for the user. */
export class Activity {
  readonly #options: ActivityOptions;
  readonly #running = new Map<number, ActiveCall>();
  /** Oldest first. */
  readonly #ended = new Map<number, ActiveCall>();
  /** Entries with arguments or an answer, oldest first. */
  readonly #kept = new Set<ActiveCall>();
  readonly #callers = new Map<object, Caller>();
  #keptBytes = 0;
  #nextId = 1;

  constructor(options: ActivityOptions) {
    this.#options = options;
  }

  begin({ args, owner, signal, ...begun }: BegunCall): CallTrace {
    const id = this.#nextId++;
    const call: ActiveCall = new ActiveCall(
      new CallTrace({ id, client: begun.client, signal }, () => this.#options.onCall(call)),
      { ...begun, metaTool: oneLine(begun.metaTool, TOOL_CHARS), subject: oneLine(begun.subject, SUBJECT_CHARS) },
    );
    if (this.#options.keeps()) call.args = args;
    this.#running.set(id, call);
    this.#note({ session: begun.session, client: begun.client, owner });
    this.#options.onCall(call);
    return call.trace;
  }

  /** Records a call that ended. A call without a trace was answered elsewhere. */
  end(record: Omit<CallRecord, 'id'>, { trace, answer, error }: EndedCall): ActiveCall {
    const call = (trace && this.#running.get(trace.id)) ?? this.#foreign(record);
    this.#running.delete(call.id);
    call.finish(record, { answer, error });
    const { server } = call.record;
    if (server !== undefined && error?.fault) call.stderr = this.#options.stderrOf(server).slice(-STDERR_LINES);
    this.#keep(call);
    this.#ended.set(call.id, call);
    for (const [oldest] of this.#ended) {
      if (this.#ended.size <= MAX_ENDED) break;
      this.#ended.delete(oldest);
    }
    this.#options.onCall(call);
    return call;
  }

  /** Forgets a running call that another process records. */
  abandon(trace: CallTrace | undefined): void {
    if (trace) this.#running.delete(trace.id);
  }

  /** Adds the figures of a call, which are counted after its answer. */
  counted(call: ActiveCall, figures: Figures): void {
    call.add(figures);
    if (this.#ended.has(call.id)) this.#options.onCall(call);
  }

  /** Calls that run or ended, the newest first. */
  page({ before = Number.POSITIVE_INFINITY, limit, filter = {} }: PageRequest): CallPage {
    const fitting = [...this.#ended.values(), ...this.#running.values()]
      .filter(({ id }) => id < before)
      .sort((a, b) => b.id - a.id)
      .map(({ record }) => record)
      .filter((record) => fits(record, filter));
    const calls = fitting.slice(0, Math.min(Math.max(1, limit), MAX_PAGE));
    return { calls, more: fitting.length > calls.length };
  }

  /** Everything about one call; null if it is no longer kept. */
  details(id: number): CallDetails | null {
    const call = this.#running.get(id) ?? this.#ended.get(id);
    return call ? call.details() : null;
  }

  cancel(id: number): boolean {
    const call = this.#running.get(id);
    call?.trace.cancel();
    return call !== undefined;
  }

  /** Removes the calls that ended. */
  clear(): number {
    const cleared = this.#ended.size;
    this.#ended.clear();
    this.#kept.clear();
    this.#keptBytes = 0;
    return cleared;
  }

  /** Removes some of the calls that ended. Returns their number. */
  forget(ids: readonly number[]): number {
    const calls = ids.flatMap((id) => this.#ended.get(id) ?? []);
    for (const call of calls) {
      this.#ended.delete(call.id);
      if (this.#kept.delete(call)) this.#keptBytes -= call.bytes;
    }
    return calls.length;
  }

  /** Sessions and conversations that have made calls, the latest last. */
  get callers(): readonly Caller[] {
    return [...this.#callers.values()];
  }

  sessionEnded(session: string): void {
    for (const [owner, caller] of this.#callers) if (caller.session === session) this.#callers.delete(owner);
  }

  /** Call that made an artifact, where it is known. */
  callOf(handle: string): number | undefined {
    for (const call of [...this.#ended.values()].reverse()) {
      if (call.record.handles.includes(handle)) return call.id;
    }
    return undefined;
  }

  #note(caller: Caller): void {
    this.#callers.delete(caller.owner);
    this.#callers.set(caller.owner, caller);
    for (const owner of this.#callers.keys()) {
      if (this.#callers.size <= MAX_CALLERS) break;
      this.#callers.delete(owner);
    }
  }

  #foreign(record: Omit<CallRecord, 'id'>): ActiveCall {
    const id = this.#nextId++;
    return new ActiveCall(new CallTrace({ id, client: record.client, signal: NEVER }), record);
  }

  #keep(call: ActiveCall): void {
    if (!this.#options.keeps()) call.drop('switched_off');
    const bytes = roughBytes(call.content, MAX_CALL_BYTES);
    if (bytes > MAX_CALL_BYTES) call.drop('too_large');
    else if (call.dropped === undefined) {
      call.bytes = bytes;
      this.#kept.add(call);
      this.#keptBytes += bytes;
    }
    for (const oldest of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= oldest.bytes;
      oldest.drop('space');
    }
  }
}

interface PageRequest {
  before?: number;
  limit: number;
  filter?: CallFilter;
}

function fits(record: CallRecord, { server, toolId, client, outcome }: CallFilter): boolean {
  return (
    (server === undefined || record.server === server) &&
    (toolId === undefined || record.toolId === toolId) &&
    (client === undefined || record.client === client) &&
    (outcome === undefined || (outcome === 'unfinished' ? record.phase !== 'done' : record.outcome === outcome))
  );
}

/** Signal of calls that ended before they were recorded. */
const NEVER = new AbortController().signal;
