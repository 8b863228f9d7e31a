/**
 * Typed contract between the worker and its watchers: the editor and the command line. Types only.
 *
 * A snapshot is always whole, never a delta, so that a watcher that was hidden or away needs nothing else.
 */
import type { GraphNode, RefreshFinding, Safety } from '../catalog/types.ts';
import type { ConfigOrigin, ConfigurationProblem, FileLocation } from '../config/gatewayConfig.ts';
import type { Mode } from '../link/mode.ts';
import type { RankExplanation } from '../ranking/explanation.ts';
import type { HealthSnapshot } from '../supervision/health.ts';
import type { CallDetails, CallFilter, CallPage, CallRecord, LimitsReport, Refreshed } from './activityContract.ts';
import type { ArtifactAnswer, ArtifactBytes, ArtifactPage, ArtifactSelection } from './artifactContract.ts';
import type { GatewayHealth, HealthReport, TelemetryReport } from './healthContract.ts';
import type { RecordGrant, RecordOutcome, RecordSources } from './recordsContract.ts';
import type { ServerOddity } from './serverOddities.ts';
import type { ServerState } from './serverStates.ts';
import type { ToolDetails, ToolPaths } from './toolContract.ts';
import type { ServerListing, ServerScan, TrustDecision, TrustReview } from './trustContract.ts';

export type { ConfigurationProblem, FileLocation } from '../config/gatewayConfig.ts';

/** Part of a server's status that answers to a model contain. */
export interface ServerBrief {
  name: string;
  namespace: string;
  state: ServerState;
  toolCount: number;
  /** The server starts and was never listed, so its tools are unknown. */
  unlisted?: true;
  /** Why the server is not ready, in one sentence. */
  reason?: string;
  /** Place of the server in the configuration. */
  location?: FileLocation;
  /** Command by which the user makes the server serve; the editor has actions instead. */
  command?: string;
  /** Tools that wait for the user's review, and why; absent if there are none. */
  held?: readonly HeldTool[];
  /** Number of items that are offered although they are new or changed; absent if there are none. */
  drifted?: number;
}

/** Listed tool that is not offered. `why`: `new`, `changed`, `blocked`, `flagged`, `quarantined`, `damaged` or `unsaved`. */
export interface HeldTool {
  /** Empty for a prompt, a template or the instructions. */
  toolId: string;
  part: string;
  name: string;
  why: string;
}

/** Status of one server: every form of health is made of this. */
export interface ServerStatus extends ServerBrief {
  /** Last change of state, in milliseconds since the epoch. */
  since: number;
  pid?: number;
  /** Counts and last fault of its supervisor; absent if the server has none because it is disabled or misconfigured. */
  supervised?: HealthSnapshot;
  /** Time of its next start, in milliseconds since the epoch; absent if none is planned. */
  nextTryAt?: number;
  /** Command for the user to approve, shown whole and approved by its hash. */
  approval?: {
    hash: string;
    lines: readonly string[];
    /** Launch that the user approved and the launch of now, if the server was approved before. */
    change?: { before: readonly string[]; now: readonly string[] };
  };
  /** Missing secret of the server. */
  secret?: MissingSecret;
  /** `walled`, or `no walls: REASON`; absent for a server that is no program. */
  walls?: string;
  /** Revision of MCP that the server was found to speak; absent before its first start. */
  protocol?: ProtocolVerdict;
  /** Name and version that the server gave itself at its last start, on one line. */
  implementation?: string;
  /** Last lines of stderr. */
  stderr?: readonly string[];
  /** Step that makes the server serve; absent if none is needed. */
  remedy?: ServerRemedy;
  kind?: 'stdio' | 'http';
  /** Whether tokens of a sign-in are kept; absent for a server without sign-in. */
  signedIn?: boolean;
  /** Counts since the worker started. */
  calls?: number;
  errors?: number;
  p95Ms?: number;
  lastUsedAt?: number;
  /** cl100k tokens of its definitions. */
  definitionTokens?: number;
  /** Misbehaviour of the server since the worker started, the most frequent kind first. */
  oddities?: readonly ServerOddity[];
}

