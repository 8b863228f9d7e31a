/**
 * Replay contracts (004, Core Contracts): what may happen to a request that was lost with the process that had it.
 * They are declared here, per request mode; nothing infers them from what a server says of itself.
 */
export type ReplayContract = 'convergent' | 'probe_required' | 'never_replay';

/** What is known of the execution of a request, at any one time. */
export type ExecutionKnowledge =
  /** No process has it. To send it is its first dispatch, wherever that goes, and no replay. */
  | 'not_dispatched'
  /** A process that lives has it. */
  | 'in_flight'
  /** It has its answer. */
  | 'completed'
  /** A process had it and is gone: it ran, or ran in part, or never began. */
  | 'outcome_unknown';

/** Reads of our own: running them again converges on the same answer. */
const CONVERGENT_METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  // Twice subscribed is subscribed.
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  // Twice cancelled is cancelled.
  'tasks/cancel',
]);

const CONVERGENT_TOOLS: ReadonlySet<string> = new Set([
  'tool_browse',
  'tool_hydrate',
  'tool_view',
  'resource_browse',
  'resource_read',
  'prompt_browse',
  'prompt_get',
]);

/** All that are ours, of every mode. */
export const OWN_TOOLS: readonly string[] = [...CONVERGENT_TOOLS, 'tool_execute'];

/** In a `resources/subscribe` that a host repeats to a new worker: what changed in between nobody has told the client. */
export const RESUMED_META = 'waygate/resumed';

/** The contract of a client's request; `tool` is the name in a `tools/call`, where that is one of our own. */
export function contractOf(method: string, tool: string | undefined): ReplayContract {
  if (method === 'tools/call') return tool !== undefined && CONVERGENT_TOOLS.has(tool) ? 'convergent' : 'never_replay';
  return CONVERGENT_METHODS.has(method) ? 'convergent' : 'never_replay';
}

/** The one rule for repeating by ourselves: it never left, or running it again converges (design.md §3, 004). */
export function mayRepeat(contract: ReplayContract, knowledge: ExecutionKnowledge): boolean {
  return knowledge === 'not_dispatched' || contract === 'convergent';
}
