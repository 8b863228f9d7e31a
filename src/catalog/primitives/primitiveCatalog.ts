import type { Catalog, CatalogServer } from '../catalog.ts';
import { CatalogError } from '../catalogError.ts';
import { buildChoiceGraph, type ChoiceGraph } from '../choiceGraph.ts';
import { compareCodePoints } from '../codePointOrder.ts';
import { assignNamespaces } from '../namespace.ts';
import { sha256 } from '../shapeHash.ts';
import type { CatalogTool, RefreshFinding } from '../types.ts';
import { parsePrimitiveId, resolveCollisions } from './primitiveId.ts';
import { type CatalogPrompt, type CatalogResource, ingestPrompt, ingestResource } from './primitiveIngest.ts';

/** Lists of one server beside its tools, unchanged and untrusted. */
export interface PrimitiveListing {
  server: string;
  resources: readonly unknown[];
  resourceTemplates: readonly unknown[];
  prompts: readonly unknown[];
  /** Whether the server has declared resources, whatever it lists. */
  readsResources: boolean;
  instructions?: string;
}

type Json = Readonly<Record<string, unknown>>;

export interface OfferedResource extends CatalogResource {
  server: string;
  /** Whether `uri` is a template from which readers make addresses. */
  isTemplate: boolean;
  /** Item as its server listed it. */
  raw: Json;
}

export interface OfferedPrompt extends CatalogPrompt {
  server: string;
  raw: Json;
}

/** Resources and prompts of all servers (G10). Immutable: a refresh builds another one (G8.1). */
export interface PrimitiveCatalog {
  /** Resources by server, then as listed, templates last. */
  readonly resources: readonly OfferedResource[];
  readonly prompts: readonly OfferedPrompt[];
  /** Namespaces by server name, equal to those of its tools. */
  readonly namespaces: ReadonlyMap<string, string>;
  /** Servers that declare resources. */
  readonly readable: readonly string[];
  /** Resources as choices of a catalog of their own. Kinds never mix (G10.6). */
  readonly resourceChoices: Catalog;
  readonly promptChoices: Catalog;
  readonly findings: readonly RefreshFinding[];
}

/** Size limit of an item, above any real description: a page of a list must fit into a frame. */
const MAX_ITEM_CHARS = 256 * 1024;

/** Builds a catalog. The same listings give the same catalog, in whatever order the servers come (G8.3). */
export function buildPrimitiveCatalog(listings: readonly PrimitiveListing[]): PrimitiveCatalog {
  const namespaces = assignNamespaces(listings.map(({ server }) => server));
  const sorted = [...listings].sort((a, b) => compareCodePoints(a.server, b.server));
  const findings: RefreshFinding[] = [];
  const resources: OfferedResource[] = [];
  const prompts: OfferedPrompt[] = [];
  for (const listing of sorted) {
    const { server } = listing;
    const namespace = namespaces.get(server) as string;
    const intake = new Intake(server, findings);
    resources.push(
      ...intake.distinct(
        listing.resources,
        (raw) => ({ ...ingestResource(raw, namespace), server, isTemplate: false, raw }),
        uriOf,
      ),
      ...intake.distinct(listing.resourceTemplates, (raw) => templateOf(raw, namespace, server), uriOf),
    );
    prompts.push(
      ...intake.distinct(
        listing.prompts,
        (raw) => ({ ...ingestPrompt(raw, namespace), server, raw }),
        ({ name }) => name,
      ),
    );
  }
  const offeredResources = withOwnIds(resources);
  const offeredPrompts = withOwnIds(prompts);
  return {
    resources: offeredResources,
    prompts: offeredPrompts,
    namespaces,
    readable: sorted.filter(({ readsResources }) => readsResources).map(({ server }) => server),
    resourceChoices: choicesOf(
      offeredResources.map((resource) => ({ choice: resourceChoice(resource), key: resource.uri })),
      sorted,
      namespaces,
      'resource',
    ),
    promptChoices: choicesOf(
      offeredPrompts.map((prompt) => ({ choice: promptChoice(prompt), key: prompt.name })),
      sorted,
      namespaces,
      'prompt',
    ),
    findings,
  };
}

/** Returns the choice for a resource that its server does not list. */
export function unlistedChoice(uri: string, server: string, namespace: string): CatalogTool {
  return resourceChoice({ ...ingestResource({ uri }, namespace), server, isTemplate: false, raw: { uri } });
}

/** Returns the choice for a prompt that its server does not list. */
export function unlistedPrompt(name: string, server: string, namespace: string): CatalogTool {
  return promptChoice({ ...ingestPrompt({ name }, namespace), server, raw: { name } });
}

/** Reads the lists of a server. Drops only bad items, and the second of two equal items. */
class Intake {
  readonly #server: string;
  readonly #findings: RefreshFinding[];

