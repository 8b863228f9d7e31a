/** Calls of the gateway as the editor shows them. Types only. */

/** `waiting`: the user was asked and has not answered. */
export type CallPhase = 'waiting' | 'running' | 'done';

/** `unknown`: the server got the call and no answer came, so it may or may not have acted. */
export type CallEffect = 'none' | 'done' | 'unknown';

export interface CallRecord {
  /** Grows with every call of one worker, and starts again with the next worker (`WorkerStatus.pid`). */
  id: number;
  at: number;
  /** Id of the MCP session; `you` for calls of the user in the editor. */
  session: string;
  client: string;
  /** Conversation of the client, where its requests name one. */
  conversation?: string;
  /** Name of the gateway tool, or the method. */
  metaTool: string;
  /** Subject of the call, shortened: query, path, tool_id or handle. Never argument values. */
  subject: string;
  /** Server and tool that ran or was to run. */
  server?: string;
  toolId?: string;
  phase: CallPhase;
  /** Time since `at` so far. Time in which the user was asked is not part of it. */
  durationMs: number;
  /** Absent until the call is done. */
  outcome?: 'ok' | 'error';
  errorCode?: string;
  /** The error in one sentence. */
  errorMessage?: string;
  /** Tokens of the result as the server sent it, and of the answer as the model got it (cl100k, about). */
  tokensIn?: number;
  tokensOut?: number;
  attempts: number;
  effect: CallEffect;
  /** Handles of the artifacts that the call made. */
  handles: readonly string[];
}

export interface CallFilter {
  server?: string;
  toolId?: string;
  client?: string;
  outcome?: 'ok' | 'error' | 'unfinished';
}

export interface CallPage {
  /** Newest first. */
  calls: readonly CallRecord[];
  /** Older calls exist: ask with `before` set to the id of the last one. */
  more: boolean;
}

/** Everything about one call. Kept in memory only, bounded, and without known secrets. */
export interface CallDetails {
  record: CallRecord;
  /** Arguments of the call, masked; absent if `activity.keepArguments` is false or they were dropped for space. */
  arguments?: unknown;
  /** Text of the answer as the model got it. */
  answer?: string;
  /** Why arguments and answer are absent. */
  dropped?: 'switched_off' | 'space' | 'too_large';
  /** Repairs and notes that were made. */
  repairs: readonly { path: string; rule: string }[];
  problems: readonly string[];
  /** Tries at the server, the last one last. */
  attempts: readonly { at: number; durationMs?: number; outcome: string }[];
  /** Duration of each stage of the call, in order. */
  stages: readonly { stage: string; durationMs: number }[];
  fault?: CallFault;
}

export interface CallFault {
  code: string;
  message: string;
  /** Step for the user or the model. */
  advice?: string;
  details?: Readonly<Record<string, unknown>>;
  /** Steps that the gateway took: restarts, replays, waits. */
  handled: readonly string[];
  /** Last lines of the server's stderr at that moment. */
  stderr: readonly string[];
}

/** Window of a limit. */
export interface LimitWindow {
  /** Id of the session; absent for a limit that all sessions share. */
  session?: string;
  client?: string;
  /** `tool_execute/minute`, `tool:{id}/session` … */
  scope: string;
  limit: number;
  left: number;
  /** Time until a call fits again, or until one more fits; absent where waiting does not help. */
  freesInMs?: number;
}

export interface LimitsReport {
  windows: readonly LimitWindow[];
  /** Why the limits cannot be read; all calls are refused then. */
  unreadable?: string;
}

/** Outcome of a refresh of one server. */
export interface Refreshed {
  server: string;
  added: number;
  removed: number;
  changed: number;
  /** Why the server could not be listed. */
  reason?: string;
}
