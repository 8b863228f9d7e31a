import type { ConfigurationProblem } from '../../config/gatewayConfig.ts';
import type { CatalogReport, GatewayHealth, GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { HealthReport, TelemetryReport } from '../../control/healthContract.ts';
import { advertisedTools } from '../../modes/gateway/gatewayMode.ts';
import { catalogReport } from '../../modes/shared/catalog/catalogReport.ts';
import { StartupGate, type StartupView } from '../../modes/shared/startupGate.ts';
import type { RankExplanation } from '../../ranking/explanation.ts';
import { explainRanking } from '../../ranking/rankIndex.ts';
import type { UseMemory } from '../../ranking/useMemory.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { LiveCatalog } from '../gateway/liveCatalog.ts';
import type { ServerLinks } from '../gateway/serverLinks.ts';
import type { Diagnostics } from './diagnostics.ts';
import { serverStatuses } from './serverStatuses.ts';
import type { WorkAccount } from './workAccount.ts';

export interface ReportSources {
  workspace: string;
  configuration: Configuration;
  pool: ServerPool;
  links: Pick<ServerLinks, 'missing'>;
  catalog: LiveCatalog;
  account: WorkAccount;
  diagnostics: Diagnostics;
  uses: Pick<UseMemory, 'history'>;
}

/** These serve nothing until somebody does something. */
const NEEDS_THE_PERSON: ReadonlySet<ServerStatus['state']> = new Set([
  'failed',
  'needs_sign_in',
  'needs_secret',
  'needs_approval',
]);

/** How the gateway stands, for whoever asks: the editor, the command line, a model, and a start that is `strict`. */
export class GatewayReports {
  readonly gate = new StartupGate(() => this.#startupView());
  readonly #sources: ReportSources;

  constructor(sources: ReportSources) {
    this.#sources = sources;
  }

  get servers(): ServerStatus[] {
    const { catalog, configuration, pool, links } = this.#sources;
    return serverStatuses({
      config: configuration.current,
      view: catalog.view,
      connection: (name) => pool.get(name),
      missing: (name) => links.missing(name),
    });
  }

  get condition(): GatewayHealth {
    const states = this.servers.map((server) => server.state);
    if (this.#sources.configuration.current.problems.some((problem) => problem.severity === 'error')) return 'degraded';
    if (this.gate.flaw !== undefined && !states.includes('starting')) return 'degraded';
    if (states.some((state) => NEEDS_THE_PERSON.has(state))) return 'degraded';
    return states.includes('starting') ? 'starting' : 'ready';
  }

  health(): HealthReport {
    const problems = this.#sources.configuration.current.problems.filter(({ severity }) => severity === 'error');
    return this.#sources.diagnostics.health(
      this.condition,
      this.servers,
      problems.map(({ message }) => message),
      (name) => this.#sources.pool.get(name)?.health,
    );
  }

  telemetry(): TelemetryReport {
    return this.#sources.diagnostics.telemetry(this.condition, this.servers);
  }

  status(): Pick<GatewaySnapshot, 'workspace' | 'configuration' | 'servers' | 'catalog' | 'recentCalls'> {
    const { workspace, catalog, account } = this.#sources;
    catalog.catchUp();
    const { file, exists, files, problems, mode } = this.#sources.configuration.current;
    return {
      workspace,
      configuration: { file, exists, files, mode, problems: [...problems, ...this.#startupProblem()] },
      servers: this.servers,
      catalog: catalog.view.status,
      recentCalls: account.activity.recent,
    };
  }

  /** For a person who wants to know why a query brings what it brings. */
  explain(query: string, topK: number): RankExplanation {
    const { catalog, uses } = this.#sources;
    const history = this.#sources.configuration.current.browse.learning ? { history: uses.history } : {};
    return explainRanking(catalog.view.index, query, { topK, ...history });
  }

  catalog(): CatalogReport {
    const { view, primitives } = this.#sources.catalog;
    const tools = advertisedTools({ primitives: primitives.ports });
    return catalogReport(view, tools, primitives.ports.view().catalog.findings);
  }

  #startupView(): StartupView {
    const { catalog } = this.#sources;
    const config = this.#sources.configuration.current;
    // Whoever asks whether there is a tool is told of those that have just come.
    catalog.catchUp();
    const required = new Map(config.servers.map((server) => [server.name, server.required ?? true]));
    const servers = this.servers
      .filter(({ state }) => state !== 'disabled')
      .map(({ name, state }) => ({ name, state, required: required.get(name) ?? true }));
    return { config: config.startup, servers, toolCount: catalog.view.status.toolCount };
  }

  #startupProblem(): ConfigurationProblem[] {
    const { flaw } = this.gate;
    const isStarting = this.servers.some(({ state }) => state === 'starting');
    if (flaw === undefined || isStarting) return [];
    return [{ severity: 'error', message: flaw, location: this.#sources.configuration.current.startupAt }];
  }
}
