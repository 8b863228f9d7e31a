import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CatalogTool } from '../../src/catalog/types.ts';
import type { RankServer } from '../../src/ranking/rankIndex.ts';

/** Queries and tools in the forms of `data/catalog/*` (two files) and `data/routing/*` (one file). */
export interface DataQuery {
  text: string;
  gold: readonly string[];
  /** Groups of alternatives for whole tasks: one tool of each group suffices. */
  alt?: readonly (readonly string[])[];
  kind: string;
}

export interface DataSet {
  name: string;
  tools: CatalogTool[];
  servers: RankServer[];
  queries: DataQuery[];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

export function toCatalogTool(raw: Record<string, unknown>): CatalogTool {
  const annotations = record(raw.annotations);
  const server = text(raw.server);
  const name = text(raw.name);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([name, raw.title, raw.description, raw.inputSchema, raw.annotations]))
    .digest('hex');
  const readOnly = annotations.readOnlyHint === true;
  return {
    id: text(raw.id) || `${server}/${name}`,
    namespace: server,
    name,
    server,
    upstreamName: name,
    title: text(raw.title) || text(annotations.title),
    description: text(raw.description),
    tags: [...strings(raw.tags), ...(text(raw.category) ? [text(raw.category)] : [])],
    safety: annotations.destructiveHint === true && !readOnly ? 'destructive' : readOnly ? 'read_only' : '',
    sideEffects: !readOnly,
    costHint: 0,
    inputSchema: raw.inputSchema ?? { type: 'object' },
    outputSchema: undefined,
    annotations,
    fingerprint,
  };
}

function readQueries(value: unknown): DataQuery[] {
  const list = Array.isArray(value) ? value : record(value).queries;
  if (!Array.isArray(list)) throw new Error('A queries file is a list, or an object with a list "queries".');
  return list.map((item) => {
    const raw = record(item);
    const alt = Array.isArray(raw.alt) ? { alt: raw.alt.map(strings) } : {};
    return { text: text(raw.text), gold: strings(raw.gold), kind: text(raw.kind) || 'all', ...alt };
  });
}

/** Reads Waygate's own query fixture: kind, text and accepted tools, separated by tabs. */
function readTabbed(content: string): DataQuery[] {
  return content
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [kind = '', query = '', gold = ''] = line.split('\t');
      return { text: query, gold: gold.split(','), kind };
    });
}

export function loadDataSet(toolsFile: string, queriesFile?: string): DataSet {
  const parsed = record(JSON.parse(readFileSync(toolsFile, 'utf8')));
  if (!Array.isArray(parsed.tools)) throw new Error(`${toolsFile} has no list "tools".`);
  const rawTools = parsed.tools.map(record);
  const servers = new Map<string, RankServer>();
  for (const raw of rawTools) {
    const name = text(raw.server);
    if (servers.has(name)) continue;
    const instructions = text(raw.serverDescription);
    servers.set(name, { name, namespace: name, ...(instructions ? { instructions } : {}) });
  }
  const queries =
    queriesFile === undefined
      ? readQueries(parsed)
      : queriesFile.endsWith('.tsv')
        ? readTabbed(readFileSync(queriesFile, 'utf8'))
        : readQueries(JSON.parse(readFileSync(queriesFile, 'utf8')));
  return {
    name: text(parsed.name) || toolsFile.replace(/^.*\//, '').replace(/\.json$/, ''),
    tools: rawTools.map(toCatalogTool),
    servers: [...servers.values()],
    queries,
  };
}

/**
 * Repeats the catalog `times` times under servers of other names, to reach 10,000 tools. `distinct` copies differ in a
 * word of their description, so that they are not clones.
 */
export function replicate(data: DataSet, times: number, distinct = false): DataSet {
  const renamed = (name: string, copy: number) => (copy === 0 ? name : `${name}-${copy + 1}`);
  const tools: CatalogTool[] = [];
  const servers: RankServer[] = [];
  for (let copy = 0; copy < times; copy++) {
    for (const tool of data.tools) {
      const server = renamed(tool.server, copy);
      const description =
        distinct && copy > 0 ? `${tool.description} Edition${'abcdefghij'[copy % 10]}.` : tool.description;
      tools.push({
        ...tool,
        description,
        server,
        namespace: server,
        id: copy === 0 ? tool.id : `${server}/${tool.name}`,
      });
    }
    for (const server of data.servers) {
      const name = renamed(server.name, copy);
      servers.push({ ...server, name, namespace: name });
    }
  }
  return { ...data, tools, servers };
}

/** Adds the tools and servers of further catalogs. A server whose name is taken gets another, as in a configuration. */
export function withMore(data: DataSet, more: readonly DataSet[]): DataSet {
  const known = new Set(data.tools.map(({ id }) => id));
  const taken = new Set(data.servers.map(({ name }) => name));
  const renamed = (name: string) => (taken.has(name) ? `${name}-2` : name);
  const tools = more.flatMap((other) =>
    other.tools.map((tool) => {
      const server = renamed(tool.server);
      return { ...tool, server, namespace: server, id: `${other.name}/${tool.id}` };
    }),
  );
  const servers = more.flatMap((other) => other.servers.map((server) => ({ ...server, name: renamed(server.name) })));
  return {
    ...data,
    tools: [...data.tools, ...tools.filter(({ id }) => !known.has(id) && known.add(id))],
    servers: [...data.servers, ...servers.map((server) => ({ ...server, namespace: server.name }))],
  };
}
