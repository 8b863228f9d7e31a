/**
 * The typed contract between the worker and those who watch it: the editor and the command line.
 * Types only. A snapshot is always whole, never a delta: whoever was hidden or away needs nothing else.
 */
import type { GraphNode, RefreshFinding, Safety } from '../catalog/types.ts';
import type { ConfigOrigin, ConfigurationProblem, FileLocation } from '../config/gatewayConfig.ts';
import type { Mode } from '../link/mode.ts';
import type { RankExplanation } from '../ranking/explanation.ts';
import type { HealthSnapshot } from '../supervision/health.ts';
import type { GatewayHealth, HealthReport, TelemetryReport } from './healthContract.ts';
import type { ServerOddity } from './serverOddities.ts';
import type { ServerState } from './serverStates.ts';

export type { ConfigurationProblem, FileLocation } from '../config/gatewayConfig.ts';

/** The part of a server's status that a model is shown with its answers. */
export interface ServerBrief {
  name: string;
  namespace: string;
  state: ServerState;
  toolCount: number;
  /** Why the server is not ready, in one sentence. */
  reason?: string;
  /** Where the configuration names the server. */
  location?: FileLocation;
}

/** Status of one server: every form of health is made of this. */
export interface ServerStatus extends ServerBrief {
  /** Last change of state, in milliseconds since the epoch. */
  since: number;
  pid?: number;
  /** Counts and last fault of its supervisor; absent if the server has none because it is disabled or misconfigured. */
  supervised?: HealthSnapshot;
  /** What the user is asked to approve, shown whole and approved by its hash. */
  approval?: { hash: string; lines: readonly string[] };
  /** The secret that the server waits for. */
  secret?: MissingSecret;
  /** The last lines of stderr. */
  stderr?: readonly string[];
  /** Misbehaviour of the server since the worker started, the most frequent kind first. */
  oddities?: readonly ServerOddity[];
}

/** A secret or an input that nobody has given yet. */
export interface MissingSecret {
  /** Under which it is kept. */
  key: string;
  /** `NAME`, or `input:ID`. */
  name: string;
  description: string;
  /** Not to be shown while it is typed. */
  password: boolean;
  /** Where it is one of these. */
  options: readonly string[];
}

export interface ConfigurationStatus {
  /** Where a server of this workspace is written. */
  file: string;
  /** Whether any of the files is there. */
  exists: boolean;
  /** All files that count, the later over the earlier. */
  files?: readonly { origin: ConfigOrigin; file: string; exists: boolean }[];
  problems: readonly ConfigurationProblem[];
  /** How a client that begins now sees the servers, where it does not say itself. */
  mode?: Mode;
}

export interface SessionStatus {
  id: string;
  client: string;
  clientVersion: string;
  protocolVersion: string;
  /** How it sees the servers; a worker of an older build does not say. */
  mode?: Mode;
  since: number;
}

export interface CallRecord {
  id: number;
  at: number;
  client: string;
  /** tool_browse, tool_execute, tool_view. */
  metaTool: string;
  /** The query, path, tool_id or handle: what was asked for, shortened. Never argument values. */
  subject: string;
  durationMs: number;
  outcome: 'ok' | 'error';
  errorCode?: string;
}

export interface WorkerStatus {
  pid: number;
  version: string;
  build: string;
  startedAt: number;
  uptimeMs: number;
}

