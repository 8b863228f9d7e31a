import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Route {
  path: string;
  /** Parameters that the request must have; others do not matter. */
  query?: Readonly<Record<string, string | readonly string[]>>;
  response: { status?: number; body?: unknown; text?: string; headers?: Readonly<Record<string, string>> };
}

export interface SchemaGenerator {
  name: string;
  path: string;
  connectors: number;
  streams: number;
  fields: number;
  pad: number;
}

export interface Seen {
  path: string;
  query: Record<string, string[]>;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface Routes {
  routes: readonly Route[];
  /** Routes for one bearer, in place of the others. */
  byToken?: Readonly<Record<string, readonly Route[]>> | undefined;
}

/** Resource server on loopback that answers from routes and remembers every request. */
export class ResourceServer {
  readonly seen: Seen[] = [];
  readonly #server: Server;
  #routes: Routes = { routes: [] };

  private constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://loopback');
      const query: Record<string, string[]> = {};
      for (const [key, value] of url.searchParams) {
        query[key] ??= [];
        query[key].push(value);
      }
      this.seen.push({ path: url.pathname, query, headers: request.headers });
      const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const own = this.#routes.byToken?.[token] ?? this.#routes.routes;
      const route = own.find((one) => one.path === url.pathname && matches(one, query));
      const { status = 200, body, text, headers = {} } = route?.response ?? NOT_FOUND;
      const type = text === undefined ? 'application/json; charset=utf-8' : 'text/plain';
      response.writeHead(status, { 'content-type': type, ...headers });
      response.end(text ?? JSON.stringify(body));
    });
  }

  static async start(make: (url: string) => Routes): Promise<ResourceServer> {
    const server = new ResourceServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    // The routes may name the address, which exists only now.
    server.#routes = make(server.url);
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const NOT_FOUND: Route['response'] = {
  status: 404,
  body: { error: { type: 'not_found_error', code: 'not_found', message: 'no route' } },
};

function matches({ query: wanted = {} }: Route, given: Readonly<Record<string, readonly string[]>>): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const values = typeof value === 'string' ? [value] : value;
    return JSON.stringify(given[key]) === JSON.stringify(values);
  });
}

/** Makes the route of a generated schema: connectors with streams with fields. */
export function generatedRoute({ path, connectors, streams, fields, pad }: SchemaGenerator): Route {
  const no = { declared: false, usable: false };
  const yes = { declared: true, usable: true };
  const numbers = (count: number): number[] => [...Array(count).keys()];
  const field = (at: number): object => ({
    type: 'string',
    granted: true,
    schema: { type: 'string', description: 'pad '.repeat(pad) },
    exact_filter: yes,
    range_filter: no,
    lexical_search: at % 5 === 0 ? yes : no,
    semantic_search: no,
    aggregation: { count_distinct: yes },
  });
  const connector = (c: number): object => ({
    object: 'connector',
    connector_key: `kind-${c}`,
    connector_id: `kind-${c}`,
    source: { kind: 'connector', id: `kind-${c}`, display_name: `Kind ${c}` },
    stream_count: streams,
    streams: numbers(streams).map((s) => ({
      name: `stream_${c}_${s}`,
      connection_id: `cin_${c}`,
      granted_connections: [{ connection_id: `cin_${c}`, display_name: `Account ${c}` }],
      expand_capabilities: [],
      field_capabilities: Object.fromEntries(numbers(fields).map((f) => [`field_${f}`, field(f)])),
    })),
  });
  const body = {
    object: 'schema',
    connector_count: connectors,
    stream_count: connectors * streams,
    connectors: numbers(connectors).map(connector),
  };
  return { path, response: { status: 200, body } };
}
