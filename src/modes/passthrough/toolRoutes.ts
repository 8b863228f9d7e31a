import type { CatalogTool } from '../../catalog/types.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { advertisedNames } from '../shared/catalog/advertisedNames.ts';
import type { CatalogView } from '../shared/catalog/catalogView.ts';
import type { PassthroughContext } from './passthroughContext.ts';

type RawTool = Readonly<Record<string, unknown>>;

interface Route {
  tool: CatalogTool;
  raw: RawTool;
}

/**
 * Names in `tools/list` with their tools: unchanged for a single server, with the namespace as a prefix for several.
 */
export class ToolRoutes {
  readonly #routes = new Map<string, Route>();

  constructor(view: CatalogView, connections: readonly ServerConnection[], hasSeveralServers: boolean) {
    const routes = connections.flatMap((connection) => routesOf(view, connection).map(withoutTasks));
    const names = hasSeveralServers
      ? advertisedNames(routes.map(({ tool }) => ({ id: tool.id, name: prefixed(tool.namespace, tool.upstreamName) })))
      : undefined;
    for (const route of routes) this.#routes.set(names?.get(route.tool.id) ?? route.tool.upstreamName, route);
  }

  /** Tools as the servers list them. With several servers, only the name differs. */
  get list(): RawTool[] {
    return [...this.#routes].map(([name, { raw }]) => (name === raw.name ? raw : { ...raw, name }));
  }

  find(name: string): CatalogTool | undefined {
    return this.#routes.get(name)?.tool;
  }
}

/** Returns the routes of the present lists. They are made again only when a list or the servers have changed. */
export function keptRoutes({
  view,
  connections,
  hasSeveralServers,
}: Pick<PassthroughContext, 'view' | 'connections' | 'hasSeveralServers'>): () => ToolRoutes {
  let [routes, madeOf]: [ToolRoutes | undefined, readonly unknown[]] = [undefined, []];
  return () => {
    const servers = connections();
    // The same tools under the same pins are the same array.
    const made = [view(), hasSeveralServers(), ...servers, ...servers.map(({ tools }) => tools)];
    if (routes && made.length === madeOf.length && made.every((part, i) => part === madeOf[i])) return routes;
    madeOf = made;
    routes = new ToolRoutes(view(), servers, hasSeveralServers());
    return routes;
  };
}

/** Removes the task support: Waygate calls every tool plainly, and a client that reads `required` would not call it. */
function withoutTasks(route: Route): Route {
  const { execution } = route.raw as { execution?: RawTool };
  if (execution?.taskSupport === undefined) return route;
  const { taskSupport: _support, ...rest } = execution;
  return { ...route, raw: { ...route.raw, execution: rest } };
}

export function prefixed(namespace: string, name: string): string {
  return `${namespace}__${name}`;
}

/**
 * Returns the tools of a server in its order. Leaves out tools that the catalog cannot hold, since they could not be
 * called.
 */
function routesOf(view: CatalogView, { config, listedTools }: ServerConnection): Route[] {
  const own = new Map(
    view.catalog.tools.filter(({ server }) => server === config.name).map((tool) => [tool.upstreamName, tool]),
  );
  const routes: Route[] = [];
  for (const raw of listedTools) {
    const tool = own.get(raw.name as string);
    if (!tool) continue;
    routes.push({ tool, raw });
    // The first of two tools with one name counts.
    own.delete(tool.upstreamName);
  }
  return routes;
}
