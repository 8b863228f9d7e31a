import { RpcError } from '../../ops/rpcError.ts';
import { OWN_BUSINESS } from '../../upstream/callOrigin.ts';
import type { ServerConnection } from '../../upstream/serverConnection.ts';

const RESOURCE_NOT_FOUND = -32002;
const MAX_PAGES = 64;
const LIST_TIMEOUT_MS = 30_000;

type Item = Readonly<Record<string, unknown>>;

interface Owned {
  connection: ServerConnection;
  items: readonly Item[];
}

/** Whose a resource is, among several servers: who lists it, else who has a template that it can come from. */
export class ResourceOwners {
  readonly #connections: () => readonly ServerConnection[];
  #byUri = new Map<string, ServerConnection>();
  #templates: readonly { prefix: string; connection: ServerConnection }[] = [];
  #listed = false;

  constructor(connections: () => readonly ServerConnection[]) {
    this.#connections = connections;
  }

  /** Every resource of every server; of two with one URI the first server's. */
  async resources(): Promise<Item[]> {
    const all = await listEverywhere(this.#connections(), 'resources', 'resources/list', 'resources');
    const byUri = new Map<string, ServerConnection>();
    const first = all.flatMap(({ connection, items }) =>
      items.filter(({ uri }) => {
        if (typeof uri !== 'string' || byUri.has(uri)) return false;
        byUri.set(uri, connection);
        return true;
      }),
    );
    this.#byUri = byUri;
    return first;
  }

  async templates(): Promise<Item[]> {
    const all = await listEverywhere(this.#connections(), 'resources', 'resources/templates/list', 'resourceTemplates');
    this.#templates = all
      .flatMap(({ connection, items }) =>
        items.flatMap(({ uriTemplate }) =>
          typeof uriTemplate === 'string' ? [{ prefix: uriTemplate.split('{')[0] as string, connection }] : [],
        ),
      )
      // The closest first.
      .sort((a, b) => b.prefix.length - a.prefix.length);
    return all.flatMap(({ items }) => [...items]);
  }

  /** `uri` may be that of a template. */
  async of(uri: string): Promise<ServerConnection> {
    const known = this.#find(uri);
    if (known) return known;
    if (!this.#listed) {
      this.#listed = true;
      await Promise.all([this.resources(), this.templates()]);
      const found = this.#find(uri);
      if (found) return found;
    }
    throw new RpcError(RESOURCE_NOT_FOUND, 'Resource not found', { uri });
  }

  /** Something has changed: what nobody has is looked for once more. */
  forget(): void {
    this.#listed = false;
  }

  #find(uri: string): ServerConnection | undefined {
    return this.#byUri.get(uri) ?? this.#templates.find(({ prefix }) => uri.startsWith(prefix))?.connection;
  }
}

/** A list of every server that has such, all pages; one that cannot list has none for now. */
export async function listEverywhere(
  connections: readonly ServerConnection[],
  capability: string,
  method: string,
  key: string,
): Promise<Owned[]> {
  const having = connections.filter(({ capabilities }) => capabilities[capability]);
  return Promise.all(
    having.map(async (connection) => ({
      connection,
      items: await allPages(connection, method, key).catch(() => []),
    })),
  );
}

async function allPages(connection: ServerConnection, method: string, key: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await connection.request(method, params, { timeoutMs: LIST_TIMEOUT_MS, origin: OWN_BUSINESS });
    const list = result[key];
    if (Array.isArray(list)) {
      for (const item of list) if (typeof item === 'object' && item !== null) items.push(item as Item);
    }
    if (typeof result.nextCursor !== 'string' || result.nextCursor === cursor) break;
    cursor = result.nextCursor;
  }
  return items;
}
