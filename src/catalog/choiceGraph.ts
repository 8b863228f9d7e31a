import { CatalogError } from './catalogError.ts';
import { type Cluster, clusterTools, GENERIC_LABELS, groupBy, type Placed } from './cluster.ts';
import { compareCodePoints } from './codePointOrder.ts';
import { ALL_CHILDREN, fitSegment, formatPath, parsePath } from './path.ts';
import { sha256 } from './shapeHash.ts';
import { isVerb, singular, skippedCount, splitWords, type Topic, topicOf } from './topic.ts';
import type { CatalogTool, GraphNode } from './types.ts';

/** Fields of a tool that the graph needs. */
export type GraphTool = Pick<CatalogTool, 'id' | 'namespace' | 'name' | 'upstreamName'>;

/** Tools of a catalog as a tree of paths: namespaces, clusters in the large ones, tools (G3). */
export interface ChoiceGraph {
  /** Every node but the root, parents before children. */
  readonly nodes: readonly GraphNode[];
  /** Returns the node at a path. Throws PATH_INVALID, or PATH_NOT_FOUND with alternatives. */
  node(path: string): GraphNode;
  /** Returns the direct children of a path; none for a tool. */
  children(path: string): readonly GraphNode[];
  /** Returns the children of a node, or the tool itself (G3.4). */
  resolve(path: unknown): readonly GraphNode[];
  /** Returns the canonical path of a tool. */
  pathOf(toolId: string): string | undefined;
}

export const ROOT = '/';

/** Builds the graph. `noun` names a leaf in hints. */
export function buildChoiceGraph(
  tools: readonly GraphTool[],
  namespaces: Iterable<string>,
  noun = 'tool',
): ChoiceGraph {
  const byNamespace = groupBy(tools, (tool) => tool.namespace);
  for (const namespace of namespaces) if (!byNamespace.has(namespace)) byNamespace.set(namespace, []);
  const nodes: GraphNode[] = [];
  for (const namespace of [...byNamespace.keys()].sort(compareCodePoints)) {
    const placed = placeTools(byNamespace.get(namespace) as GraphTool[], namespace);
    addNode(nodes, [namespace], 'namespace', clusterTools(placed), noun);
  }
  return graphOf(nodes);
}

/** Adds a node and all below it, parents first, children by label. Returns the number of tools. */
function addNode(
  nodes: GraphNode[],
  segments: readonly string[],
  kind: 'namespace' | 'cluster',
  cluster: Cluster,
  noun: string,
): number {
  const at = nodes.length;
  const label = segments.at(-1) as string;
  nodes.push({ path: formatPath(segments), label, kind, toolCount: 0, hint: '' });
  const leaves = new Set(cluster.leaves.map((leaf) => leaf.label));
  const taken = new Set([...leaves, ...cluster.clusters.keys()]);
  const children = [
    ...cluster.leaves.map((leaf) => ({ label: leaf.label, leaf })),
    ...Array.from(cluster.clusters, ([name, sub]) => ({
      label: leaves.has(name) ? freeLabel(name, taken) : name,
      sub,
    })),
  ].sort((a, b) => compareCodePoints(a.label, b.label));
  let toolCount = 0;
  for (const child of children) {
    const path = [...segments, child.label];
    if ('leaf' in child) {
      nodes.push({
        path: formatPath(path),
        label: child.label,
        kind: 'tool',
        toolCount: 1,
        hint: '',
        toolId: child.leaf.toolId,
      });
      toolCount++;
    } else toolCount += addNode(nodes, path, 'cluster', child.sub, noun);
  }
  const labels = children.map((child) => child.label);
  nodes[at] = { ...(nodes[at] as GraphNode), toolCount, hint: hintOf(toolCount, labels, noun) };
  return toolCount;
}

/** Returns another label for a cluster with the name of a tool, which keeps it. */
function freeLabel(name: string, taken: Set<string>): string {
  let label = name;
  while (taken.has(label)) label += '-tools';
  taken.add(label);
  return label;
}

const HINT_LABELS = 8;

function hintOf(toolCount: number, labels: readonly string[], noun = 'tool'): string {
  const shown = labels.slice(0, HINT_LABELS).join(', ');
  const more = labels.length > HINT_LABELS ? ', …' : '';
  return labels.length === 0
    ? `No ${noun}s yet.`
    : `${toolCount} ${noun}${toolCount === 1 ? '' : 's'}: ${shown}${more}`;
}

/** Gives every tool a label that is unique in its namespace, and its topic. */
function placeTools(tools: readonly GraphTool[], namespace: string): Placed[] {
  const named = tools.map((tool) => ({ tool, words: splitWords(tool.name) }));
  const skipped = wordsToSkip(
    named.map(({ words }) => words),
    namespace,
  );
  const placed: Placed[] = [];
  for (const [label, sharers] of groupBy(named, ({ tool, words }) => leafLabel(tool.name, words))) {
    // A tool with exactly this name keeps the label; a name that becomes equal by fitting gets a suffix.
    const owner = sharers.find(({ tool }) => tool.name === label) ?? sharers[0];
    for (const sharer of sharers) {
      const { tool, words } = sharer;
      const own = sharer === owner ? label : `${label.slice(0, 55)}-${sha256(tool.upstreamName).slice(0, 8)}`;
      placed.push({ toolId: tool.id, label: own, topic: topicOf(words, skipped) });
    }
  }
  return placed.sort((a, b) => compareCodePoints(a.label, b.label));
}

