/** What the catalog is made of. Data only: every room may import this file. */

/** One server's `tools/list`, as it came: untrusted, one item at a time. */
export interface ServerListing {
  /** The server's name in the configuration. */
  server: string;
  tools: readonly unknown[];
  /** The server's own instructions, for ranking only: they never reach a model unquoted. */
  instructions?: string;
}

/** "" | read_only | destructive (G2.4): declared by the server, shown, never trusted. */
export type Safety = '' | 'read_only' | 'destructive';

export interface CatalogTool {
  /** Canonical `tool_id` (G1). */
  id: string;
  namespace: string;
  /** The `name` part of the id. */
  name: string;
  server: string;
  /** The raw name, as the server knows it: what a call is sent to. */
  upstreamName: string;
  title: string;
  /** The whole description, as it came; cards truncate it. */
  description: string;
  tags: readonly string[];
  safety: Safety;
  sideEffects: boolean;
  costHint: number;
  /** It says that it can only be called as a task (2025-11-25, Tasks). */
  requiresTask?: true;
  inputSchema: unknown;
  outputSchema: unknown;
  annotations: Readonly<Record<string, unknown>>;
  /** Full hash over all that a model can see: tells a changed tool (unlike `hash8`, which is an identity). */
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
  /** How many tools stand at or below it. */
  toolCount: number;
  /** One line on what is below: for a namespace or cluster; "" for a tool. */
  hint: string;
  /** For `kind: "tool"`. */
  toolId?: string;
}
