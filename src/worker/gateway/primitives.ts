import { ClientPrimitives } from '../../modes/primitives/clientPrimitives.ts';
import type { OwnResources, PrimitivePorts } from '../../modes/primitives/primitivePorts.ts';
import { PrimitiveView } from '../../modes/primitives/primitiveView.ts';
import { Subscriptions } from '../../modes/primitives/subscriptions.ts';
import { ClientNews } from '../../modes/shared/client/clientNews.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { CallPath } from './callPath.ts';
import { rankResources } from './rankResources.ts';

export interface PrimitivesOptions extends Pick<PrimitivePorts, 'settled' | 'clientRequests'> {
  pool: ServerPool;
  calls: CallPath;
  own: OwnResources;
  /** Another mode than the gateway's own may tell of it too. */
  onListsChanged(kind: 'resources' | 'prompts'): void;
  log(line: string): void;
}

/** The gateway's resources and prompts: their catalog as the servers change it, and the sessions that are told of it. */
export class Primitives {
  readonly ports: PrimitivePorts;
  readonly client: ClientPrimitives;
  readonly #options: PrimitivesOptions;
  readonly #news = new ClientNews();
  readonly #subscriptions: Subscriptions;
  #view = new PrimitiveView([]);
  #listed: readonly unknown[] = [];

  constructor(options: PrimitivesOptions) {
    this.#options = options;
    const { pool, calls, clientRequests, settled, own, log } = options;
    const upstream: PrimitivePorts['upstream'] = (server) => pool.get(server);
    this.ports = {
      view: () => this.#view,
      upstream,
      firewall: (result, { id, name }) => calls.firewall.admit(result, { toolId: id, upstreamName: name }),
      authorize: (call) => calls.pipeline.authorizeView(call),
      linkedServer: (uri) => calls.links.serverOf(uri),
      settled,
      scrubSecrets,
      clientRequests,
      own,
    };
    this.#subscriptions = new Subscriptions(upstream, (line) => log(scrubSecrets(line)));
    this.client = new ClientPrimitives(this.ports, this.#news, this.#subscriptions);
  }

  /** A connection that is new: what it tells by itself is heard from its first start on. */
  attach(connection: ServerConnection): void {
    const { name } = connection.config;
    connection.onNotification('notifications/resources/updated', (params) => this.#subscriptions.updated(name, params));
    connection.onReady(() => this.#subscriptions.serverReady(name));
  }

  /** Rebuilds in one synchronous step, like the tools (G8.1), and only where something changed. */
  rebuild(connections: readonly ServerConnection[]): void {
    const listed = connections.flatMap(({ config, catalog, capabilities }) => {
      const { resources, resourceTemplates, prompts, instructions } = catalog;
      return [config.name, resources, resourceTemplates, prompts, instructions, capabilities];
    });
    if (listed.length === this.#listed.length && listed.every((part, i) => part === this.#listed[i])) return;
    this.#listed = listed;
    try {
      this.#adopt(new PrimitiveView(connections.map(listingOf), rankResources()));
    } catch (error) {
      // What a server lists must never end the worker: the last good catalog serves on.
      this.#options.log(`resources and prompts could not be built anew: ${(error as Error).stack}`);
    }
  }

  /** The tools that a client sees have changed for another reason. */
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
    // Their tools come and go with them.
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
