import type { Catalog, CatalogServer } from './catalog.ts';
import { CatalogError } from './catalogError.ts';
import { type ChoiceGraph, graphOf } from './choiceGraph.ts';
import { fingerprint, sha256 } from './shapeHash.ts';
import { parseToolId } from './toolId.ts';
import type { CatalogTool, GraphNode, NodeKind, RefreshFinding, Safety } from './types.ts';

/**
 * Name of the file format. A file holds a whole catalog in three parts:
 *
 *     one line of JSON: format, version, length of the index, hash of all that follows
 *     the index: JSON by columns, everything that browsing and ranking need at once
 *     the schemas: one JSON text per tool, end to end, read when a tool is used
 *
 * Most of a catalog's bytes are schemas that are never used. Loading is fast because they stay text.
 */
const FORMAT = 'waygate-catalog';
const VERSION = 1;
const NEWLINE = 0x0a;
const LONGEST_HEADER = 1024;

interface Header {
  format: typeof FORMAT;
  version: number;
  indexBytes: number;
  sha256: string;
}

interface Index {
  hash: string;
  servers: readonly CatalogServer[];
  findings: readonly RefreshFinding[];
  tools: ToolColumns;
  nodes: NodeColumns;
}

interface ToolColumns {
  id: string[];
  /** Position in `servers`. */
  server: number[];
  /** Raw name, or 0 where it equals the name in the id, as in nearly all cases. */
  upstreamName: (string | 0)[];
  title: string[];
  description: string[];
  tags: (readonly string[])[];
  safety: Safety[];
  sideEffects: (0 | 1)[];
  costHint: number[];
  /** Size of the tool's schemas in bytes. */
  textBytes: number[];
  /** Positions of tools that run only as tasks; absent where no tool does. */
  requiresTask?: number[];
}

interface NodeColumns {
  path: string[];
  kind: NodeKind[];
  toolCount: number[];
  hint: string[];
  /** Position in the tools, or -1. */
  tool: number[];
}

