/**
 * Replay contract: decides about a request that was lost with its process (O3.1). Waygate declares contracts per
 * request here; nothing infers them from statements of a server.
 */
export type ReplayContract = 'convergent' | 'probe_required' | 'never_replay';

/** State of knowledge about a request's execution (O3.2). */
export type ExecutionKnowledge =
  /** No process has the request. Sending it is its first dispatch, wherever it goes, and no replay. */
  | 'not_dispatched'
  /** A living process has the request. */
  | 'in_flight'
  /** The request has its answer. */
  | 'completed'
  /** A process had the request and is gone: the request ran, ran in part, or never began. */
  | 'outcome_unknown';

/** Waygate's own reads, which are convergent (O3.5). */
const CONVERGENT_METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  // Subscribing twice has the effect of subscribing once.
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  // Cancelling twice has the effect of cancelling once.
  'tasks/cancel',
]);

/** Marks a `resources/subscribe` that the host repeats to a new worker: the client missed changes in between. */
export const RESUMED_META = 'waygate/resumed';

/** Returns the contract of a client's request. Gateway tools declare theirs; other tools are not repeated. */
export function contractOf(method: string): ReplayContract {
  return CONVERGENT_METHODS.has(method) ? 'convergent' : 'never_replay';
}

/** Returns whether a request may be repeated without asking: not dispatched, or convergent (O3.3). */
export function mayRepeat(contract: ReplayContract, knowledge: ExecutionKnowledge): boolean {
  return knowledge === 'not_dispatched' || contract === 'convergent';
}
