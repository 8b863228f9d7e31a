/**
 * Scenarios of revision 2026-07-28 that do not apply to Waygate, with the reasons. Those of the extension for tasks are
 * not scored by the suite either.
 */
const TASKS = 'It is about the extension for tasks, which Waygate does not offer to clients.';
const OWN_KEY =
  'It wants the key "user_name" for the question; the key is the server’s choice, and Waygate asks under a key of its own.';

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
  'input-required-result-basic-elicitation': OWN_KEY,
  'input-required-result-ignore-extra-params': OWN_KEY,
  'input-required-result-multiple-input-requests':
    'It wants three questions in one result; Waygate asks one after another, as clients of the older revisions need it.',
};

/** Scenarios about tools and prompts that only `roundsServer.mjs` has. */
export const NEEDS_ROUNDS = /^(input-required-result-|server-stateless$)/;

/** Scenario that is run with a session of its own. */
export const OF_A_NEW_SESSION = 'input-required-result-basic-list-roots';
