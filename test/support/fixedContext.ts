import { CallPipeline, type PipelinePorts } from '../../src/calls/pipeline/callPipeline.ts';
import type { PrimitiveListing } from '../../src/catalog/primitives/primitiveCatalog.ts';
import type { ServerListing } from '../../src/catalog/types.ts';
import type { CallSettings } from '../../src/config/declaration/callBlocks.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/config/declaration/document.ts';
import type { ServerStatus } from '../../src/control/contract.ts';
import type { PrimitiveUpstream } from '../../src/modes/primitives/primitivePorts.ts';
import { PrimitiveView } from '../../src/modes/primitives/primitiveView.ts';
import { Subscriptions } from '../../src/modes/primitives/subscriptions.ts';
import { CatalogView } from '../../src/modes/shared/catalog/catalogView.ts';
import { ClientRequests } from '../../src/modes/shared/client/clientRequests.ts';
import type { GatewayContext } from '../../src/modes/shared/modeContext.ts';
import { emptyHistory, recordUse } from '../../src/ranking/useHistory.ts';
import { ArtifactStore } from '../../src/results/artifacts/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../../src/results/firewall.ts';
import { scrubSecrets } from '../../src/secrets/mask.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';

/** Makes the context of a mode over a fixed catalog, without processes: everything can be browsed, nothing executed. */
export function fixedContext(
  listings: readonly ServerListing[],
  options: {
    browse?: Partial<Settings['browse']>;
    servers?: readonly ServerStatus[];
    /** Places that only this server reaches. */
    reach?: Readonly<Record<string, readonly string[]>>;
    primitiveTools?: Settings['primitives'];
    primitives?: readonly Partial<PrimitiveListing>[];
    /** Answers for all servers. */
    upstream?: PrimitiveUpstream['request'];
    /** Settings of calls. */
    calls?: Partial<CallSettings>;
  } = {},
): GatewayContext {
  const primitives = new PrimitiveView((options.primitives ?? []).map(primitiveListing));
  const upstream = () => ({
    state: 'ready',
    capabilities: { resources: { subscribe: true }, prompts: {}, completions: {} },
    request: options.upstream ?? unreachable,
    hold: () => () => undefined,
  });
  const view = CatalogView.build(listings, 1);
  const artifacts = new ArtifactStore();
  const firewall = new Firewall({ store: artifacts });
  let history = emptyHistory();
  const ports: PipelinePorts<AdmittedResult> = {
    // Servers exist by name only: a dry run finds them, a call does not.
    upstream: (server) => ({
      state: 'not_started',
      call: () => Promise.reject(new NotDispatchedError(`${server} has no process here`)),
    }),
    firewall: (result, { tool: source }) =>
      firewall.admit(result, { toolId: source.id, upstreamName: source.upstreamName, source }),
    scrubSecrets,
  };
  const calls = new CallPipeline<AdmittedResult>(ports, { ...DEFAULT_SETTINGS, ...options.calls });
  const unreachable = () => Promise.reject(new NotDispatchedError('it has no process here'));
  const clientRequests = new ClientRequests({ workspace: '/workspace', connections: () => [], log: () => undefined });
  return {
    workspace: '/workspace',
    view: () => view,
    servers: () => options.servers ?? listings.map(({ server, tools }) => readyServer(server, tools.length)),
    reachBeside: (server) => options.reach?.[server] ?? [],
    configuration: () => ({ file: '/workspace/.vscode/waygate.json', exists: true, problems: [] }),
    firstLists: { forAnswer: async () => undefined, ofServer: async () => undefined },
    browseConfig: () => ({ ...DEFAULT_SETTINGS.browse, ...options.browse }),
    primitiveTools: () => options.primitiveTools ?? DEFAULT_SETTINGS.primitives,
    useHistory: () => history,
    recordUse: (query, toolId) => {
      history = recordUse(history, query, toolId);
    },
    artifacts,
    masks: (isError) => isError,
    reviewed: () => undefined,
    calls,
    contractOf: () => 'never_replay',
    primitives: {
      view: () => primitives,
      upstream,
      firewall: (result, { id, name, source }) => firewall.admit(result, { toolId: id, upstreamName: name, source }),
      authorize: (call) => calls.authorizeView(call),
      egressRefusal: () => undefined,
      linkedServers: () => [],
      settled: async () => undefined,
      scrubSecrets,
      clientRequests,
      subscriptions: new Subscriptions(upstream, () => undefined),
    },
    clientRequests,
    signIn: async () => false,
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
