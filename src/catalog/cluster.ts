import { plural, type Topic } from './topic.ts';
import { READING_VERBS } from './words.ts';

/** Tool on its way into the graph. */
export interface Placed {
  toolId: string;
  label: string;
  topic: Topic;
}

/** Cluster under construction: leaves and sub-clusters side by side. */
export interface Cluster {
  leaves: Placed[];
  clusters: Map<string, Cluster>;
}

/** Listings above this size are divided into clusters by topic (G3.7). */
export const MAX_CHILDREN = 20;
/** Tolerated size, because a slightly longer listing is better than another level. */
const TOLERATED_CHILDREN = 24;
/** Size from which tools without common topics are divided by letter. */
const MAX_UNRELATED = 30;
/** Least size of a cluster. */
const MIN_CLUSTER = 3;

const OTHER = 'other';
const READ = 'read';
const WRITE = 'write';

/**
 * Groups tools by topic. A tool's place follows from its own name and from counts in its namespace that cross a
 * threshold, never from a balance of the whole. One more tool therefore moves none, unless it makes a topic large
 * enough for a cluster, or a listing too large to stay one.
 */
export function clusterTools(tools: readonly Placed[], depth = 0): Cluster {
  if (tools.length <= MAX_CHILDREN) return leavesOnly(tools);
  const named = new Map<string, Placed[]>();
  const leaves: Placed[] = [];
  for (const [label, members] of groupBy(tools, (tool) => clusterLabel(tool.topic.nouns[depth]))) {
    if (label !== '' && members.length >= MIN_CLUSTER) named.set(label, members);
    else leaves.push(...members);
  }
  // All tools share this topic: a level for it would hold nothing else.
  if (named.size === 1 && leaves.length === 0) return clusterTools(tools, depth + 1);
  const loose = depth === 0 ? adoptByOtherWords(leaves, named) : leaves;
  if (tools.length <= MAX_UNRELATED && loose.length > tools.length / 2) return leavesOnly(tools);
  const clusters = new Map<string, Cluster>();
  for (const [label, members] of named) clusters.set(label, clusterTools(members, depth + 1));
  return addLoose(loose, clusters, depth);
}

/** Groups by label instead of noun, so that two forms of one word do not make two clusters of one name. */
function clusterLabel(noun: string | undefined): string {
  return noun === undefined ? '' : plural(noun);
}

function leavesOnly(leaves: readonly Placed[]): Cluster {
  return { leaves: [...leaves], clusters: new Map() };
}

/**
 * Moves a tool with a unique topic to another topic that it names: `reset-droplet-password` belongs with the droplets.
 */
function adoptByOtherWords(loose: readonly Placed[], named: ReadonlyMap<string, Placed[]>): Placed[] {
  return loose.filter((tool) => {
    const { verb, nouns, related } = tool.topic;
    const home = [...nouns.slice(1), ...related].find((noun) => named.has(clusterLabel(noun)));
    if (home === undefined) return true;
    named.get(clusterLabel(home))?.push({ ...tool, topic: { verb, nouns: [home, ...nouns], related } });
    return false;
  });
}

/**
 * Puts tools without a cluster beside the clusters, or in a cluster of their own where the listing would be too long.
 */
function addLoose(loose: readonly Placed[], clusters: Map<string, Cluster>, depth: number): Cluster {
  if (loose.length < MIN_CLUSTER || loose.length + clusters.size <= TOLERATED_CHILDREN) {
    return { leaves: [...loose], clusters };
  }
  const effects = byEffect(loose);
  if (clusters.size === 0 && effects.size === 1) return divideUnrelated(loose, depth);
  if (depth > 0 && loose.length > MAX_CHILDREN) {
    for (const [label, members] of effects) clusters.set(label, divideUnrelated(members, depth));
    return { leaves: [], clusters };
  }
  const other = divideUnrelated(loose, depth);
  // Ranges of letters can stand beside the clusters where there is room.
  const fits = other.clusters.size > 0 && clusters.size + other.clusters.size <= TOLERATED_CHILDREN;
  return { leaves: [], clusters: new Map([...clusters, ...(fits ? other.clusters : [[OTHER, other] as const])]) };
}

/** Divides tools with one topic into reading and changing ones. */
function byEffect(tools: readonly Placed[]): Map<string, Placed[]> {
  return groupBy(tools, (tool) => (READING_VERBS.has(tool.topic.verb) ? READ : WRITE));
}

/** Divides by the first word that differs: up to `depth` all nouns are equal. */
function divideUnrelated(tools: readonly Placed[], depth: number): Cluster {
  if (tools.length <= MAX_UNRELATED) return leavesOnly(tools);
  const byLetter = groupBy(tools, (tool) => letterRange(tool.topic.nouns[depth] ?? tool.topic.verb));
  return { leaves: [], clusters: new Map(Array.from(byLetter, ([range, members]) => [range, leavesOnly(members)])) };
}

/** Fixed ranges, so that no tool's letter depends on the others. */
const LETTER_RANGES = ['a-c', 'd-f', 'g-i', 'j-l', 'm-o', 'p-r', 's-u', 'v-z'];
const NO_LETTER = '0-9';

function letterRange(word: string): string {
  const letter = word.charCodeAt(0) - 0x61;
  if (!(letter >= 0 && letter < 26)) return NO_LETTER;
  return LETTER_RANGES[Math.min(Math.floor(letter / 3), LETTER_RANGES.length - 1)] as string;
}

/** Labels that describe the division of a listing and not its content. */
export const GENERIC_LABELS: ReadonlySet<string> = new Set([OTHER, READ, WRITE, NO_LETTER, ...LETTER_RANGES]);

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