  constructor(server: string, findings: RefreshFinding[]) {
    this.#server = server;
    this.#findings = findings;
  }

  distinct<T extends { name: string }>(
    items: readonly unknown[],
    ingest: (raw: Json) => T,
    identity: (item: T) => string,
  ): T[] {
    const known = new Map<string, T>();
    items.forEach((raw, index) => {
      try {
        const item = ingest(checked(raw));
        const key = identity(item);
        if (known.has(key)) throw new CatalogError('duplicate_id', 'It is listed twice: the first is used.');
        known.set(key, item);
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        const named = (raw as { name?: unknown } | null)?.name;
        const shown = typeof named === 'string' && named !== '' ? named : `number ${index + 1} of its list`;
        this.#findings.push({ server: this.#server, tool: shown, kind: 'skipped', reason: error.message });
      }
    });
    return [...known.values()];
  }
}

/** Returns an item that can be passed on: a serializable object of limited size. */
function checked(raw: unknown): Json {
  let chars: number;
  try {
    chars = JSON.stringify(raw)?.length ?? 0;
  } catch {
    throw new CatalogError('bad_primitive', 'It nests too deep.');
  }
  if (chars > MAX_ITEM_CHARS) throw new CatalogError('bad_primitive', `Its description has ${chars} characters.`);
  return raw as Json;
}

function templateOf(raw: Json, namespace: string, server: string): OfferedResource {
  const uri = raw !== null && typeof raw === 'object' ? raw.uriTemplate : undefined;
  const resource = ingestResource({ ...raw, uri }, namespace);
  return { ...resource, tags: [...resource.tags, 'template'].sort(compareCodePoints), server, isTemplate: true, raw };
}

const uriOf = ({ uri }: OfferedResource): string => uri;

/** Gives different primitives with the same id `~2`, `~3`, in catalog order (G10.3). */
function withOwnIds<T extends { id: string }>(items: readonly T[]): T[] {
  const ids = resolveCollisions(items.map(({ id }) => id));
  return items.map((item, index) => ({ ...item, id: ids[index] as string }));
}

function resourceChoice(resource: OfferedResource): CatalogTool {
  const { uri, raw, isTemplate } = resource;
  const title = typeof raw.title === 'string' ? raw.title : '';
  const described = typeof raw.description === 'string' && raw.description.trim() !== '';
  const description = described ? resource.description : title || (resource.name === uri ? '' : uri);
  return {
    ...choiceOf(resource),
    title: `${title} ${uri}`.trim(),
    // A model has to fill in a template, so it must see it.
    description: isTemplate ? `${uri} ${described ? resource.description : title}`.trim() : description,
    inputSchema: undefined,
  };
}

function promptChoice(prompt: OfferedPrompt): CatalogTool {
  return {
    ...choiceOf(prompt),
    title: typeof prompt.raw.title === 'string' ? prompt.raw.title : '',
    inputSchema: prompt.arguments.length > 0 ? prompt.argumentsSchema : undefined,
  };
}

/** Returns the form that ranking, cards, paths and rules read: read-only, with a name, a server and a description. */
function choiceOf({ id, namespace, name, server, description, tags, raw }: OfferedResource | OfferedPrompt) {
  return {
    id,
    namespace,
    name: parsePrimitiveId(id.replace(/~\d+$/, '')).name,
    server,
    upstreamName: name,
    description,
    tags,
    safety: 'read_only' as const,
    sideEffects: false,
    costHint: 0,
    outputSchema: undefined,
    annotations: {},
    get fingerprint() {
      return sha256(JSON.stringify(raw));
    },
  };
}

/** Makes the choices of one kind. `key` distinguishes items of equal names. */
function choicesOf(
  items: readonly { choice: CatalogTool; key: string }[],
  listings: readonly PrimitiveListing[],
  namespaces: ReadonlyMap<string, string>,
  noun: string,
): Catalog {
  const tools = items.map(({ choice }) => choice).sort((a, b) => compareCodePoints(a.id, b.id));
  const servers: CatalogServer[] = listings
    .map(({ server, instructions = '' }) => ({
      name: server,
      namespace: namespaces.get(server) as string,
      toolCount: tools.filter((tool) => tool.server === server).length,
      instructions,
    }))
    .filter(({ toolCount }) => toolCount > 0);
  let graph: ChoiceGraph | undefined;
  return {
    tools,
    byId: new Map(tools.map((tool) => [tool.id, tool])),
    get graph() {
      graph ??= buildChoiceGraph(
        items.map(({ choice: { id, namespace, name }, key }) => ({ id, namespace, name, upstreamName: key })),
        servers.map(({ namespace }) => namespace),
        noun,
      );
      return graph;
    },
    servers,
    findings: [],
    get hash() {
      return sha256(tools.map(({ id, fingerprint }) => `${id} ${fingerprint}`).join('\n'));
    },
  };
}
