import type { RequestId } from '../../link/frames.ts';
import type { SessionMemory } from '../../link/movingSession.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { Progress, RequestOptions } from '../outgoingRequests.ts';

/** Question to the user, with the fields of a form. */
export interface Question {
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
}

export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown> | undefined;
}

/** Asks the user in the client. */
export interface AskUser {
  (question: Question): Promise<QuestionAnswer>;
  /** The client may never answer, so no other call must wait for it. */
  inRounds?: boolean;
}

/** Client at the other end of a session: its identity, its capabilities, and the way to address it. */
export interface ClientPeer {
  /** Object that all parts of one MCP session share, across its conversations. */
  readonly session: object;
  readonly client: SessionClient;
  /** `ClientCapabilities` as the client sent them; of a client that sends them with each request, those of the request. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The client has revision 2026-07-28: its host takes `QUESTIONS_METHOD`, and refuses what a request does not allow. */
  readonly takesRounds?: boolean;
  notify(method: string, params?: Record<string, unknown>): void;
  /** Sends a request. Rejects with an error that has the client's JSON-RPC `code`, or when the client has gone. */
  request(method: string, params: Record<string, unknown>, options: RequestOptions): Promise<Record<string, unknown>>;
}

/** History of a replayed request on earlier workers. */
export interface Resent {
  /** Whether an earlier worker has counted the request. */
  counted?: boolean;
  /** Number of earlier workers that may have begun the request. */
  replays?: number;
}

/** Session of the user's own calls in the editor. */
export const YOU = 'you';

/** Caller of a tool. `session` is the same object for all calls of one session, and the key for a mode's state. */
export interface CallContext extends Resent {
  signal: AbortSignal;
  client: string;
  session: object;
  /** Id of the MCP session, as the status of the worker has it; `YOU` for calls of the user in the editor. */
  sessionId?: string;
  /** Id of the request; absent where no MCP client has made it. */
  id?: RequestId;
  /** `_meta` of the request, unchanged. */
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** Client, addressed on behalf of this request: messages belong to it and travel on its stream. */
  peer?: ClientPeer;
  /** Sends progress to the client; absent where the client did not ask for it. */
  progress?: (progress: Progress) => void;
  /**
   * Announces the call's replay contract to the host before the begin. Without an announcement it is `never_replay`.
   */
  contract?: (contract: ReplayContract) => void;
  /**
   * Announces the begin of the call to the host, and the tool that runs. Until then the call counts as not sent (O3.8).
   * Await the promise, if there is one: the announcement has not left yet. After a rejection, send nothing of the call.
   */
  begins?: (contract: ReplayContract, toolId: string) => Promise<void> | undefined;
  /** Asks the user in the client; absent where the client cannot. */
  ask?: AskUser;
}

/** Mode of a session as plain data in and out, so that the SDK stays in this room. */
export interface SessionMode {
  serverInfo: { name: string; title: string; version: string };
  capabilities: Record<string, unknown>;
  instructions: string;
  /** Resolves to the answer of `initialize`. Without it, the values above apply. */
  introduce?(): Promise<{ capabilities: Record<string, unknown>; instructions?: string | undefined }>;
  listTools(client?: SessionClient): readonly object[] | Promise<readonly object[]>;
  /** Calls a tool. Faults are results (G4.8); rejects with an `RpcError` for an error of JSON-RPC from a server. */
  callTool(name: string, args: unknown, call: CallContext): Promise<object>;
  /** Returns whether a tool is a read of the gateway's own, which need not wait for the session's calls. */
  isRead?(name: string): boolean;
  /** Handles any other request; `undefined` for an unknown method. Rejects with an `RpcError`. */
  request?(method: string, params: Readonly<Record<string, unknown>>, call: CallContext): Promise<object> | undefined;
  /** Handles notifications of the client. */
  notification?(method: string, params: Readonly<Record<string, unknown>>, peer: ClientPeer): void;
  /** State that moves with a session to the next worker. */
  memory?: SessionMemory;
  /** Called before `initialize` is answered. The session calls the returned function at its end. */
  greet?(peer: ClientPeer): () => void;
  /** Called for an initialized session. The session calls the returned function at its end. */
  open?(peer: ClientPeer): () => void;
}

export interface SessionClient {
  name: string;
  version: string;
  protocolVersion: string;
}
