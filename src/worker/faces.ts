import type { CatalogTool } from '../catalog/types.ts';
import type { MergedConfig } from '../config/configLayers.ts';
import type { CallPipeline } from '../dispatch/callPipeline.ts';
import type { ArtifactStore } from '../firewall/artifactStore.ts';
import type { AdmittedResult, Firewall } from '../firewall/firewall.ts';
import type { Face } from '../ops/face.ts';
import type { ReplayContract } from '../ops/replay.ts';
import type { SessionSurface } from '../protocol/sessionSurface.ts';
import type { ClientRequests } from '../surface/clientRequests.ts';
import type { GatewayContext } from '../surface/gateway/gatewayContext.ts';
import { gatewaySurface } from '../surface/gateway/gatewaySurface.ts';
import type { PassthroughContext } from '../surface/passthrough/passthroughContext.ts';
import { passthroughSurface } from '../surface/passthrough/passthroughSurface.ts';
import { remembering, type ShownLists } from '../surface/sessionMemory.ts';
import { transparentSurface } from '../surface/transparent/transparentSurface.ts';
import type { ServerConnection } from '../upstream/serverConnection.ts';
import type { GatewayReports } from './gatewayReports.ts';
import type { LiveCatalog } from './liveCatalog.ts';
import type { Primitives } from './primitives.ts';
import type { UseMemory } from './useMemory.ts';

export interface FaceParts extends Pick<GatewayContext, 'workspace' | 'onCallStart' | 'onCallEnd'> {
  config(): MergedConfig;
  connections(): readonly ServerConnection[];
  catalog: LiveCatalog;
  primitives: Primitives;
  reports: GatewayReports;
  calls: CallPipeline<AdmittedResult>;
  contractOf(tool: CatalogTool): ReplayContract;
  clientRequests: ClientRequests;
  firewall: Firewall;
  /** Whether a session that ends here is not over: another worker has taken its place, or will. */
  sessionsMoveOn(): boolean;
  artifacts: ArtifactStore;
  uses: UseMemory;
}

/** How long a client that lists everything waits for servers of which nothing is known yet. */
const SETTLE_MS = 15_000;

/** What sessions see, by the way that they have asked for: one catalog, one way of a call, three faces. */
export class Faces {
  readonly all: Readonly<Record<Face, SessionSurface>>;
  readonly #transparent: ReturnType<typeof transparentSurface>;
  readonly #passthrough: ReturnType<typeof passthroughSurface>;

  constructor(parts: FaceParts) {
    const { catalog, clientRequests, uses } = parts;
    const context = {
      workspace: parts.workspace,
      calls: parts.calls,
      contractOf: parts.contractOf,
      clientRequests,
      settled: () => catalog.settled(SETTLE_MS, new AbortController().signal),
      primitives: parts.primitives.ports,
      view: () => catalog.view,
      servers: () => parts.reports.servers,
      configuration: () => parts.config(),
      browseConfig: () => parts.config().browse,
      useHistory: () => uses.history,
      recordUse: (query: string, toolId: string) => {
        if (parts.config().browse.learning) uses.record(query, toolId);
      },
      artifacts: parts.artifacts,
      masksViews: () => parts.config().artifacts.maskSecrets === 'always',
      admit: () => parts.reports.gate.admit(),
      onCallStart: parts.onCallStart,
      onCallEnd: parts.onCallEnd,
    };
    this.#transparent = transparentSurface(context);
    this.#passthrough = passthroughSurface({ ...context, ...passthroughOnly(parts) });
    const gateway = gatewaySurface(context, parts.primitives.client);
    const { view } = parts.primitives.ports;
    const face = (surface: SessionSurface, shown: ShownLists): SessionSurface =>
      remembering(clientRequests.serve(surface), {
        calls: parts.calls,
        shown,
        version: () => [catalog.view, view()],
        settled: context.settled,
      });
    this.all = {
      gateway: face(gateway, {
        tools: gateway.listTools,
        resources: () => view().catalog.resourceChoices.hash,
        prompts: () => view().catalog.promptChoices.hash,
      }),
      transparent: face(this.#transparent, { tools: this.#transparent.shownTools }),
      passthrough: face(this.#passthrough, {
        tools: this.#passthrough.shownTools,
        resources: () => [listedBy(parts, 'resources'), listedBy(parts, 'resourceTemplates')],
        prompts: () => listedBy(parts, 'prompts'),
      }),
    };
  }

  /** How many tasks of clients would be lost with this worker. */
  get tasksAtStake(): number {
    return this.#passthrough.tasksAtStake;
  }

  /** A connection that is new. */
  attach(connection: ServerConnection): void {
    this.#passthrough.attach(connection);
  }

  onListsChanged(kind: 'resources' | 'prompts'): void {
    this.#passthrough.onListsChanged(kind);
  }

  /** Those that list tools tell so. */
  onCatalogChanged(): void {
    this.#transparent.onCatalogChanged();
    this.#passthrough.onCatalogChanged();
  }
}

function listedBy({ connections }: FaceParts, kind: keyof ServerConnection['catalog']): unknown[] {
  return connections().map(({ config, catalog }) => [config.name, catalog[kind]]);
}

function passthroughOnly({
  config,
  connections,
  firewall,
  sessionsMoveOn,
}: FaceParts): Pick<
  PassthroughContext,
  'connections' | 'hasSeveralServers' | 'digest' | 'shownChars' | 'sessionsMoveOn'
> {
  const digest: ReturnType<PassthroughContext['digest']> = (result, { id: toolId, upstreamName }) =>
    firewall.admit(result, { toolId, upstreamName });
  return {
    connections,
    hasSeveralServers: () => {
      const { servers, broken } = config();
      return servers.filter(({ disabled }) => !disabled).length + broken.length > 1;
    },
    digest: () => (config().passthrough.firewall ? digest : undefined),
    shownChars: () => config().artifacts.shownChars,
    sessionsMoveOn,
  };
}
