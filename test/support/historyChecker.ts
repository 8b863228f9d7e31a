import { readFileSync } from 'node:fs';

/** Line of a fault server's effect log, written before the answer. */
export interface Effect {
  nonce: string;
  attempt: number;
  pid: number;
}

/** Outcome of a call as reported to its client. */
export type Outcome =
  | 'ok'
  /** The server reported an error, or that it did nothing. */
  | 'failed'
  /** `outcome: not_dispatched`: nothing was sent. */
  | 'not_dispatched'
  /** `outcome: unknown`: it may have taken effect. */
  | 'unknown';

export interface Reply {
  id: number | string;
  outcome: Outcome;
  /** Nonce in the answer, if the server answered. */
  nonce?: string | undefined;
}

export interface Invocation {
  id: number | string;
  nonce: string;
  contract: 'convergent' | 'never_replay';
}

/** Events in the order in which the client saw them. */
export type HistoryEvent =
  | ({ event: 'invoke' } & Invocation)
  | { event: 'cancel'; id: number | string }
  | ({ event: 'reply' } & Reply);

interface Call extends Invocation {
  cancelled: boolean;
  replies: Reply[];
}

/**
 * Returns the violations that a history and an effect log prove, one sentence each: one terminal reply per id, with its
 * own nonce; no convergent call lost; no repeated effect of a call that must not run twice; every unknown outcome
 * reported; no effect of a call that was not sent; no reply after a cancellation (O3).
 */
export function violationsOf(history: readonly HistoryEvent[], effects: readonly Effect[]): string[] {
  const { calls, strays } = callsOf(history);
  const effectsOf = new Map<string, number>();
  for (const { nonce } of effects) effectsOf.set(nonce, (effectsOf.get(nonce) ?? 0) + 1);
  const nonces = new Set([...calls.values()].map(({ nonce }) => nonce));
  const unasked = [...effectsOf.keys()].filter((nonce) => !nonces.has(nonce));
  return [
    ...strays,
    ...unasked.map((nonce) => `an effect of ${nonce}, which nobody asked for`),
    ...[...calls.values()].flatMap((call) => violationsOfCall(call, effectsOf.get(call.nonce) ?? 0)),
  ];
}

function callsOf(history: readonly HistoryEvent[]): { calls: Map<string, Call>; strays: string[] } {
  const calls = new Map<string, Call>();
  const strays: string[] = [];
  for (const event of history) {
    const key = `${typeof event.id} ${event.id}`;
    const call = calls.get(key);
    if (event.event === 'invoke') {
      if (call) strays.push(`id ${event.id} was invoked twice`);
      else calls.set(key, { ...event, cancelled: false, replies: [] });
    } else if (!call) strays.push(`a ${event.event} for id ${event.id}, which was never invoked`);
    else if (event.event === 'cancel') call.cancelled ||= call.replies.length === 0;
    else if (call.cancelled) strays.push(`id ${event.id} was answered after it had been cancelled`);
    else call.replies.push(event);
  }
  return { calls, strays };
}

function violationsOfCall(call: Call, effects: number): string[] {
  const { id, nonce, contract, cancelled, replies } = call;
  const wrong: string[] = [];
  if (replies.length > 1) wrong.push(`id ${id} was answered ${replies.length} times`);
  if (replies.length === 0 && !cancelled) wrong.push(`id ${id} (${nonce}) was never answered`);
  if (contract === 'never_replay' && effects > 1) wrong.push(`${nonce} must not be repeated and ran ${effects} times`);
  for (const { outcome, nonce: answered } of replies) {
    if (outcome === 'ok' && answered !== nonce)
      wrong.push(`id ${id} was answered with ${answered} instead of ${nonce}`);
    if (outcome === 'ok' && effects === 0) wrong.push(`${nonce} was reported as done and never ran`);
    if (outcome === 'not_dispatched' && effects > 0) wrong.push(`${nonce} was reported as not sent and ran`);
    if (outcome === 'failed' && effects > 0) wrong.push(`${nonce} ran, and its outcome was not reported as unknown`);
    if (contract === 'convergent' && outcome !== 'ok') {
      wrong.push(`${nonce} may be repeated and was lost (${outcome})`);
    }
  }
  return wrong;
}

/** Reads the effect log of a fault server. The last line may be incomplete if the server was killed. */
export function readEffects(file: string): Effect[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop();
  return lines.map((line) => JSON.parse(line) as Effect);
}
