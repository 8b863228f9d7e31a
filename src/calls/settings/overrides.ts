import type { CatalogTool } from '../../catalog/types.ts';
import { globMatches } from '../../lib/glob.ts';
import type { JsonPath } from '../json.ts';
import { asObject, ConfigBlock } from './configReader.ts';

/** A value for all, for the tools of a server, for single tools. The closest one counts. */
export interface Overrides<T> {
  default: T;
  servers: Readonly<Record<string, T>>;
  /** Globs over the `tool_id` or the raw name; the first that matches. */
  tools: readonly (readonly [glob: string, value: T])[];
}

type Subject = Pick<CatalogTool, 'id' | 'upstreamName' | 'server'>;

export function overrideFor<T>(overrides: Overrides<T>, tool: Subject): T {
  const own = firstMatch(overrides.tools, tool);
  if (own !== undefined) return own;
  return Object.hasOwn(overrides.servers, tool.server) ? (overrides.servers[tool.server] as T) : overrides.default;
}

export function firstMatch<T>(
  entries: readonly (readonly [glob: string, value: T])[],
  tool: Pick<CatalogTool, 'id' | 'upstreamName'>,
): T | undefined {
  return entries.find(([glob]) => globMatches(glob, tool.id) || globMatches(glob, tool.upstreamName))?.[1];
}

/** `others`: further keys of the block, which somebody else reads. */
export function readOverrides<T>(
  value: unknown,
  path: JsonPath,
  read: (block: ConfigBlock, key: string) => T,
  fallback: T,
  others: readonly string[] = [],
): Overrides<T> {
  const block = new ConfigBlock(value, path, ['default', 'servers', 'tools', ...others]);
  const entries = (key: string): [string, T][] => {
    const fields = asObject(block.get(key), [...path, key]);
    const inner = new ConfigBlock(fields, [...path, key], Object.keys(fields));
    return Object.keys(fields).map((name) => [name, read(inner, name)]);
  };
  return {
    default: block.get('default') === undefined ? fallback : read(block, 'default'),
    servers: Object.fromEntries(entries('servers')),
    tools: entries('tools'),
  };
}