/** Returns `create_issue` unchanged, and the words of a camel-case name, which lower case would make unreadable. */
function leafLabel(name: string, words: readonly string[]): string {
  if (!/[A-Z]/.test(name)) return fitSegment(name);
  const separator = name.includes('_') ? '_' : '-';
  return fitSegment(words.join(separator));
}

/** Share of a namespace's tools from which a common first word says nothing about any of them. */
const SHARED_PREFIX = 0.7;
const PREFIX_SAMPLE = 5;

function wordsToSkip(names: readonly string[][], namespace: string): Set<string> {
  const skipped = new Set(splitWords(namespace));
  if (names.length < PREFIX_SAMPLE) return skipped;
  for (;;) {
    const before = skipped.size;
    for (const [word, sharers] of groupBy(names, (words) => words[skippedCount(words, skipped)] ?? '')) {
      if (sharers.length >= names.length * SHARED_PREFIX && !isVerb(word)) skipped.add(word);
    }
    if (skipped.size === before) return skipped;
  }
}

/** Makes the graph of nodes in build order: parents before children. */
export function graphOf(nodes: readonly GraphNode[]): ChoiceGraph {
  const byPath = new Map<string, GraphNode>();
  const childrenOf = new Map<string, GraphNode[]>([[ROOT, []]]);
  const paths = new Map<string, string>();
  for (const node of nodes) {
    byPath.set(node.path, node);
    const slash = node.path.lastIndexOf('/');
    childrenOf.get(slash === 0 ? ROOT : node.path.slice(0, slash))?.push(node);
    if (node.toolId === undefined) childrenOf.set(node.path, []);
    else paths.set(node.toolId, node.path);
  }
  const root: GraphNode = {
    path: ROOT,
    label: '',
    kind: 'namespace',
    toolCount: paths.size,
    hint: hintOf(
      paths.size,
      (childrenOf.get(ROOT) as GraphNode[]).map((node) => node.label),
    ),
  };
  byPath.set(ROOT, root);

  const find = (path: unknown): GraphNode | readonly GraphNode[] => {
    const segments = parsePath(path);
    if (segments.at(-1) === ALL_CHILDREN) segments.pop();
    const exact = byPath.get(formatPath(segments));
    if (exact) return exact;
    const byTopic = findByTopic(segments, nodes);
    if (byTopic) return byTopic;
    throw notFound(segments, byPath, childrenOf);
  };
  const node = (path: string): GraphNode => {
    const found = find(path);
    return 'path' in found ? found : topicNode(path, found);
  };
  return {
    nodes,
    node,
    children: (path) => {
      const found = find(path);
      return 'path' in found ? (childrenOf.get(found.path) ?? []) : found;
    },
    resolve: (path) => {
      const found = find(path);
      if (!('path' in found)) return found;
      return found.toolId === undefined ? (childrenOf.get(found.path) ?? []) : [found];
    },
    pathOf: (toolId) => paths.get(toolId),
  };
}

/**
 * Resolves paths that are not canonical but clear (G3.8): a topic without a cluster (`/github/issues` while GitHub has
 * few tools), a tool without its cluster or under a former one (`/github/issues/create_issue`). Remembered paths
 * therefore survive growing and shrinking catalogs.
 */
function findByTopic(segments: readonly string[], nodes: readonly GraphNode[]): GraphNode | GraphNode[] | undefined {
  const [namespace, ...rest] = segments;
  if (namespace === undefined || rest.length === 0) return undefined;
  const skipped = new Set(splitWords(namespace));
  const prefix = `/${namespace}/`;
  const tools = nodes.filter((node) => node.toolId !== undefined && node.path.startsWith(prefix));
  const about = (node: GraphNode, topics: readonly string[]): boolean => {
    const words = topicWords(topicOf(splitWords(node.label), skipped));
    return topics.every((topic) => splitWords(topic).every((word) => words.has(singular(word))));
  };
  const topics = rest.filter((segment) => !GENERIC_LABELS.has(segment));
  const leaf = withoutSeparators(rest.at(-1) as string);
  const above = rest.slice(0, -1).filter((segment) => !GENERIC_LABELS.has(segment));
  const named = tools.find((node) => withoutSeparators(node.label) === leaf && about(node, above));
  if (named) return named;
  const members = topics.length > 0 ? tools.filter((node) => about(node, topics)) : [];
  return members.length > 0 ? members : undefined;
}

function withoutSeparators(label: string): string {
  return label.replaceAll(/[-_]/g, '');
}

function topicWords({ nouns, related }: Topic): Set<string> {
  return new Set([...nouns, ...related].flatMap((noun) => noun.split('-')));
}

function topicNode(path: string, tools: readonly GraphNode[]): GraphNode {
  const labels = tools.map((tool) => tool.label);
  const label = parsePath(path).findLast((segment) => segment !== ALL_CHILDREN) ?? '';
  return { path, label, kind: 'cluster', toolCount: tools.length, hint: hintOf(tools.length, labels) };
}

function notFound(
  segments: readonly string[],
  byPath: ReadonlyMap<string, GraphNode>,
  childrenOf: ReadonlyMap<string, readonly GraphNode[]>,
): CatalogError {
  let known = segments.length - 1;
  while (known > 0 && !byPath.has(formatPath(segments.slice(0, known)))) known--;
  const parent = formatPath(segments.slice(0, known));
  const siblings = (childrenOf.get(parent) ?? []).map((node) => node.label);
  return new CatalogError('PATH_NOT_FOUND', `There is no path "${formatPath(segments).slice(0, 200)}".`, {
    parent,
    label: segments[known] as string,
    siblings,
  });
}
