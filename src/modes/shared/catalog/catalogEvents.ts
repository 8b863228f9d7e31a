import { compareCodePoints } from '../../../catalog/codePointOrder.ts';
import type { CatalogView } from './catalogView.ts';
import { schemaTokens, toolTokens } from './definitionTokens.ts';

/** Size of a catalog, and its cost for a model that would get all of it, for the event `catalog.loaded` (O8.7). */
export interface CatalogLoaded {
  mode: string;
  tool_count: number;
  exposed_tool_count: number;
  namespace_counts: Record<string, number>;
  full_schema_tokens: number;
  exposed_schema_tokens: number;
  schema_tokens_avoided: number;
}

export interface CountedCatalog {
  loaded: CatalogLoaded;
  /** Tokens of all definitions. */
  definitionTokens: number;
  /** The same by server. */
  tokensByServer: ReadonlyMap<string, number>;
}

/** Counting a large catalog takes long, so other work may run between two slices. */
const SLICE_MS = 3;

/** Counts a catalog. Returns undefined if `signal` aborts because of a newer catalog. */
export async function catalogLoaded(
  view: CatalogView,
  exposed: readonly { inputSchema: unknown }[],
  signal?: AbortSignal,
): Promise<CountedCatalog | undefined> {
  const { tools } = view.catalog;
  const counts = new Map<string, number>();
  let full = 0;
  let definitionTokens = 0;
  const tokensByServer = new Map<string, number>();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const tool of tools) {
    counts.set(tool.namespace, (counts.get(tool.namespace) ?? 0) + 1);
    full += schemaTokens(tool.inputSchema);
    const tokens = toolTokens(tool);
    definitionTokens += tokens;
    tokensByServer.set(tool.server, (tokensByServer.get(tool.server) ?? 0) + tokens);
    if (performance.now() < sliceEnd) continue;
    await new Promise((resume) => setImmediate(resume));
    if (signal?.aborted) return undefined;
    sliceEnd = performance.now() + SLICE_MS;
  }
  const ours = exposed.reduce((sum, { inputSchema }) => sum + schemaTokens(inputSchema), 0);
  const loaded = {
    mode: 'gateway',
    tool_count: tools.length,
    exposed_tool_count: exposed.length,
    namespace_counts: Object.fromEntries([...counts].sort(([a], [b]) => compareCodePoints(a, b))),
    full_schema_tokens: full,
    exposed_schema_tokens: ours,
    schema_tokens_avoided: Math.max(0, full - ours),
  };
  return { loaded, definitionTokens, tokensByServer };
}
