import { settingsFor } from '../../config/declaration/block.ts';
import type { Settings } from '../../config/declaration/document.ts';
import { reachBeside } from '../../config/reach.ts';
import type { Mode } from '../../link/mode.ts';
import type { SessionMode } from '../../mcp/session/sessionMode.ts';
import { gatewayMode } from '../../modes/gateway/gatewayMode.ts';
import type { PassthroughContext } from '../../modes/passthrough/passthroughContext.ts';
import { passthroughMode } from '../../modes/passthrough/passthroughMode.ts';
import type { ClientRequests } from '../../modes/shared/client/clientRequests.ts';
import type { SignInOffers } from '../../modes/shared/client/signInOffers.ts';
import type { GatewayContext } from '../../modes/shared/modeContext.ts';
import { SessionCall } from '../../modes/shared/sessionCall.ts';
import { remembering, type ShownLists } from '../../modes/shared/sessionMemory.ts';
import { transparentMode } from '../../modes/transparent/transparentMode.ts';
import type { UseMemory } from '../../ranking/useMemory.ts';
import { masksResult } from '../../results/firewall.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayReports } from '../reports/gatewayReports.ts';
import type { WorkAccount } from '../reports/workAccount.ts';
import type { CallPath } from './callPath.ts';
import type { LiveCatalog } from './liveCatalog.ts';

export interface ModeParts {
  workspace: string;
  configuration: Configuration;
  pool: ServerPool;
  catalog: LiveCatalog;
  reports: GatewayReports;
  calls: CallPath;
  clientRequests: ClientRequests;
  signIns: SignInOffers;
  account: WorkAccount;
  uses: UseMemory;
}

/** Time that the lists of a client wait for a server that was never listed. A later list is announced. */
export const LIST_MS = 2_000;
/** Time that a browse waits for such a server: a model cannot wait by itself. */
export const BROWSE_MS = 10_000;
/** Time after which a session that came from another worker compares its lists. Nothing waits for that. */
const SETTLE_MS = 15_000;
const NO_SIGNAL = new AbortController().signal;

/** Modes of the sessions, which share one catalog and one call path. */
export class Modes {
  readonly all: Readonly<Record<Mode, SessionMode>>;
  readonly #parts: ModeParts;
  #primitives: Settings['primitives'];
  readonly #gateway: ReturnType<typeof gatewayMode>;
  readonly #transparent: ReturnType<typeof transparentMode>;
  readonly #passthrough: ReturnType<typeof passthroughMode>;

  constructor(parts: ModeParts) {
    const { catalog, calls, clientRequests, configuration } = parts;
    this.#parts = parts;
    this.#primitives = configuration.current.settings.primitives;
    const context = contextOf(parts);
    this.#transparent = transparentMode(context);
    this.#passthrough = passthroughMode({ ...context, ...passthroughOnly(parts) });
    const gateway = gatewayMode(context, catalog.primitives.client);
    this.#gateway = gateway;
    const { view } = context.primitives;
    const mode = (mode: SessionMode, shown: ShownLists): SessionMode =>
      remembering(clientRequests.serve(mode), {
        calls: calls.pipeline,
        shown,
        version: () => [catalog.view, view(), context.primitiveTools()],
        settled: () => catalog.settled(SETTLE_MS, NO_SIGNAL),
      });
    this.all = {
      gateway: mode(gateway, {
        // Clients see different ones of these.
        tools: () => [context.primitiveTools(), gateway.listTools()],
        resources: () => view().catalog.resourceChoices.hash,
        prompts: () => view().catalog.promptChoices.hash,
      }),
      transparent: mode(this.#transparent, { tools: this.#transparent.shownTools }),
      passthrough: mode(this.#passthrough, {
        tools: this.#passthrough.shownTools,
        resources: () => [listedBy(parts, 'resources'), listedBy(parts, 'resourceTemplates')],
        prompts: () => listedBy(parts, 'prompts'),
      }),
    };
  }

  /** Returns the tokens of the definitions and instructions that clients in gateway mode are sent at present. */
  sentTokens(): number {
    return this.#gateway.sentTokens();
  }

