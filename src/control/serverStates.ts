/** How a server's state is shown: each form maps it to its own icon or colour. */
export type StateLevel = 'ok' | 'progress' | 'idle' | 'off' | 'warning' | 'error';

interface StateTraits {
  words: string;
  level: StateLevel;
  /** The server should run and does not. */
  down?: true;
  /** The server does nothing until the user acts. */
  needsUser?: true;
  /** Calls reach the server, or start it. */
  up?: true;
  /** Heading and advice of the note that a model reads; without a note a model need not know the state. */
  note?: readonly [heading: string, advice?: string];
  /** Why the server's tools cannot be called, for a model that calls one. */
  kept?: { says: string; advice: string; retryable?: true };
}

const OR_ANOTHER = 'or use another tool.';

const table = <State extends string>(states: Record<State, StateTraits>): Readonly<Record<State, StateTraits>> =>
  states;

/** All states of a configured server, in the order in which notes name them. */
export const SERVER_STATES = table({
  ready: { words: 'ready', level: 'ok', up: true },
  not_started: { words: 'not started', level: 'idle', up: true },
  starting: {
    words: 'starting',
    level: 'progress',
    note: ['Still starting', 'browse again shortly'],
    kept: { says: 'is still starting', advice: 'Call again shortly.', retryable: true },
  },
  needs_sign_in: {
    words: 'needs sign-in',
    level: 'warning',
    down: true,
    needsUser: true,
    note: ['Needs sign-in', 'ask the user'],
    kept: { says: 'needs the user to sign in', advice: `Ask the user to sign in, ${OR_ANOTHER}` },
  },
  needs_secret: {
    words: 'needs a secret',
    level: 'warning',
    down: true,
    needsUser: true,
    note: ['Needs a secret', 'ask the user'],
    kept: { says: 'needs a secret that nobody has set', advice: `Ask the user to set it, ${OR_ANOTHER}` },
  },
  needs_approval: {
    words: 'needs approval',
    level: 'warning',
    needsUser: true,
    note: ['Needs approval', 'ask the user'],
    kept: { says: "waits for the user's approval", advice: `Ask the user to approve it, ${OR_ANOTHER}` },
  },
  failed: {
    words: 'failed',
    level: 'error',
    down: true,
    needsUser: true,
    note: ['Failed'],
    kept: { says: 'has failed', advice: `Ask the user to look at this server, ${OR_ANOTHER}` },
  },
  stopped: { words: 'stopped', level: 'idle' },
  disabled: {
    words: 'disabled',
    level: 'off',
    kept: { says: 'is switched off in the configuration', advice: 'Use another tool, or ask the user.' },
  },
});

export type ServerState = keyof typeof SERVER_STATES;

/** One kind of misbehaviour of a server, and how often it occurred. */
export interface ServerOddity {
  kind: string;
  count: number;
  /** Name of several of the kind, for a person. */
  words: string;
}

const SHOWN_ODDITIES = 3;

/** Lists the most frequent kinds of misbehaviour: `lines on stdout that are no messages (1,200)`. */
export function oddityWords(oddities: readonly ServerOddity[]): string {
  const shown = oddities
    .slice(0, SHOWN_ODDITIES)
    .map(({ words, count }) => `${words} (${count.toLocaleString('en-US')})`);
  const more = oddities.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
