import type { CatalogTool } from '../catalog/types.ts';
import { argumentWords } from './toolText.ts';

/** Shorter texts ("List projects") are alike without being the same tool. */
const MIN_DESCRIPTION = 24;

/**
 * Forks of one server repeat its tools word for word and would fill the first ten cards. Two tools of different
 * servers with the same name, description and argument names are one card that names its servers (B.4).
 * Returns for each tool the number of its group.
 */
export function cloneGroups(tools: readonly CatalogTool[]): Uint32Array {
  const groups = new Uint32Array(tools.length);
  const numbers = new Map<string, number>();
  let next = 0;
  for (let doc = 0; doc < tools.length; doc++) {
    const tool = tools[doc] as CatalogTool;
    const description = tool.description.trim();
    if (description.length < MIN_DESCRIPTION) {
      groups[doc] = next++;
      continue;
    }
    const key = JSON.stringify([tool.upstreamName, description, argumentWords(tool.inputSchema).names]);
    let group = numbers.get(key);
    if (group === undefined) {
      group = next++;
      numbers.set(key, group);
    }
    groups[doc] = group;
  }
  return groups;
}

/** The tools of each group of more than one. */
export function membersOf(groups: Uint32Array): Map<number, number[]> {
  const members = new Map<number, number[]>();
  for (const [doc, group] of groups.entries()) {
    const list = members.get(group);
    if (list) list.push(doc);
    else members.set(group, [doc]);
  }
  for (const [group, list] of members) if (list.length === 1) members.delete(group);
  return members;
}