export interface ProtocolVerdict {
  /** `modern` from revision 2026-07-28 on, which has no sessions. */
  era: 'legacy' | 'modern';
  version: string;
  /** Time of the verdict, in milliseconds since the epoch; a start checks it again after a week. */
  at: number;
}

/** Step of the user, which each program words in its own way. `reason` contains no command line. */
export type ServerRemedy =
  | { kind: 'approve' }
  | { kind: 'review' }
  | { kind: 'secret'; key: string }
  | { kind: 'sign_in' }
  | { kind: 'edit'; location: FileLocation }
  | { kind: 'restart' }
  | { kind: 'wait'; ms: number };

/** Secret or input without a value. */
export interface MissingSecret {
  /** Key in the store. */
  key: string;
  /** `NAME`, or `input:ID`. */
  name: string;
  description: string;
  /** Hides the value while the user types it. */
  password: boolean;
  /** Values to choose from; empty if any value will do. */
  options: readonly string[];
}

export interface ConfigurationStatus {
  /** File for servers of this workspace. */
  file: string;
  /** Whether any of the files exists. */
  exists: boolean;
  /** All files, later ones over earlier ones. */
  files?: readonly { origin: ConfigOrigin; file: string; exists: boolean }[];
  problems: readonly ConfigurationProblem[];
  /** Mode of a session that begins now without a mode of its own. */
  mode?: Mode;
}

export interface SessionStatus {
  id: string;
  client: string;
  clientVersion: string;
  protocolVersion: string;
  /** Mode of the session; a worker of an older build leaves it out. */
  mode?: Mode;
  since: number;
}

export interface WorkerStatus {
  pid: number;
  version: string;
  build: string;
  startedAt: number;
  uptimeMs: number;
}

export interface CatalogStatus {
  /** Changes with every rebuild, so that a tree with an older one asks for its children again. */
  revision: number;
  toolCount: number;
  namespaceCount: number;
  /** cl100k tokens, about: of all definitions, and of the definitions and instructions that a model gets with a request. */
  tokens?: { definitions: number; sent: number };
  /** Tools that could not be registered, with their reasons. */
  skipped: readonly { server: string; tool: string; reason: string }[];
}

export interface GatewaySnapshot {
  workspace: string;
  health: GatewayHealth;
  worker: WorkerStatus;
  configuration: ConfigurationStatus;
  servers: readonly ServerStatus[];
  sessions: readonly SessionStatus[];
  catalog: CatalogStatus;
  /** Newest first, bounded. */
  recentCalls: readonly CallRecord[];
}

/** Node of the tree, with the content of its row. */
export interface TreeNode extends GraphNode {
  server: string;
  description: string;
  safety: Safety;
}

export interface TreeChildren {
  revision: number;
  nodes: readonly TreeNode[];
}

/** Tool and the query stems that led to it. Nothing else of a query is kept. */
export interface LearnedUse {
  words: readonly string[];
  toolId: string;
  uses: number;
}

/** Report on the catalog for the user: tools, findings, and their cost for a model. */
export interface CatalogReport {
  namespaces: readonly {
    namespace: string;
    server: string;
    tools: readonly { id: string; path: string; description: string }[];
  }[];
  findings: readonly RefreshFinding[];
  /** cl100k tokens of all tool definitions in a `tools/list`. */
  definitionTokens: number;
  tokensByServer: readonly { server: string; tools: number; tokens: number }[];
  /** cl100k tokens of the three gateway tools and the instructions, which a model reads instead. */
  gatewayTokens: number;
  /** The same with the tools for resources and prompts, where some server has any. */
  withPrimitivesTokens?: number;
}

export type SignInAnswer = { url: string } | { reason: string };
export type SignOutAnswer = { wasSignedIn: boolean } | { reason: string };

