import type { Node } from 'jsonc-parser';
import type { ToolFilter } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';

const KEYS = ['include', 'exclude'];

/** `tools` of a server. What is wrong with it is told to `fail`, which does not return. */
export function readToolFilter(node: Node, fail: (message: string, node: Node) => never): ToolFilter {
  if (node.type !== 'object') fail('"tools" must be an object with "include" and "exclude".', node);
  const filter: { include: readonly string[]; exclude: readonly string[] } = { include: [], exclude: [] };
  for (const [key, value] of members(node)) {
    if (!KEYS.includes(key.value)) fail(unknownKey(key.value, KEYS), key);
    filter[key.value as keyof ToolFilter] = patterns(value, `"tools.${key.value}"`, fail);
  }
  return filter;
}

function patterns(node: Node, what: string, fail: (message: string, node: Node) => never): string[] {
  if (node.type !== 'array') fail(`${what} must be a list of names or patterns such as "read_*".`, node);
  return (node.children ?? []).map((item) => {
    if (typeof item.value !== 'string' || item.value === '') fail(`each of ${what} must be a name or a pattern.`, item);
    return item.value as string;
  });
}
