import type { MergedConfig } from '../config/configLayers.ts';
import type { ConfigurationProblem } from '../config/gatewayConfig.ts';
import type { CatalogReport, GatewayHealth, GatewaySnapshot, ServerStatus } from '../control/contract.ts';
import type { HealthReport, TelemetryReport } from '../control/healthContract.ts';
import type { RankExplanation } from '../routing/explanation.ts';
import { explainRanking } from '../routing/rankIndex.ts';
import { catalogReport } from '../surface/catalogReport.ts';
import { advertisedTools } from '../surface/gateway/gatewaySurface.ts';
import type { ServerConnection } from '../upstream/serverConnection.ts';
import type { Activity } from './activity.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { LiveCatalog } from './liveCatalog.ts';
import type { Primitives } from './primitives.ts';
import type { ServerLinks } from './serverLinks.ts';
import { serverStatuses } from './serverStatuses.ts';
import { StartupGate, type StartupView } from './startupGate.ts';
import type { UseMemory } from './useMemory.ts';

export interface ReportSources {
  workspace: string;
  config(): MergedConfig;
  connection(name: string): ServerConnection | undefined;
  links: Pick<ServerLinks, 'missing'>;
  catalog: LiveCatalog;
  primitives: Pick<Primitives, 'ports'>;
  activity: Activity;
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
    const { catalog, connection, links } = this.#sources;
    const missing = (name: string) => links.missing(name);
    return serverStatuses({ config: this.#sources.config(), view: catalog.view, connection, missing });
  }

  get condition(): GatewayHealth {
    const states = this.servers.map((server) => server.state);
    if (this.#sources.config().problems.some((problem) => problem.severity === 'error')) return 'degraded';
    if (this.gate.flaw !== undefined && !states.includes('starting')) return 'degraded';
    if (states.some((state) => NEEDS_THE_PERSON.has(state))) return 'degraded';
    return states.includes('starting') ? 'starting' : 'ready';
  }

  health(): HealthReport {
    const problems = this.#sources.config().problems.filter(({ severity }) => severity === 'error');
    return this.#sources.diagnostics.health(
      this.condition,
      this.servers,
      problems.map(({ message }) => message),
      (name) => this.#sources.connection(name)?.health,
    );
  }

  telemetry(): TelemetryReport {
    return this.#sources.diagnostics.telemetry(this.condition, this.servers);
  }

  status(): Pick<GatewaySnapshot, 'workspace' | 'configuration' | 'servers' | 'catalog' | 'recentCalls'> {
    const { workspace, catalog, activity } = this.#sources;
    catalog.catchUp();
    const { file, exists, files, problems, mode } = this.#sources.config();
    return {
      workspace,
      configuration: { file, exists, files, mode, problems: [...problems, ...this.#startupProblem()] },
      servers: this.servers,
      catalog: catalog.view.status,
      recentCalls: activity.recent,
    };
  }

  /** For a person who wants to know why a query brings what it brings. */
  explain(query: string, topK: number): RankExplanation {
    const { catalog, uses } = this.#sources;
    const history = this.#sources.config().browse.learning ? { history: uses.history } : {};
    return explainRanking(catalog.view.index, query, { topK, ...history });
  }

  catalog(): CatalogReport {
    const primitives = this.#sources.primitives.ports;
    return catalogReport(
      this.#sources.catalog.view,
      advertisedTools({ primitives }),
      primitives.view().catalog.findings,
    );
  }

  #startupView(): StartupView {
    const { catalog } = this.#sources;
    const config = this.#sources.config();
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
    return [{ severity: 'error', message: flaw, location: this.#sources.config().startupAt }];
  }
}
