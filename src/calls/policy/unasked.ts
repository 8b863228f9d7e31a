import { createHash } from 'node:crypto';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';

/** Shows the user, at the next opportunity, the questions that reached nobody. */
export interface LaterPort {
  /** Returns the question as it is shown: masked, and safe to hand over to another worker. */
  describe(request: ApprovalRequest): object;
  /** Shows a question until it is answered, or until `gone` aborts. */
  offer(shown: object, gone: AbortSignal, answer: (answer: ApprovalAnswer) => void): void;
}

/** Call that was refused because nobody could be asked, or that the user has permitted since. */
interface UnaskedCall {
  /** Digest of the approval, the client and everything that the call sends. Equal calls have one question. */
  readonly call: string;
  /** Key of the approval. */
  readonly key: string;
  readonly session: object;
  readonly shown: object;
  /** Time of the refusal or of the permission, in milliseconds since the epoch. */
  at: number;
  /** The user permits the next such call. */
  isPermitted: boolean;
  /** Ends the offer of the question. */
  readonly over: AbortController;
}

const MAX_CALLS = 16;
/** Limit of a question, because the host keeps it too. The call of a longer one is refused, and not kept. */
const MAX_CHARS = 16_000;
const KEPT_MS = 24 * 60 * 60_000;

/**
 * Keeps the questions about calls that were refused because nobody could be asked, until the user answers them in a
 * window. They are in memory alone: of the worker, and of the host as a part of the session. The arguments are masked.
 */
export class UnaskedCalls {
  readonly #port: LaterPort | undefined;
  readonly #now: () => number;
  readonly #onAnswer: (call: { key: string; session: object }, answer: ApprovalAnswer) => void;
  readonly #onChange: (session: object) => void;
  #calls: UnaskedCall[] = [];

  constructor(
    port: LaterPort | undefined,
    {
      onAnswer,
      onChange,
      now = Date.now,
    }: {
      /** Called for an answer that allows more than the next call. */
      onAnswer(call: { key: string; session: object }, answer: ApprovalAnswer): void;
      /** Called when what is kept of a session has changed. */
      onChange(session: object): void;
      now?: () => number;
    },
  ) {
    this.#port = port;
    this.#onAnswer = onAnswer;
    this.#onChange = onChange;
    this.#now = now;
  }

  /** Keeps the question of a refused call, instead of an earlier one about an equal call. */
  keep(request: ApprovalRequest, key: string): void {
    if (!this.#port) return;
    const shown = this.#port.describe(request);
    if (JSON.stringify(shown).length > MAX_CHARS) return;
    const call = identityOf(request, key);
    this.#remove((one) => one.call === call);
    this.#add({ call, key, session: request.session, shown, at: this.#now(), isPermitted: false });
    this.#onChange(request.session);
  }

  /** Uses up the user's permission for a call, if there is one. */
  permits(request: ApprovalRequest, key: string): boolean {
    this.#dropOld();
    // Most workers keep nothing, and need no digest.
    if (!this.#calls.some((one) => one.isPermitted && one.key === key)) return false;
    const call = identityOf(request, key);
    return this.#remove((one) => one.isPermitted && one.call === call) > 0;
  }

  /** Withdraws the question of a call about which the user is asked now. */
  withdraw(request: ApprovalRequest, key: string): void {
    if (this.#calls.length === 0) return;
    const call = identityOf(request, key);
    this.#remove((one) => one.call === call);
  }

  /** Withdraws the questions that an approval has answered: all of a key, or those of one session. */
  settle(key: string, session?: object): void {
    this.#remove((one) => one.key === key && (session === undefined || one.session === session));
  }

  /** Returns what is kept of a session, to hand over to another process. */
  memoryOf(session: object): object[] | undefined {
    this.#dropOld();
    const own = this.#calls.filter((one) => one.session === session);
    if (own.length === 0) return undefined;
    return own.map(({ call, key, shown, at, isPermitted }) => ({ call, key, shown, at, isPermitted }));
  }

  /** Restores the result of `memoryOf`. */
  remember(session: object, memory: unknown): void {
    if (!Array.isArray(memory)) return;
    for (const one of memory as unknown[]) {
      if (!isRecord(one) || !isRecord(one.shown)) continue;
      const { call, key, shown, at, isPermitted } = one;
      if (typeof call !== 'string' || typeof key !== 'string' || typeof at !== 'number') continue;
      if (this.#calls.some((known) => known.call === call)) continue;
      this.#add({ call, key, session, shown, at, isPermitted: isPermitted === true });
    }
    this.#dropOld();
  }

  #add(given: Omit<UnaskedCall, 'over'>): void {
    const kept: UnaskedCall = { ...given, over: new AbortController() };
    this.#calls.push(kept);
    this.#dropOld();
    if (kept.isPermitted || kept.over.signal.aborted) return;
    this.#port?.offer(kept.shown, kept.over.signal, (answer) => this.#answer(kept, answer));
  }

  #answer(kept: UnaskedCall, answer: ApprovalAnswer): void {
    if (!this.#calls.includes(kept) || kept.isPermitted) return;
    kept.over.abort();
    if (answer === 'once') {
      kept.isPermitted = true;
      kept.at = this.#now();
      this.#onChange(kept.session);
      return;
    }
    this.#remove((one) => one === kept);
    this.#onAnswer(kept, answer);
  }

  #dropOld(): void {
    const oldest = this.#now() - KEPT_MS;
    const surplus = new Set(this.#calls.slice(0, Math.max(0, this.#calls.length - MAX_CALLS)));
    this.#remove((one) => one.at < oldest || surplus.has(one));
  }

  /** Removes calls and returns how many there were. */
  #remove(isRemoved: (call: UnaskedCall) => boolean): number {
    const removed = this.#calls.filter(isRemoved);
    if (removed.length === 0) return 0;
    this.#calls = this.#calls.filter((one) => !removed.includes(one));
    for (const { over } of removed) over.abort();
    for (const session of new Set(removed.map(({ session }) => session))) this.#onChange(session);
    return removed.length;
  }
}

function identityOf({ args, sent = args, trace }: ApprovalRequest, key: string): string {
  return createHash('sha256')
    .update(canonicalJson([key, trace?.client ?? '', sent]))
    .digest('base64url');
}
