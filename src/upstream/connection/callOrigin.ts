/** Origin of a request to a server. Questions that the server asks meanwhile go to this client only. */
export interface CallOrigin {
  /** Session of the client; an origin without one counts as its own session. */
  readonly session?: object;
  /** Capabilities that the client declared; absent for a request of no client. */
  readonly clientCapabilities?: Readonly<Record<string, unknown>>;
  /** Extends the deadline of the call while the client works on a question of the server. Set by dispatch. */
  stillWorking?: () => void;
  /** Task that runs the call, for a tool that only runs as a task. The server's questions name it. */
  taskId?: string;
}

/** Origin of a request without a known client; a question of the server may belong to it. */
export const NOBODY: CallOrigin = {};

/** Origin of the gateway's own requests, and of a process that serves no client yet. No question belongs to it. */
export const OWN_BUSINESS: CallOrigin = {};