export function encodeCatalog(catalog: Catalog): Uint8Array {
  const texts = catalog.tools.map((tool) =>
    Buffer.from(JSON.stringify([tool.inputSchema, tool.outputSchema, tool.annotations])),
  );
  const index: Index = {
    hash: catalog.hash,
    servers: catalog.servers,
    findings: catalog.findings,
    tools: toolColumns(catalog, texts),
    nodes: nodeColumns(catalog),
  };
  const indexBytes = Buffer.from(JSON.stringify(index));
  const body = Buffer.concat([indexBytes, ...texts]);
  const header: Header = { format: FORMAT, version: VERSION, indexBytes: indexBytes.length, sha256: sha256(body) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

/** Reads the whole catalog of a file, or throws `snapshot_version` or `snapshot_damaged`. */
export function decodeCatalog(bytes: Uint8Array): Catalog {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { header, bodyAt } = readHeader(file);
  const body = file.subarray(bodyAt);
  if (sha256(body) !== header.sha256) throw damaged('its content does not have the hash that it states');
  const index = JSON.parse(body.toString('utf8', 0, header.indexBytes)) as Index;
  const tools = readTools(index, body.subarray(header.indexBytes));
  let graph: ChoiceGraph | undefined;
  return {
    tools,
    byId: new Map(tools.map((tool) => [tool.id, tool])),
    get graph() {
      graph ??= graphOf(readNodes(index, tools));
      return graph;
    },
    servers: index.servers,
    findings: index.findings,
    hash: index.hash,
  };
}

function readHeader(file: Buffer): { header: Header; bodyAt: number } {
  const end = file.subarray(0, LONGEST_HEADER).indexOf(NEWLINE);
  if (end < 0) throw damaged('it has no header');
  let header: Partial<Header>;
  try {
    header = JSON.parse(file.toString('utf8', 0, end)) as Partial<Header>;
  } catch {
    throw damaged('its header is no JSON');
  }
  if (header === null || header.format !== FORMAT) throw damaged('it is not a catalog');
  if (header.version !== VERSION) {
    throw new CatalogError(
      'snapshot_version',
      `The catalog snapshot has version ${String(header.version)} and this program reads ${VERSION}: list the servers' tools again.`,
    );
  }
  if (!Number.isInteger(header.indexBytes) || typeof header.sha256 !== 'string')
    throw damaged('its header is incomplete');
  return { header: header as Header, bodyAt: end + 1 };
}

function damaged(why: string): CatalogError {
  return new CatalogError(
    'snapshot_damaged',
    `The catalog snapshot cannot be used: ${why}. List the servers' tools again.`,
  );
}

function toolColumns(catalog: Catalog, texts: readonly Buffer[]): ToolColumns {
  const { tools, servers } = catalog;
  const serverAt = new Map(servers.map((server, index) => [server.name, index]));
  const requiresTask = tools.flatMap((tool, at) => (tool.requiresTask ? [at] : []));
  return {
    id: tools.map((tool) => tool.id),
    server: tools.map((tool) => serverAt.get(tool.server) as number),
    upstreamName: tools.map((tool) => (tool.upstreamName === tool.name ? 0 : tool.upstreamName)),
    title: tools.map((tool) => tool.title),
    description: tools.map((tool) => tool.description),
    tags: tools.map((tool) => tool.tags),
    safety: tools.map((tool) => tool.safety),
    sideEffects: tools.map((tool) => (tool.sideEffects ? 1 : 0)),
    costHint: tools.map((tool) => tool.costHint),
    textBytes: texts.map((text) => text.length),
    ...(requiresTask.length > 0 ? { requiresTask } : {}),
  };
}

function nodeColumns({ graph, tools }: Catalog): NodeColumns {
  const toolAt = new Map(tools.map((tool, index) => [tool.id, index]));
  return {
    path: graph.nodes.map((node) => node.path),
    kind: graph.nodes.map((node) => node.kind),
    toolCount: graph.nodes.map((node) => node.toolCount),
    hint: graph.nodes.map((node) => node.hint),
    tool: graph.nodes.map((node) => (node.toolId === undefined ? -1 : (toolAt.get(node.toolId) as number))),
  };
}

function readTools({ tools: columns, servers }: Index, texts: Buffer): CatalogTool[] {
  let offset = 0;
  const requireTask = new Set(columns.requiresTask);
  return columns.id.map((id, at) => {
    const { namespace, name } = parseToolId(id);
    const start = offset;
    offset += columns.textBytes[at] as number;
    return storedTool(texts.subarray(start, offset), {
      id,
      namespace,
      name,
      server: (servers[columns.server[at] as number] as CatalogServer).name,
      upstreamName: columns.upstreamName[at] || name,
      title: columns.title[at] as string,
      description: columns.description[at] as string,
      tags: columns.tags[at] as readonly string[],
      safety: columns.safety[at] as Safety,
      sideEffects: columns.sideEffects[at] === 1,
      costHint: columns.costHint[at] as number,
      ...(requireTask.has(at) ? { requiresTask: true } : {}),
    });
  });
}

type Heavy = Pick<CatalogTool, 'inputSchema' | 'outputSchema' | 'annotations'>;

/** Returns a tool with schemas that are parsed, and a pin that is computed, on demand. */
function storedTool(text: Buffer, light: Omit<CatalogTool, keyof Heavy | 'fingerprint'>): CatalogTool {
  let heavy: Heavy | undefined;
  let pin: string | undefined;
  const parsed = (): Heavy => {
    if (heavy === undefined) {
      const [inputSchema, outputSchema, annotations] = JSON.parse(text.toString('utf8'));
      heavy = { inputSchema, outputSchema: outputSchema ?? undefined, annotations };
    }
    return heavy;
  };
  return {
    ...light,
    get inputSchema() {
      return parsed().inputSchema;
    },
    get outputSchema() {
      return parsed().outputSchema;
    },
    get annotations() {
      return parsed().annotations;
    },
    get fingerprint() {
      pin ??= fingerprint({
        name: light.upstreamName,
        title: light.title,
        description: light.description,
        ...parsed(),
      });
      return pin;
    },
  };
}

function readNodes({ nodes: columns }: Index, tools: readonly CatalogTool[]): GraphNode[] {
  return columns.path.map((path, at) => {
    const tool = tools[columns.tool[at] as number];
    return {
      path,
      label: path.slice(path.lastIndexOf('/') + 1),
      kind: columns.kind[at] as NodeKind,
      toolCount: columns.toolCount[at] as number,
      hint: columns.hint[at] as string,
      ...(tool === undefined ? {} : { toolId: tool.id }),
    };
  });
}
