/** Meaning of a server state to the programs, to a model and to a person. */
interface ServerStateRow {
  /** Words of the state, for a person. */
  words: string;
  /** Can take a call. A known server that does not run starts with its first call. */
  isUp?: true;
  /** Should run and does not. A server that was not started yet, or may not run at all, is not down. */
  isDown?: true;
  /** Serves nothing until the user acts. */
  needsPerson?: true;
  /** Line of `tool_browse` that lists the servers in this state; `withReasons` adds a line per server. */
  note?: {
    title: string;
    remedy?: string;
    /** Command of the remedy for several servers; each server has its own. */
    command?: string;
    withReasons?: true;
  };
  /** Answer to a model that asks for a tool of such a server. */
  absent?: { says: string; advice: string; retryable?: true };
  /** Icon of the row in the tree. A server that serves has none. */
  icon?: { id: string; color?: string };
  /** Symbol and colour in the dashboard. */
  glyph: 'check' | 'progress' | 'circle' | 'slash' | 'error' | 'warning';
}

const OR_ANOTHER = 'or use another tool.';
const WARNING = 'list.warningForeground';

/**
 * Every state of a server. A new state needs a row here and a branch in `upstream/connection/connectionStatus.ts`,
 * which derives the state. A menu for it goes into `scripts/contributes/`.
 */
export const SERVER_STATES = {
  disabled: {
    words: 'off',
    absent: { says: 'is switched off in the configuration', advice: 'Use another tool, or ask the user.' },
    icon: { id: 'circle-slash' },
    glyph: 'slash',
  },
  not_started: { words: 'asleep', isUp: true, glyph: 'circle' },
  ready: { words: 'ready', isUp: true, glyph: 'check' },
  stopped: { words: 'stopped', glyph: 'circle' },
  starting: {
    words: 'starting',
    note: { title: 'Still starting', remedy: 'browse again shortly' },
    absent: { says: 'is still starting', advice: 'Call again shortly.', retryable: true },
    icon: { id: 'loading~spin' },
    glyph: 'progress',
  },
  needs_sign_in: {
    words: 'needs sign-in',
    isDown: true,
    needsPerson: true,
    note: { title: 'Needs sign-in', remedy: 'ask the user', command: 'waygate login NAME' },
    absent: { says: 'needs the user to sign in', advice: `Ask the user to sign in, ${OR_ANOTHER}` },
    icon: { id: 'key', color: WARNING },
    glyph: 'warning',
  },
  needs_secret: {
    words: 'needs a secret',
    isDown: true,
    needsPerson: true,
    note: { title: 'Needs a secret', remedy: 'ask the user', command: 'waygate secret set NAME', withReasons: true },
    absent: { says: 'needs a secret that is not set', advice: `Ask the user to set it, ${OR_ANOTHER}` },
    icon: { id: 'key', color: WARNING },
    glyph: 'warning',
  },
  needs_approval: {
    words: 'needs approval',
    needsPerson: true,
    note: { title: 'Needs approval', remedy: 'ask the user', command: 'waygate approve --all' },
    absent: { says: "waits for the user's approval", advice: `Ask the user to approve it, ${OR_ANOTHER}` },
    icon: { id: 'shield', color: WARNING },
    glyph: 'warning',
  },
  failed: {
    words: 'failed',
    isDown: true,
    needsPerson: true,
    note: { title: 'Failed', withReasons: true },
    absent: { says: 'has failed', advice: `Ask the user to look at this server, ${OR_ANOTHER}` },
    icon: { id: 'error', color: 'list.errorForeground' },
    glyph: 'error',
  },
} as const satisfies Record<string, ServerStateRow>;

export type ServerState = keyof typeof SERVER_STATES;

/** Returns the row of a state, with every field of a row. */
export function serverState(state: ServerState): ServerStateRow {
  return SERVER_STATES[state];
}