  /** Attaches handlers to a new connection. */
  attach(connection: ServerConnection): void {
    this.#passthrough.attach(connection);
  }

  onListsChanged(kind: 'resources' | 'prompts'): void {
    this.#passthrough.onListsChanged(kind);
  }

  /** Notifies clients whose lists an edit of the settings has changed. */
  onEdit(): void {
    const { primitives } = this.#parts.configuration.current.settings;
    if (primitives !== this.#primitives) this.#parts.catalog.primitives.toolsChanged();
    this.#primitives = primitives;
    this.#passthrough.onEdit();
  }

  /** Notifies the modes that list tools. */
  onCatalogChanged(): void {
    this.#transparent.onCatalogChanged();
    this.#passthrough.onCatalogChanged();
  }
}

function listedBy({ pool }: ModeParts, kind: keyof ServerConnection['catalog']): unknown[] {
  return pool.connections.map(({ config, catalog }) => [config.name, catalog[kind]]);
}

/** Returns the dependencies that all modes share. */
function contextOf(parts: ModeParts) {
  const { workspace, configuration, catalog, reports, calls, clientRequests, signIns, account, uses } = parts;
  return {
    workspace,
    calls: calls.pipeline,
    contractOf: (tool) => calls.contractOf(tool),
    clientRequests,
    signIn: async (server, { peer, signal }) => {
      const signedIn = await signIns.offer(server, new SessionCall(peer), signal);
      catalog.catchUp();
      return signedIn;
    },
    settled: () => catalog.settledOnce(Number(process.env.WAYGATE_LIST_MS) || LIST_MS, NO_SIGNAL),
    firstLists: {
      forAnswer: (isEnough, signal) => catalog.settledOnce(BROWSE_MS, signal, isEnough),
      ofServer: (name, signal) => {
        const { servers, default: usual } = settingsFor(configuration.current.settings.timeouts, name);
        const seconds = Object.hasOwn(servers, name) ? (servers[name] as number) : usual;
        return catalog.listedServer(name, 1_000 * seconds, signal);
      },
    },
    primitives: catalog.primitives.ports,
    view: () => catalog.view,
    servers: () => reports.servers,
    reachBeside: (server, other) => {
      const [one, two] = [server, other].map((name) => configuration.current.servers.find((has) => has.name === name));
      return one && two ? reachBeside(one, two) : [];
    },
    configuration: () => configuration.current,
    browseConfig: () => configuration.current.settings.browse,
    primitiveTools: () => configuration.current.settings.primitives,
    useHistory: () => uses.history,
    recordUse: (query, toolId) => {
      if (configuration.current.settings.browse.learning) uses.record(query, toolId);
    },
    artifacts: calls.artifacts,
    masks: (isError) => masksResult(configuration.current.settings.artifacts.maskSecrets, isError),
    reviewed: (shown, source) => calls.reviewed(shown, source),
    admit: () => reports.gate.admit(),
    onCallStart: (call) => account.callStarted(call),
    onCallEnd: (call, event, end) => account.callEnded(call, event, end),
  } satisfies GatewayContext & Pick<PassthroughContext, 'clientRequests' | 'settled'>;
}

function passthroughOnly({
  configuration,
  pool,
  calls,
}: ModeParts): Pick<
  PassthroughContext,
  'asks' | 'connections' | 'hasSeveralServers' | 'digest' | 'onOddResult' | 'shownChars'
> {
  const digest: ReturnType<PassthroughContext['digest']> = (result, source) =>
    calls.firewall.admit(result, { toolId: source.id, upstreamName: source.upstreamName, source });
  return {
    asks: () => configuration.current.settings.passthrough.asks,
    connections: () => pool.connections,
    hasSeveralServers: () => {
      // A broken entry has no connection: if it counted, a typo would rename the tools of the other server unnoticed.
      return configuration.current.servers.filter(({ disabled }) => !disabled).length > 1;
    },
    digest: () => (configuration.current.settings.passthrough.firewall ? digest : undefined),
    onOddResult: (server) => pool.get(server)?.oddities.add('bad_result'),
    shownChars: () => configuration.current.settings.artifacts.shownChars,
  };
}