/** Requests of a watcher, by method. */
export interface ControlRequests {
  /** Returns the present state. */
  status: { params: Record<string, never>; result: GatewaySnapshot };
  /** Subscribes to `snapshot` notifications, one per change. The answer is the first snapshot. */
  watch: { params: Record<string, never>; result: GatewaySnapshot };
  /** Returns the nodes directly under a path of the ChoiceGraph; `/` is the root. */
  children: { params: { path: string }; result: TreeChildren };
  /** Calls a gateway tool, as a session would. */
  callTool: {
    /** `as`: `you` for a call of the user, which appears in the activity and teaches the ranking nothing. */
    params: { name: string; args: Record<string, unknown>; as?: 'you' };
    result: { content: readonly { type: string; text?: string }[]; structuredContent?: object; isError?: boolean };
  };
  /** Returns calls, the newest first: those that run and the last 500 that ended. */
  calls: { params: { before?: number; limit: number; filter?: CallFilter }; result: CallPage };
  /** Returns everything about one call; null if it is no longer kept. */
  call: { params: { id: number }; result: CallDetails | null };
  /** Cancels a running or waiting call, as its client could. */
  cancelCall: { params: { id: number }; result: { cancelled: boolean } };
  /** Removes ended calls from the list. */
  clearCalls: { params: Record<string, never>; result: { cleared: number } };
  /** Removes these calls from the list, with their arguments and answers. A call that runs stays. */
  forgetCalls: { params: { ids: readonly number[] }; result: { forgotten: number } };
  /** Returns each window of each limit that is set. */
  limits: { params: Record<string, never>; result: LimitsReport };
  artifacts: { params: { before?: string; limit: number }; result: ArtifactPage };
  readArtifact: {
    params: { handle: string; offset: number; length: number };
    result: ArtifactAnswer<ArtifactBytes>;
  };
  /**
   * Applies a selector of `tool_view`, or `{type: 'table', columns?, start?, end?, sort?, descending?, contains?}`, which
   * returns rows of a table: row 1 is the first one below the header, and 100 rows are a page.
   */
  selectArtifact: {
    params: { handle: string; selector: Readonly<Record<string, unknown>> };
    result: ArtifactAnswer<ArtifactSelection>;
  };
  deleteArtifacts: { params: { handles: readonly string[] }; result: { deleted: number } };
  /** Returns everything about one tool; null if there is none. */
  tool: { params: { toolId: string }; result: ToolDetails | null };
  /** Returns the paths of all tools. */
  paths: { params: Record<string, never>; result: ToolPaths };
  /** Starts, stops or restarts a server; `reason` says why that is impossible. */
  startServer: { params: { server: string }; result: { reason?: string } };
  stopServer: { params: { server: string }; result: { reason?: string } };
  restartServer: { params: { server: string }; result: { reason?: string } };
  /** Returns the last lines of a server's stderr, masked. `next` is the number of the next line. */
  serverLog: { params: { server: string; lines: number }; result: { lines: readonly string[]; next: number } };
  /** Explains the ranking of a query: its words, fields and signals, each with its share. */
  explain: { params: { query: string; topK: number }; result: RankExplanation };
  catalog: { params: Record<string, never>; result: CatalogReport };
  /** Scans the lists of every server, or of one. */
  scan: { params: { server?: string }; result: readonly ServerScan[] };
  /** Returns everything learned from use in this workspace, oldest first. */
  learned: { params: Record<string, never>; result: readonly LearnedUse[] };
  /** Erases the learned uses of one tool, or all. Returns the rest. */
  forget: { params: { toolId?: string }; result: readonly LearnedUse[] };
  /** Returns what the user grants to agents, and what could be granted. */
  records: { params: Record<string, never>; result: RecordSources };
  /** Returns the streams that a source has, for the user's choice. */
  recordStreams: { params: { subject: string }; result: { streams: readonly string[] } | { reason: string } };
  /** Grants a source and loads it. */
  grantRecords: { params: RecordGrant; result: RecordOutcome };
  /** Revokes a grant, and removes the loaded records from the disk. */
  revokeRecords: { params: { connection: string }; result: RecordOutcome };
  /** Shows a recorded session as Markdown, or what it says about a question. */
  session: { params: { file: string; question?: string }; result: { text: string } | { reason: string } };
  /** Returns the health of the gateway and of each server. */
  health: { params: Record<string, never>; result: HealthReport };
  /** Returns the counts since the worker started. */
  telemetry: { params: Record<string, never>; result: TelemetryReport };
  /**
   * Approves servers of this workspace by the hashes in `ServerStatus.approval`, and starts those that waited for it.
   */
  approve: { params: { hashes: readonly string[] }; result: GatewaySnapshot };
  /**
   * Begins a sign-in at a server. The user's browser opens `url`, which is https, or http to this machine. Without a
   * `url`, `reason` explains in one sentence. `signInEnd` and later snapshots report the outcome.
   */
  signIn: { params: { server: string }; result: SignInAnswer };
  /** Answers when the sign-in of a server has ended; `reason` if it failed. */
  signInEnd: { params: { server: string }; result: { reason?: string } };
  /** Deletes the tokens of a sign-in, here and at their issuer. */
  signOut: { params: { server: string }; result: SignOutAnswer };
  /** Applies edits of the files, and checks the servers again that wait for an approval or a secret. */
  recheck: { params: Record<string, never>; result: GatewaySnapshot };
  /** Compares what each server lists with its pins; of one server, or of all. */
  trust: { params: { server?: string }; result: readonly TrustReview[] };
  /** Lists the servers of the workspace's own file again, and returns their items. */
  listing: { params: Record<string, never>; result: readonly ServerListing[] };
  /** Records a decision of the user. `reason` says why it has no effect. */
  decide: { params: TrustDecision & { actor: 'person-cli' | 'person-editor' }; result: { reason?: string } };
  /**
   * Retries failed servers, lists the tools of every server or of one again, and applies an edited configuration. Answers
   * at once with the servers that it began; `refreshed` reports the end of each.
   */
  refresh: { params: { server?: string }; result: GatewaySnapshot & { began: readonly string[] } };
  /**
   * Reports a rollout as pending while the caller stays attached. Then the worker checks whether a successor exists.
   */
  rollout: { params: Record<string, never>; result: { pending: true } };
  /** Stops the worker and all its servers. Sessions find or start another worker with their next request. */
  stop: { params: Record<string, never>; result: { stopped: true } };
}

