import type { RequestId } from '../../link/frames.ts';
import type { SessionMemory } from '../../link/movingSession.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import type { ReplayContract } from '../../replay/replay.ts';

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** A question to the person, with the fields of a form. */
export interface Question {
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
}

export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown> | undefined;
}

export interface PeerRequestOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Asks the client to tell how far it is. */
  onProgress?: (progress: Progress) => void;
}

/** The client at the other end of a session: what it is, what it can do, and how to speak to it. */
export interface ClientPeer {
  /** The same object for everything of one MCP session, whatever conversations it has. */
  readonly session: object;
  readonly client: SessionClient;
  /** `ClientCapabilities`, as the client sent them. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  notify(method: string, params?: Record<string, unknown>): void;
  /** Rejects with an error that has the client's JSON-RPC `code`, or when the client has gone. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: PeerRequestOptions,
  ): Promise<Record<string, unknown>>;
}

/** What became of a request on the workers before, where it is sent again. */
export interface Resent {
  /** One has counted it among the session's calls. */
  counted?: boolean;
  /** How many of them may have begun with it. */
  replays?: number;
}

/** Who calls. `session` is the same object for one session's calls: what a mode remembers of it hangs on it. */
export interface CallContext extends Resent {
  signal: AbortSignal;
  client: string;
  session: object;
  /** The request's own id; absent where no MCP client has made it. */
  id?: RequestId;
  /** The request's `_meta`, as it came. */
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** The client, spoken to on behalf of this request: what is sent so belongs to it (and travels on its stream). */
  peer?: ClientPeer;
  /** Tells the client how far the call is; absent where it did not ask for that. */
  progress?: (progress: Progress) => void;
  /** Tells the host the call's replay contract, before it begins: what is not told is `never_replay`. */
  contract?: (contract: ReplayContract) => void;
  /**
   * Tells the host that the call begins: until then it is as good as not sent. To be awaited, where there is something
   * to await: the word has not left yet. Rejects where it never can: then nothing of the call may leave either.
   */
  begins?: (contract: ReplayContract) => Promise<void> | undefined;
  /** Asks the person in the client; absent where the client cannot. */
  ask?: (question: Question) => Promise<QuestionAnswer>;
}

/** What a session serves: plain data in and out, the SDK stays in this room. */
export interface SessionMode {
  serverInfo: { name: string; title: string; version: string };
  capabilities: Record<string, unknown>;
  instructions: string;
  /** Settles what `initialize` is answered with; what stands above holds where this is absent. */
  introduce?(): Promise<{ capabilities: Record<string, unknown>; instructions?: string | undefined }>;
  listTools(): readonly object[] | Promise<readonly object[]>;
  /** Calls a tool. Faults are results (G4.8); rejects with an `RpcError` for an error of JSON-RPC from a server. */
  callTool(name: string, args: unknown, call: CallContext): Promise<object>;
  /** Any other request; `undefined` for a method that nobody here answers. Rejects with an `RpcError`. */
  request?(method: string, params: Readonly<Record<string, unknown>>, call: CallContext): Promise<object> | undefined;
  /** What the client tells by itself. */
  notification?(method: string, params: Readonly<Record<string, unknown>>, peer: ClientPeer): void;
  /** Calls that a host has answered without a worker, each with the tool of ours and the `tool_id` that its name stands for. */
  namedLosses?(calls: readonly LostCall[]): LostCall[];
  /** What moves with a session to the worker that comes next. */
  memory?: SessionMemory;
  /** A session that is initialized; the function returned is called at its end. */
  open?(peer: ClientPeer): () => void;
}

export interface SessionClient {
  name: string;
  version: string;
  protocolVersion: string;
}
