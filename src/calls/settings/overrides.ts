import type { CatalogTool } from '../../catalog/types.ts';
import { globMatches } from '../../lib/glob.ts';

/** A value for all, for the tools of a server, for single tools. The closest one counts. */
export interface Overrides<T> {
  default: T;
  servers: Readonly<Record<string, T>>;
  /** By globs over the `tool_id` or the raw name; the first that matches. */
  tools: Readonly<Record<string, T>>;
}

type Subject = Pick<CatalogTool, 'id' | 'upstreamName' | 'server'>;

export function overrideFor<T>(overrides: Overrides<T>, tool: Subject): T {
  const own = firstMatch(overrides.tools, tool);
  if (own !== undefined) return own;
  return Object.hasOwn(overrides.servers, tool.server) ? (overrides.servers[tool.server] as T) : overrides.default;
}

export function firstMatch<T>(
  byGlob: Readonly<Record<string, T>>,
  tool: Pick<CatalogTool, 'id' | 'upstreamName'>,
): T | undefined {
  return Object.entries(byGlob).find(
    ([glob]) => globMatches(glob, tool.id) || globMatches(glob, tool.upstreamName),
  )?.[1];
}

/** `others`: further keys of the block, which somebody else reads. */