/** Question to the user at the editor whether a tool may run, for calls of clients that cannot ask. */
export interface ApprovalQuestion {
  /** Id of the question, unique for the worker. The worker cancels the request when the question is gone. */
  id: string;
  toolId: string;
  server: string;
  /** Name of the client whose call waits; `you` for a call of the user. */
  client: string;
  /** Id of the call in the activity. */
  callId?: number;
  /** Why the user is asked. */
  reason: string;
  /** All arguments, masked, for a document. */
  arguments: unknown;
  /** Time of the question's end, when the call is denied; milliseconds since the epoch. */
  deadline?: number;
  /**
   * Time at which the call was refused because nobody could be asked. The answer is for the next call that is the same.
   */
  refusedAt?: number;
  /** Question and its details, one line each, made by `src/text/approvalQuestion.ts`. Not safe as Markdown. */
  lines: readonly string[];
}

/** `unavailable`: nobody could be asked. */
export type ApprovalVerdict = 'once' | 'session' | 'workspace' | 'denied' | 'unavailable';

/** Request for a value in the editor's own store of secrets. */
export type SecretRequest = { op: 'get' | 'delete'; key: string } | { op: 'set'; key: string; value: string };

/** `kept`: the other end has a store. */
export interface SecretAnswer {
  kept: boolean;
  value?: string | undefined;
}

/** Notifications of the worker. */
export interface ControlNotifications {
  snapshot: GatewaySnapshot;
  /** Calls that began, changed their phase or ended, at most ten times a second. Each call is there once, as it is now. */
  calls: { calls: readonly CallRecord[] };
  /** The refresh of a server ended. */
  refreshed: Refreshed;
  /** Another worker has taken over; this connection is of no further use. */
  superseded: Record<string, never>;
}
