/** Data types of the catalog. Every room may import this file. */

/** Owner of a server's file. Names and rules of the user's own servers give no trust to others. */
export type ServerOrigin = 'user' | 'workspace';

/** `tools/list` of one server, unchanged and untrusted. */
export interface ServerListing {
  /** Name of the server in the configuration. */
  server: string;
  /** Owner of the file that configures the server. */
  origin?: ServerOrigin;
  tools: readonly unknown[];
  /** Instructions of the server, for ranking only: they never reach a model unquoted. */
  instructions?: string;
}

/** "" | read_only | destructive (G2.4): declared by the server, shown, never trusted. */
export type Safety = '' | 'read_only' | 'destructive';

export interface CatalogTool {
  /** Canonical `tool_id` (G1). */
  id: string;
  namespace: string;
  /** `name` part of the id. */
  name: string;
  server: string;
  origin?: ServerOrigin;
  /** Raw name, to which a call is sent. */
  upstreamName: string;
  title: string;
  /** Whole description, unchanged. Cards truncate it. */
  description: string;
  tags: readonly string[];
  safety: Safety;
  sideEffects: boolean;
  costHint: number;
  /** Whether the tool says that it runs only as a task (MCP 2025-11-25). */
  requiresTask?: true;
  inputSchema: unknown;
  outputSchema: unknown;
  annotations: Readonly<Record<string, unknown>>;
  /**
   * Hash over everything that a model can see. Unlike `hash8`, which is an identity, it detects a changed tool (G1.14).
   */
  fingerprint: string;
}

/** Tool, or a flaw of a tool, that the last refresh reports (G6.3). */
export interface RefreshFinding {
  server: string;
  tool: string;
  /** `skipped`: not in the catalog. `flagged`: in it, with a flaw. */
  kind: 'skipped' | 'flagged';
  reason: string;
}

export type NodeKind = 'namespace' | 'cluster' | 'tool';

/** Node of the ChoiceGraph, with its canonical path (G3). */
export interface GraphNode {
  path: string;
  label: string;
  kind: NodeKind;
  /** Number of tools at or below the node. */
  toolCount: number;
  /** Line about the nodes below a namespace or cluster; "" for a tool. */
  hint: string;
  /** Present for `kind: "tool"`. */
  toolId?: string;
}
