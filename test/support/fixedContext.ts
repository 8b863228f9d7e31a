import type { PrimitiveListing } from '../../src/catalog/primitiveCatalog.ts';
import type { ServerListing } from '../../src/catalog/types.ts';
import { type BrowseConfig, DEFAULT_BROWSE } from '../../src/config/gatewayConfig.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import { CallPipeline, type PipelinePorts } from '../../src/dispatch/callPipeline.ts';
import { DISPATCH_DEFAULTS, type DispatchConfig } from '../../src/dispatch/dispatchConfig.ts';
import { ArtifactStore } from '../../src/firewall/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../../src/firewall/firewall.ts';
import { scrubSecrets } from '../../src/firewall/secrets.ts';
import { emptyHistory, recordUse } from '../../src/routing/useHistory.ts';
import { CatalogView } from '../../src/surface/catalogView.ts';
import { ClientRequests } from '../../src/surface/clientRequests.ts';
import type { GatewayContext } from '../../src/surface/gateway/gatewayContext.ts';
import type { PrimitiveUpstream } from '../../src/surface/primitives/primitivePorts.ts';
import { PrimitiveView } from '../../src/surface/primitives/primitiveView.ts';
import { NotDispatchedError } from '../../src/upstream/notDispatched.ts';

/** The surface over a fixed catalog: no process behind it, so nothing can be executed, everything browsed. */
export function fixedContext(
  listings: readonly ServerListing[],
  options: {
    browse?: Partial<BrowseConfig>;
    servers?: readonly ServerStatus[];
    primitives?: readonly Partial<PrimitiveListing>[];
    /** Answers for all servers. */
    upstream?: PrimitiveUpstream['request'];
    /** How calls are made. */
    calls?: Partial<DispatchConfig>;
  } = {},
): GatewayContext {
  const primitives = new PrimitiveView((options.primitives ?? []).map(primitiveListing));
  const view = CatalogView.build(listings, 1);
  const artifacts = new ArtifactStore();
  const firewall = new Firewall({ store: artifacts });
  let history = emptyHistory();
  const ports: PipelinePorts<AdmittedResult> = {
    // Its servers are there by name alone: a dry run finds them, a call does not.
    upstream: (server) => ({
      state: 'not_started',
      call: () => Promise.reject(new NotDispatchedError(`${server} has no process here`)),
    }),
    firewall: (result, { tool: { id: toolId, upstreamName } }) => firewall.admit(result, { toolId, upstreamName }),
    scrubSecrets,
  };
  const calls = new CallPipeline<AdmittedResult>(ports, { ...DISPATCH_DEFAULTS, ...options.calls });
  const unreachable = () => Promise.reject(new NotDispatchedError('it has no process here'));
  const clientRequests = new ClientRequests({ workspace: '/workspace', connections: () => [], log: () => undefined });
  return {
    workspace: '/workspace',
    view: () => view,
    servers: () => options.servers ?? listings.map(({ server, tools }) => readyServer(server, tools.length)),
    configuration: () => ({ file: '/workspace/.vscode/waygate.json', exists: true, problems: [] }),
    browseConfig: () => ({ ...DEFAULT_BROWSE, ...options.browse }),
    useHistory: () => history,
    recordUse: (query, toolId) => {
      history = recordUse(history, query, toolId);
    },
    artifacts,
    masksViews: () => false,
    calls,
    contractOf: () => 'never_replay',
    primitives: {
      view: () => primitives,
      upstream: () => ({
        state: 'ready',
        capabilities: { resources: { subscribe: true }, prompts: {}, completions: {} },
        request: options.upstream ?? unreachable,
        hold: () => () => undefined,
      }),
      firewall: (result, { id, name }) => firewall.admit(result, { toolId: id, upstreamName: name }),
      authorize: (call) => calls.authorizeView(call),
      linkedServer: () => undefined,
      settled: async () => undefined,
      scrubSecrets,
      clientRequests,
    },
    clientRequests,
    admit: async () => undefined,
    onCallStart: () => undefined,
    onCallEnd: () => undefined,
  };
}

export function primitiveListing(listing: Partial<PrimitiveListing>): PrimitiveListing {
  return { server: 'one', resources: [], resourceTemplates: [], prompts: [], readsResources: true, ...listing };
}

export function readyServer(name: string, toolCount: number): ServerStatus {
  return { name, namespace: name, state: 'ready', since: 0, toolCount };
}
