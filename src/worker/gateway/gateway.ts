import type { ConfigPlace, LoadedConfig } from '../../config/fileReader.ts';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  LearnedUse,
  SecretAnswer,
  SecretRequest,
  TreeChildren,
  WouldRun,
} from '../../control/contract.ts';
import type { Mode } from '../../link/mode.ts';
import type { SessionMode } from '../../mcp/session/sessionMode.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { ClientRequests } from '../../modes/shared/client/clientRequests.ts';
import { systemResources } from '../../modes/shared/systemResources.ts';
import { UseMemory } from '../../ranking/useMemory.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { ConfigurationEdits } from '../configuration/applyConfiguration.ts';
import { Configuration } from '../configuration/configuration.ts';
import { Diagnostics, type SupervisedLife } from '../reports/diagnostics.ts';
import { GatewayReports } from '../reports/gatewayReports.ts';
import { WorkAccount } from '../reports/workAccount.ts';
import { CallPath } from './callPath.ts';
import { GatewayServers } from './gatewayServers.ts';
import { LiveCatalog } from './liveCatalog.ts';
import { Modes } from './modes.ts';

export interface GatewayOptions {
  workspace: string;
  /** The file that was given by hand, which counts alone. */
  configFile?: string;
  stateFolder: string;
  /** What is known of its worker's life beyond this process. */
  life?: () => Partial<SupervisedLife>;
  /** Reads that file, where it is no configuration. */
  load?: (place: ConfigPlace) => LoadedConfig;
  /** Configuration texts that the last worker had in force. */
  lastGood?: () => KeptTexts;
  /** Keeps the texts in force for the next worker. */
  keepTexts(texts: KeptTexts): void;
  log(line: string): void;
  /** Something that a watcher shows has changed. */
  onChange(): void;
  /** Asks the person at an editor that watches. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict>;
  /** Reaches into the editor's own store of secrets. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
}

const WARM_UP_AFTER_MS = 1_000;
/** How long a worker that was replaced waits for its calls in flight. */
const DRAIN_MS = 10_000;

/** The gateway of one workspace: configuration, servers, catalog and the mode that clients see. */
export class Gateway {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  readonly account: WorkAccount;
  readonly servers: GatewayServers;
  readonly reports: GatewayReports;
  readonly #options: GatewayOptions;
  readonly #uses: UseMemory;
  readonly #clientRequests: ClientRequests;
  readonly #calls: CallPath;
  readonly #catalog: LiveCatalog;
  readonly #modes: Modes;
  readonly #edits: ConfigurationEdits;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { workspace, stateFolder, log } = options;
    const configuration = new Configuration(options);
    const diagnostics = new Diagnostics({ ...options, scrubSecrets });
    const toolOf = (id: string) => this.#catalog.view.catalog.byId.get(id);
    const account = new WorkAccount({ ...options, diagnostics, toolOf });
    const uses = new UseMemory(stateFolder, log);
    this.servers = new GatewayServers({
      ...options,
      configuration,
      scrubSecrets,
      onChange: () => this.#onServersChanged(),
      onConnection: (connection) => this.#onConnection(connection),
    });
    const { pool, links } = this.servers;
    const clientRequests = new ClientRequests({ workspace, connections: () => pool.connections, log });
    const calls = new CallPath({ ...options, configuration, pool });
    const catalog = new LiveCatalog({
      ...{ pool, calls, clientRequests, log },
      own: systemResources({ health: () => this.reports.health(), telemetry: () => this.reports.telemetry() }),
      onListsChanged: (kind) => this.#modes.onListsChanged(kind),
      onChanged: (view) => this.#onCatalogChanged(view),
      onFailed: (view, error) => this.#onCatalogFailed(view, error),
      onRebuilt: () => options.onChange(),
    });
    const shown = { workspace, configuration, pool, catalog, account, uses };
    const reports = new GatewayReports({ ...shown, diagnostics, links });
    this.#modes = new Modes({ ...shown, reports, calls, clientRequests });
    this.#edits = new ConfigurationEdits({
      configuration,
      adoptSettings: () => calls.adopt(),
      reconcileServers: () => {
        this.servers.reconcile();
        catalog.rebuild();
      },
      keep: options.keepTexts,
      onChange: options.onChange,
      log,
    });
    this.configuration = configuration;
    this.diagnostics = diagnostics;
    this.account = account;
    this.reports = reports;
    this.#uses = uses;
    this.#clientRequests = clientRequests;
    this.#calls = calls;
    this.#catalog = catalog;
  }

  get modes(): Readonly<Record<Mode, SessionMode>> {
    return this.#modes.all;
  }

  start(): void {
    this.diagnostics.started();
    this.#edits.report();
    // Not before the first browse: that needs none of it.
    setTimeout(() => this.#calls.pipeline.validator.warmUp(), WARM_UP_AFTER_MS).unref();
    this.servers.start();
    // From the first answer on every configured server has its place.
    this.#catalog.rebuild();
  }

  /** Serves the workspace from now on, and applies edits of its configuration. */
  begin(): void {
    this.servers.dropSnapshots();
    this.#edits.watch();
  }

  /** Resolves when every server's tools are known, or have been waited for long enough. */
  async prepared(timeoutMs: number): Promise<void> {
    await this.#catalog.settled(timeoutMs, new AbortController().signal);
  }

  /** Another worker serves from now on. */
  supersede(): void {
    this.#edits.stop();
    this.#uses.flush();
    this.servers.supersede();
  }

  async stop(): Promise<void> {
    this.#edits.stop();
    this.servers.close();
    this.#catalog.stop();
    this.#uses.flush();
    await this.#calls.stop();
    await this.servers.stop();
    await this.diagnostics.close();
  }

  /** Applies edits of the configuration, and lists every server's tools again. */
  async refresh(): Promise<void> {
    this.#edits.apply();
    await this.servers.pool.refresh();
    this.#catalog.rebuild();
  }

  /** Returns what the servers run, edits included. */
  wouldRun(): WouldRun[] {
    this.#edits.apply();
    return this.configuration.wouldRun();
  }

  /** Resolves when no call is in flight, or when that takes too long. */
  async drained(): Promise<void> {
    const deadline = performance.now() + (Number(process.env.WAYGATE_DRAIN_MS) || DRAIN_MS);
    while (this.account.inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  }

  children(path: string): TreeChildren {
    return this.#catalog.view.children(path);
  }

  get learned(): readonly LearnedUse[] {
    return this.#uses.history.entries;
  }

  forget(toolId: string | undefined): void {
    this.#uses.forget(toolId);
  }

  #onServersChanged(): void {
    const watched = this.servers.pool.connections.map(({ config: { name }, state, catalog: { tools }, health }) => ({
      name,
      state,
      tools,
      health,
    }));
    this.diagnostics.serversChanged(watched);
    this.#options.onChange();
    this.#catalog.touch();
  }

  /** One that is new: what its server tells or asks by itself is heard from its first start on. */
  #onConnection(connection: ServerConnection): void {
    this.#catalog.primitives.attach(connection);
    this.#clientRequests.attach(connection);
    this.#modes.attach(connection);
  }

  #onCatalogChanged(view: CatalogView): void {
    this.#calls.pipeline.invalidate();
    this.#modes.onCatalogChanged();
    this.diagnostics.catalogChanged(view);
  }

  #onCatalogFailed(view: CatalogView, error: Error): void {
    this.diagnostics.catalogFailed(view);
    this.#options.log(`the catalog could not be built anew: ${error.stack}`);
  }
}
