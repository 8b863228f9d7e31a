/**
 * Scenarios of revision 2026-07-28 that do not apply to Waygate, with the reasons. Those of the extension for tasks are
 * not scored by the suite either.
 */
const TASKS = 'It is about the extension for tasks, which Waygate does not offer to clients.';

export const NOT_IN_MODERN_ERA: Readonly<Record<string, string>> = {
  'tasks-lifecycle': TASKS,
  'tasks-capability-negotiation': TASKS,
  'tasks-wire-fields': TASKS,
  'tasks-request-state-removal': TASKS,
  'tasks-mrtr-input': TASKS,
  'tasks-request-headers': TASKS,
  'tasks-dispatch-and-envelope': TASKS,
  'tasks-status-notifications': TASKS,
  'tasks-required-task-error': TASKS,
  'tasks-mrtr-composition': TASKS,
  'http-custom-header-server-validation':
    'It wants a tool with x-mcp-header; Waygate routes nothing by arguments, and removes the keyword from what it lists.',
};

/** Scenarios about tools and prompts that only `roundsServer.mjs` has. */
export const NEEDS_ROUNDS = /^(input-required-result-|server-stateless$)/;
