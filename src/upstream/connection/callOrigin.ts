/** On whose behalf a request goes to a server: what the server asks back meanwhile is for that client alone. */
export interface CallOrigin {
  /** The client's session; an origin without one is a session of its own. */
  readonly session?: object;
  /** Set by dispatch; called while the client works on a question of the server's: the call is not late meanwhile. */
  stillWorking?: () => void;
  /** The task that was begun for it; what its server asks for that one names it (2025-11-25, Tasks). */
  task?: { readonly id: string /** As the client knows it, where it does. */; readonly shownAs?: string };
  /** Settles when it is known whether there is a task: what a server asks for it may come before that. */
  creating?: Promise<unknown>;
}

/** Of a request that nobody has named the origin of: what a server asks meanwhile may belong to it. */
export const NOBODY: CallOrigin = {};

/** Of a request of the gateway's own, about which no server has anything to ask; and of what a process asks before it serves anybody. */
export const OWN_BUSINESS: CallOrigin = {};
