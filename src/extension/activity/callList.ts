import type { CallRecord } from '../../control/activityContract.ts';
import type { CallKey } from '../documents/addresses.ts';

/** Call of the list, with the worker that ran it. */
export interface Call extends CallRecord, CallKey {
  /** Name of the folder's gateway. */
  folder: string;
  /** Time at which this state came, in milliseconds since the epoch: `durationMs` counts up from then. */
  seenAt: number;
  /** The worker ended during the call, so its end is unknown. */
  lost?: true;
}

/** Calls of one client and conversation. */
export interface CallGroup {
  key: string;
  client: string;
  /** Time of the first call that is listed. */
  at: number;
  calls: readonly Call[];
}

export const MAX_CALLS = 500;

export const callKey = ({ run, id }: CallKey): string => `call:${run}:${id}`;

export const groupKey = ({ session, conversation = '' }: CallRecord): string =>
  `group:${JSON.stringify([session, conversation])}`;

export const isOpen = (call: Call): boolean => call.phase !== 'done' && !call.lost;

/** Calls through one gateway since the window opened, of all its workers, bounded. */
export class CallList {
  readonly #folder: string;
  readonly #calls = new Map<string, Call>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Calls, newest first. */
  get calls(): readonly Call[] {
    return [...this.#calls.values()].sort(newestFirst);
  }

  find(key: CallKey): Call | undefined {
    return this.#calls.get(callKey(key));
  }

  /** Accepts calls as a worker reports them. Returns those that are new or changed. */
  accept(run: number, records: readonly CallRecord[], now: number): Call[] {
    const accepted = records.flatMap((record) => {
      const call: Call = { ...record, run, folder: this.#folder, seenAt: now };
      const known = this.find(call);
      // A page may be older than a notification that came before it.
      if (known && isOlder(call, known)) return [];
      this.#calls.set(callKey(call), call);
      return [call];
    });
    for (const oldest of this.calls.slice(MAX_CALLS)) this.#calls.delete(callKey(oldest));
    return accepted;
  }

  /** Marks calls as lost that had not ended when their worker ended. Returns them. */
  lose(now: number): Call[] {
    const lost = this.calls.filter(isOpen).map((call): Call => {
      const durationMs = call.durationMs + Math.max(0, now - call.seenAt);
      return { ...call, durationMs, seenAt: now, lost: true };
    });
    for (const call of lost) this.#calls.set(callKey(call), call);
    return lost;
  }

  /** Removes all calls that have ended, or some of them. */
  clear(calls: Iterable<CallKey> = [...this.#calls.values()]): void {
    for (const key of [...calls].map(callKey)) {
      const call = this.#calls.get(key);
      if (call && !isOpen(call)) this.#calls.delete(key);
    }
  }
}

/** Groups calls that are sorted newest first. Groups and their calls keep this order. */
export function grouped(calls: readonly Call[]): CallGroup[] {
  const groups = new Map<string, Call[]>();
  for (const call of calls) groups.set(groupKey(call), [...(groups.get(groupKey(call)) ?? []), call]);
  return [...groups].map(([key, members]) => ({
    key,
    client: members[0]?.client ?? '',
    at: members.at(-1)?.at ?? 0,
    calls: members,
  }));
}

/** True for a report from before another one. Tokens and handles of a call are counted after its end. */
function isOlder(call: Call, known: Call): boolean {
  if (known.phase === 'done')
    return call.phase !== 'done' || (known.tokensOut !== undefined && call.tokensOut === undefined);
  return known.phase === call.phase && known.durationMs > call.durationMs;
}

export function newestFirst(a: Call, b: Call): number {
  return b.at - a.at || b.run - a.run || b.id - a.id;
}
