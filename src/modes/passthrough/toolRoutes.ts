import type { CatalogTool } from '../../catalog/types.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { advertisedNames } from '../shared/catalog/advertisedNames.ts';
import type { CatalogView } from '../shared/catalog/catalogView.ts';

type RawTool = Readonly<Record<string, unknown>>;

interface Route {
  tool: CatalogTool;
  raw: RawTool;
}

/** Names in `tools/list` and whose they are: a single server's own, those of several with the namespace before them. */
export class ToolRoutes {
  readonly #routes = new Map<string, Route>();

  constructor(view: CatalogView, connections: readonly ServerConnection[], hasSeveralServers: boolean) {
    const routes = connections.flatMap((connection) => routesOf(view, connection).map(withoutTasks));
    const names = hasSeveralServers
      ? advertisedNames(routes.map(({ tool }) => ({ id: tool.id, name: prefixed(tool.namespace, tool.upstreamName) })))
      : undefined;
    for (const route of routes) this.#routes.set(names?.get(route.tool.id) ?? route.tool.upstreamName, route);
  }

  /** Everything as the server tells it, but for the name where several servers would collide. */
  get list(): RawTool[] {
    return [...this.#routes].map(([name, { raw }]) => (name === raw.name ? raw : { ...raw, name }));
  }

  find(name: string): CatalogTool | undefined {
    return this.#routes.get(name)?.tool;
  }
}

/** Every tool is called plainly here: a client that reads `required` would refuse to call it so. */
function withoutTasks(route: Route): Route {
  const { execution } = route.raw as { execution?: RawTool };
  if (execution?.taskSupport === undefined) return route;
  const { taskSupport: _support, ...rest } = execution;
  return { ...route, raw: { ...route.raw, execution: rest } };
}

export function prefixed(namespace: string, name: string): string {
  return `${namespace}__${name}`;
}

/** In the server's own order; what the catalog cannot hold could not be called, and what clients cannot read not be listed. */
function routesOf(view: CatalogView, { config, listedTools }: ServerConnection): Route[] {
  const own = new Map(
    view.catalog.tools.filter(({ server }) => server === config.name).map((tool) => [tool.upstreamName, tool]),
  );
  const routes: Route[] = [];
  for (const raw of listedTools) {
    const tool = own.get(raw.name as string);
    if (!tool) continue;
    routes.push({ tool, raw });
    // Listed twice: the first counts.
    own.delete(tool.upstreamName);
  }
  return routes;
}