export interface CatalogStatus {
  /** Changes with every rebuild: a tree that shows an older one asks for its children again. */
  revision: number;
  toolCount: number;
  namespaceCount: number;
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

/** A node of the tree with what a row shows. */
export interface TreeNode extends GraphNode {
  server: string;
  description: string;
  safety: Safety;
}

export interface TreeChildren {
  revision: number;
  nodes: readonly TreeNode[];
}

/** One tool and query stems that led to it: all that is kept of what was asked. */
export interface LearnedUse {
  words: readonly string[];
  toolId: string;
  uses: number;
}

/** The catalog as a person wants to know it: what is there, what is wrong with it, and what it would cost a model. */
export interface CatalogReport {
  namespaces: readonly {
    namespace: string;
    server: string;
    tools: readonly { id: string; path: string; description: string }[];
  }[];
  findings: readonly RefreshFinding[];
  /** cl100k tokens of every tool's definition as `tools/list` would carry it. */
  definitionTokens: number;
  tokensByServer: readonly { server: string; tools: number; tokens: number }[];
  /** cl100k tokens of what a model reads instead: our definitions and instructions. */
  gatewayTokens: number;
}

/** What a server would run, as a person is asked to approve it. */
export interface WouldRun {
  name: string;
  hash: string;
  lines: readonly string[];
}

export type SignInAnswer = { url: string } | { reason: string };
export type SignOutAnswer = { wasSignedIn: boolean } | { reason: string };

/** Requests an attacher makes, by method. */
export interface ControlRequests {
  /** The state now. */
  status: { params: Record<string, never>; result: GatewaySnapshot };
  /** From now on every change comes as a `snapshot` notification; the answer is the first one. */
  watch: { params: Record<string, never>; result: GatewaySnapshot };
  /** What stands directly under a path of the ChoiceGraph; `/` is the root. */
  children: { params: { path: string }; result: TreeChildren };
  /** Calls one of the gateway's own tools, as a session would. */
  callTool: {
    params: { name: string; args: Record<string, unknown> };
    result: { content: readonly { type: string; text?: string }[]; structuredContent?: object; isError?: boolean };
  };
  /** Why a query brings what it brings: words, fields and signals with what each contributed. */
  explain: { params: { query: string; topK: number }; result: RankExplanation };
  catalog: { params: Record<string, never>; result: CatalogReport };
  /** What was learned from use in this workspace, oldest first. */
  learned: { params: Record<string, never>; result: readonly LearnedUse[] };
  /** Erases what was learned of one tool, or all; answers with what is left. */
  forget: { params: { toolId?: string }; result: readonly LearnedUse[] };
  /** Health of the gateway and of each server. */
  health: { params: Record<string, never>; result: HealthReport };
  /** Counts since the worker started. */
  telemetry: { params: Record<string, never>; result: TelemetryReport };
  /** Approves servers of this workspace by the hashes that `ServerStatus.approval` showed; those that waited begin. */
  approve: { params: { hashes: readonly string[] }; result: GatewaySnapshot };
  /**
   * Begins a sign-in at a server that wants one. The person's browser opens `url`: https, or http to this machine. A
   * `reason` says in one sentence why there is none. What comes of it is told by `signInEnd`, and by the next snapshots.
   */
  signIn: { params: { server: string }; result: SignInAnswer };
  /** Answers when the sign-in of a server has ended; with `reason` where it failed. */
  signInEnd: { params: { server: string }; result: { reason?: string } };
  /** Forgets what a sign-in brought, here and at its issuer. */
  signOut: { params: { server: string }; result: SignOutAnswer };
  /** Looks again at the servers that wait for an approval or a secret. */
  recheck: { params: Record<string, never>; result: GatewaySnapshot };
  /** What the servers that are written now would run, whether they are in force yet or not. */
  wouldRun: { params: Record<string, never>; result: readonly WouldRun[] };
  /**
   * Retries what failed, lists every server's tools again, and has a changed configuration take effect; answers when
   * that is done. Where another worker has taken over for it, whoever asks attaches to that one.
   */
  refresh: { params: Record<string, never>; result: GatewaySnapshot };
  /** A successor is being prepared for as long as whoever asks stays attached; then the worker looks whether there is one. */
  rollout: { params: Record<string, never>; result: { pending: true } };
  /** Stops the worker and all its servers; sessions find or start a new one with their next request. */
  stop: { params: Record<string, never>; result: { stopped: true } };
}

/** May this tool run? Asked of the person at the editor where the client of the call cannot ask. */
export interface ApprovalQuestion {
  tool: string;
  toolId: string;
  server: string;
  /** Why it is asked, in a sentence. */
  reason: string;
  /** The arguments, shortened and safe to show. */
  args: string;
}

/** `unavailable`: nobody is there who could be asked. */
export type ApprovalVerdict = 'once' | 'session' | 'workspace' | 'denied' | 'unavailable';

/** What the editor keeps for the gateway in its own store of secrets. */
export type SecretRequest = { op: 'get' | 'delete'; key: string } | { op: 'set'; key: string; value: string };

/** `kept`: the other end has a store. */
export interface SecretAnswer {
  kept: boolean;
  value?: string | undefined;
}

/** Notifications the worker sends. */
export interface ControlNotifications {
  snapshot: GatewaySnapshot;
  /** Another worker has taken over; nobody needs this line any more. */
  superseded: Record<string, never>;
}
