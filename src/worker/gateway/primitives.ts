import type { CatalogTool } from '../../catalog/types.ts';
import { ClientPrimitives } from '../../modes/primitives/clientPrimitives.ts';
import type { OwnResources, PrimitivePorts } from '../../modes/primitives/primitivePorts.ts';
import { PrimitiveView } from '../../modes/primitives/primitiveView.ts';
import { Subscriptions } from '../../modes/primitives/subscriptions.ts';
import { ClientNews } from '../../modes/shared/client/clientNews.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { maskKnownValue } from '../../secrets/scrubValue.ts';
import { originOf } from '../../trust/approvals.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { CallPath } from './callPath.ts';

export interface PrimitivesOptions extends Pick<PrimitivePorts, 'settled' | 'clientRequests'> {
  pool: ServerPool;
  calls: CallPath;
  own: OwnResources;
  /** Called for modes other than `gateway`, which notify their own clients. */
  onListsChanged(kind: 'resources' | 'prompts'): void;
  log(line: string): void;
}

/** Resources and prompts of the gateway: their catalog, and notifications of the sessions about changes. */
export class Primitives {
  readonly ports: PrimitivePorts;
  readonly client: ClientPrimitives;
  readonly #options: PrimitivesOptions;
  readonly #news = new ClientNews();
  #view = new PrimitiveView([]);
  #listed: readonly unknown[] = [];

  constructor(options: PrimitivesOptions) {
    this.#options = options;
    const { pool, calls, clientRequests, settled, own, log } = options;
    const upstream: PrimitivePorts['upstream'] = (server) => pool.get(server);
    // The lists of resources and prompts do not say it, and rules go by it.
    const withOrigin = (tool: CatalogTool): CatalogTool => ({
      ...tool,
      origin: originOf(pool.get(tool.server)?.config),
    });
    this.ports = {
      view: () => this.#view,
      upstream,
      firewall: (result, { id, name, source }) =>
        calls.firewall.admit(result, { toolId: id, upstreamName: name, source: withOrigin(source) }),
      authorize: async ({ tool, ...rest }, sent) => {
        const call = { ...rest, tool: withOrigin(tool) };
        await calls.pipeline.guardEgress(call, sent);
        await calls.pipeline.authorizeView(call);
      },
      egressRefusal: (server, sent, from) => calls.egressRefusal(server, sent, from),
      linkedServers: (uri) => calls.links.serversOf(uri),
      settled,
      scrubSecrets,
      clientRequests,
      own,
      subscriptions: new Subscriptions(upstream, (line) => log(scrubSecrets(line))),
    };
    this.client = new ClientPrimitives(this.ports, this.#news);
  }

  /** Attaches handlers to a new connection before its first start, so that no notification is missed. */
  attach(connection: ServerConnection): void {
    const { name } = connection.config;
    const { subscriptions } = this.ports;
    connection.onNotification('notifications/resources/updated', (params) =>
      subscriptions.updated(name, maskKnownValue(params) as Record<string, unknown>),
    );
    connection.onReady(() => subscriptions.serverReady(name));
  }

  /** Rebuilds in one synchronous step, like the tools (G8.1), and only if something changed. */
  rebuild(connections: readonly ServerConnection[]): void {
    const listed = connections.flatMap(({ config, catalog, capabilities }) => {
      const { resources, resourceTemplates, prompts, instructions } = catalog;
      return [config.name, resources, resourceTemplates, prompts, instructions, capabilities];
    });
    if (listed.length === this.#listed.length && listed.every((part, i) => part === this.#listed[i])) return;
    this.#listed = listed;
    try {
      this.#adopt(new PrimitiveView(connections.map(listingOf)));
    } catch (error) {
      // No list of a server may end the worker; the last good catalog stays.
      this.#options.log(`resources and prompts could not be rebuilt: ${(error as Error).stack}`);
    }
  }

  /** Notifies clients of a change of the tools that has another reason. */
  toolsChanged(): void {
    this.#news.changed('tools');
  }

  stop(): void {
    this.#news.stop();
  }

  #changed(kind: 'resources' | 'prompts'): void {
    this.#news.changed(kind);
    this.#options.onListsChanged(kind);
  }

  #adopt(view: PrimitiveView): void {
    const { resourceChoices: oldResources, promptChoices: oldPrompts } = this.#view.catalog;
    const { resourceChoices: resources, promptChoices: prompts } = view.catalog;
    this.#view = view;
    if (resources.hash !== oldResources.hash) this.#changed('resources');
    if (prompts.hash !== oldPrompts.hash) this.#changed('prompts');
    const isEmpty = ({ tools }: { tools: readonly unknown[] }): boolean => tools.length === 0;
    // The gateway tools for resources and prompts exist only if there are some.
    if (isEmpty(resources) !== isEmpty(oldResources) || isEmpty(prompts) !== isEmpty(oldPrompts)) this.toolsChanged();
  }
}

function listingOf({ config, catalog, capabilities }: ServerConnection) {
  const { resources, resourceTemplates, prompts, instructions } = catalog;
  return {
    server: config.name,
    resources,
    resourceTemplates,
    prompts,
    readsResources: Boolean(capabilities.resources),
    ...(instructions === undefined ? {} : { instructions }),
  };
}
