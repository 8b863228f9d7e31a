import { plural, type Topic } from './topic.ts';

/** A tool on its way into the graph. */
export interface Placed {
  toolId: string;
  label: string;
  topic: Topic;
}

/** A cluster under construction: leaves and sub-clusters side by side. */
export interface Cluster {
  leaves: Placed[];
  clusters: Map<string, Cluster>;
}

/** What one listing should show at most (issue B.3). */
export const MAX_CHILDREN = 20;
/** Fewer tools than this are no cluster of their own. */
const MIN_CLUSTER = 3;
/** For what shares no topic with anything. */
const REST = 'other';

/**
 * Groups tools by what they are about. A tool's place follows from its own name and from counts in its namespace
 * crossing a threshold, never from a balance of the whole: so another tool more moves none, unless it is the one that
 * makes a topic large enough for a cluster (or a cluster too large for one listing).
 */
export function clusterTools(tools: readonly Placed[], depth = 0): Cluster {
  if (tools.length <= MAX_CHILDREN) return { leaves: [...tools], clusters: new Map() };
  const groups = groupBy(tools, (tool) => tool.topic.nouns[depth] ?? '');
  const plain = groups.get('') ?? [];
  groups.delete('');
  const named = new Map<string, Placed[]>();
  let loose: Placed[] = [];
  for (const [noun, members] of groups) {
    if (members.length >= MIN_CLUSTER) named.set(noun, members);
    else loose.push(...members);
  }
  if (depth === 0) loose = adoptByOtherWords(loose, named);
  const leaves = [...plain, ...loose];
  const clusters = new Map<string, Cluster>();
  for (const [noun, members] of named) {
    // Everything here shares this one noun: a level of its own would hold nothing else.
    if (members.length === tools.length) return clusterTools(tools, depth + 1);
    clusters.set(plural(noun), clusterTools(members, depth + 1));
  }
  if (clusters.size > 0 && leaves.length + clusters.size <= MAX_CHILDREN) return { leaves, clusters };
  return splitLeaves(leaves, clusters, depth);
}

/** A tool with a topic of its own may still name another's: `reset-droplet-password` belongs with the droplets. */
function adoptByOtherWords(loose: readonly Placed[], named: ReadonlyMap<string, Placed[]>): Placed[] {
  return loose.filter((tool) => {
    const { nouns, related } = tool.topic;
    const home = [...nouns.slice(1), ...related].find((noun) => named.has(noun));
    if (home !== undefined) named.get(home)?.push(tool);
    return home === undefined;
  });
}

/** Too many leaves for one listing: by what they do, then by the letter. */
function splitLeaves(leaves: Placed[], clusters: Map<string, Cluster>, depth: number): Cluster {
  if (leaves.length <= MAX_CHILDREN) {
    if (leaves.length < MIN_CLUSTER || depth > 0) return { leaves, clusters };
    return { leaves: [], clusters: new Map([...clusters, [REST, { leaves, clusters: new Map() }]]) };
  }
  const byLetter = groupBy(leaves, (tool) => letterRange(tool.label));
  const ranges = new Map<string, Cluster>();
  for (const [range, members] of byLetter) ranges.set(range, { leaves: members, clusters: new Map() });
  if (clusters.size === 0) return { leaves: [], clusters: ranges };
  return { leaves: [], clusters: new Map([...clusters, [REST, { leaves: [], clusters: ranges }]]) };
}

/** Fixed ranges, so that no tool's letter depends on the others. */
const LETTER_RANGES = ['a-c', 'd-f', 'g-i', 'j-l', 'm-o', 'p-r', 's-u', 'v-z'];

function letterRange(label: string): string {
  const letter = label.charCodeAt(0) - 0x61;
  return letter < 0 || letter > 25 ? '0-9' : (LETTER_RANGES[Math.min(Math.floor(letter / 3), 7)] as string);
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
