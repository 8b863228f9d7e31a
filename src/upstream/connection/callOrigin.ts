/** On whose behalf a request goes to a server: what the server asks back meanwhile is for that client alone. */
export interface CallOrigin {
  /** The client's session; an origin without one is a session of its own. */
  readonly session?: object;
  /** Set by dispatch; called while the client works on a question of the server's: the call is not late meanwhile. */
  stillWorking?: () => void;
  /** Task that runs the call, where its tool can only run as one; the server's questions name it. */
  taskId?: string;
}

/** Of a request that nobody has named the origin of: what a server asks meanwhile may belong to it. */
export const NOBODY: CallOrigin = {};

/** Of a request of the gateway's own, about which no server has anything to ask; and of what a process asks before it serves anybody. */
export const OWN_BUSINESS: CallOrigin = {};
