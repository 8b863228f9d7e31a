import type { ConfigurationProblem } from '../../config/gatewayConfig.ts';
import type { CatalogReport, GatewaySnapshot, ServerBrief, ServerStatus } from '../../control/contract.ts';
import type { GatewayHealth, HealthReport, TelemetryReport } from '../../control/healthContract.ts';
import { serverState } from '../../control/serverStates.ts';
import { advertisedTools } from '../../modes/gateway/gatewayMode.ts';
import { catalogReport } from '../../modes/shared/catalog/catalogReport.ts';
import { StartupGate, type StartupView } from '../../modes/shared/startupGate.ts';
import type { RankExplanation } from '../../ranking/explanation.ts';
import { explainRanking } from '../../ranking/rankIndex.ts';
import type { UseMemory } from '../../ranking/useMemory.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { GatewayServers } from '../gateway/gatewayServers.ts';
import type { LiveCatalog } from '../gateway/liveCatalog.ts';

import type { Diagnostics } from './diagnostics.ts';
import { type StatusSources, serverBriefs, serverStatuses } from './serverStatuses.ts';
import type { WorkAccount } from './workAccount.ts';

export interface ReportSources {
  workspace: string;
  configuration: Configuration;
  pool: ServerPool;
  servers: Pick<GatewayServers, 'links' | 'review' | 'trust' | 'problems' | 'approvals' | 'isSignedIn'>;
  catalog: LiveCatalog;
  account: WorkAccount;
  diagnostics: Diagnostics;
  uses: Pick<UseMemory, 'history'>;
}

/** Computes the state of the gateway for the editor, the command line, models and the startup gate. */
export class GatewayReports {
  readonly gate = new StartupGate(() => this.#startupView());
  readonly #sources: ReportSources;

  constructor(sources: ReportSources) {
    this.#sources = sources;
  }

  /** State of every configured server. */
  get servers(): ServerBrief[] {
    return this.#sources.servers.trust.gate.steady(() => serverBriefs(this.#statusSources));
  }

  health(): HealthReport {
    const servers = this.#statuses;
    const condition = this.#conditionOf(servers);
    const errors = this.#problems.filter(({ severity }) => severity === 'error');
    return this.#sources.diagnostics.health({ condition, servers, problems: errors.map(({ message }) => message) });
  }

  telemetry(): TelemetryReport {
    const servers = this.#statuses;
    return this.#sources.diagnostics.telemetry({ condition: this.#conditionOf(servers), servers });
  }

  status(): Omit<GatewaySnapshot, 'worker' | 'sessions'> {
    const { workspace, catalog, account, diagnostics } = this.#sources;
    catalog.catchUp();
    const servers = this.#statuses;
    const { file, exists, files, settings } = this.#sources.configuration.current;
    return {
      workspace,
      health: this.#conditionOf(servers),
      configuration: {
        file,
        exists,
        files,
        mode: settings.mode,
        problems: [...this.#problems, ...this.#startupProblem(servers)],
      },
      servers,
      catalog: { ...catalog.view.status, ...(diagnostics.tokens && { tokens: diagnostics.tokens }) },
      recentCalls: account.recent,
    };
  }

  /** Explains to a user how a query is ranked. */
  explain(query: string, topK: number): RankExplanation {
    const { catalog, uses } = this.#sources;
    const history = this.#sources.configuration.current.settings.browse.learning ? { history: uses.history } : {};
    return explainRanking(catalog.view.index, query, { topK, ...history });
  }

  catalog(): CatalogReport {
    const { catalog, configuration } = this.#sources;
    const { view, primitives } = catalog;
    const primitiveTools = () => configuration.current.settings.primitives;
    const tools = advertisedTools({ primitives: primitives.ports, primitiveTools });
    return catalogReport(view, tools, primitives.ports.view().catalog.findings);
  }

  #startupView(): StartupView {
    const { catalog } = this.#sources;
    const config = this.#sources.configuration.current;
    // Tools of the last moment count too.
    catalog.catchUp();
    const required = new Map(config.servers.map((server) => [server.name, server.required ?? true]));
    const servers = this.servers
      .filter(({ state }) => state !== 'disabled')
      .map(({ name, state }) => ({ name, state, required: required.get(name) ?? true }));
    return { config: config.settings.startup, servers, toolCount: catalog.view.status.toolCount };
  }

  /** Problems of the configuration and of the approvals. */
  get #problems(): readonly ConfigurationProblem[] {
    const { configuration, servers } = this.#sources;
    return [...configuration.current.problems, ...servers.problems];
  }

  get #statuses(): ServerStatus[] {
    return this.#sources.servers.trust.gate.steady(() => serverStatuses(this.#statusSources));
  }

  get #statusSources(): StatusSources {
    const { catalog, configuration, diagnostics, pool, servers } = this.#sources;
    return {
      approvals: servers.approvals,
      config: configuration.current,
      view: catalog.view,
      connection: (name) => pool.get(name),
      missing: (name) => servers.links.missing(name),
      walls: (config) => servers.links.wallsState(config),
      heldTools: (connection, namespace) => servers.review.heldTools(connection, namespace),
      driftedOf: (connection) => servers.review.driftedOf(connection),
      useOf: (server) => diagnostics.useOf({ server }),
      definitionTokensOf: (server) => diagnostics.definitionTokensOf(server),
      isSignedIn: (server) => servers.isSignedIn(server),
      trustProblem: (name) => servers.trust.gate.problemOf(name),
      scrubSecrets,
    };
  }

  #conditionOf(servers: readonly ServerBrief[]): GatewayHealth {
    const isBad =
      this.#problems.some(({ severity }) => severity === 'error') || this.#startupFlaw(servers) !== undefined;
    if (isBad || servers.some(({ state }) => serverState(state).needsPerson)) return 'degraded';
    return servers.some(isStarting) ? 'starting' : 'ready';
  }

  /** Why the startup gate is closed, once no server is starting. */
  #startupFlaw(servers: readonly ServerBrief[]): string | undefined {
    const { flaw } = this.gate;
    return servers.some(isStarting) ? undefined : flaw;
  }

  #startupProblem(servers: readonly ServerBrief[]): ConfigurationProblem[] {
    const message = this.#startupFlaw(servers);
    if (message === undefined) return [];
    return [{ severity: 'error', code: 'startup', message, location: this.#sources.configuration.current.startupAt }];
  }
}

function isStarting({ state }: ServerBrief): boolean {
  return state === 'starting';
}
