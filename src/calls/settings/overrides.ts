import type { CatalogTool } from '../../catalog/types.ts';
import { globsConcern, type ToolGlobs } from '../../config/declaration/block.ts';
import { globMatches } from '../../lib/glob.ts';

/** Value for all tools, for a server's tools, and for single tools. The most specific one applies. */
export interface Overrides<T> extends ToolGlobs {
  default: T;
  servers: Readonly<Record<string, T>>;
  /** Values by glob over the `tool_id` or the server's name for the tool; the first match applies. */
  tools: Readonly<Record<string, T>>;
}

type Subject = Pick<CatalogTool, 'id' | 'upstreamName' | 'server' | 'origin'>;

export function overrideFor<T>(overrides: Overrides<T>, tool: Subject): T {
  const own = globsConcern(overrides, tool) ? firstMatch(overrides.tools, tool) : undefined;
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
