import type { LoadedConfig } from '../../config/fileReader.ts';
import type { ConfigPlace } from '../../config/state/configPlaces.ts';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import type { LimitsReport, Refreshed } from '../../control/activityContract.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlRequests,
  LearnedUse,
  SecretAnswer,
  SecretRequest,
  TreeChildren,
} from '../../control/contract.ts';
import type { ServerListing, TrustReview } from '../../control/trustContract.ts';
import type { Mode } from '../../link/mode.ts';
import type { SessionMode } from '../../mcp/session/sessionMode.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { ClientRequests } from '../../modes/shared/client/clientRequests.ts';
import { SignInOffers } from '../../modes/shared/client/signInOffers.ts';
import { systemResources } from '../../modes/shared/systemResources.ts';
import { UseMemory } from '../../ranking/useMemory.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { maskKnownValue } from '../../secrets/scrubValue.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { ConfigurationEdits } from '../configuration/applyConfiguration.ts';
import { Configuration } from '../configuration/configuration.ts';
import type { ActiveCall } from '../reports/activeCall.ts';
import { Diagnostics, type SupervisedLife } from '../reports/diagnostics.ts';
import { GatewayReports } from '../reports/gatewayReports.ts';
import { RecordDesk } from '../reports/recordDesk.ts';
import { ServerScans } from '../reports/serverScans.ts';
import { ToolReports } from '../reports/toolReports.ts';
import { WorkAccount } from '../reports/workAccount.ts';
import { CallPath } from './callPath.ts';
import { GatewayServers } from './gatewayServers.ts';
import { KeptResults } from './keptResults.ts';
import { LiveCatalog } from './liveCatalog.ts';
import { Modes } from './modes.ts';
import { refreshed } from './refreshes.ts';

export interface GatewayOptions {
  workspace: string;
  /** File given by the user, which replaces all others. */
  configFile?: string;
  stateFolder: string;
  /** Whether the first starts of servers wait a moment for a client, which may have roots. */
  awaitsSession?: boolean;
  /** Returns facts about the worker's life that outlive this process. */
  life?: () => Partial<SupervisedLife>;
  /** Reads the given file if it is not a configuration. */
  load?: (place: ConfigPlace) => LoadedConfig;
  /** Configuration texts that the last worker had in force. */
  lastGood?: () => KeptTexts;
  /** Stores the texts in force for the next worker. */
  keepTexts(texts: KeptTexts): void;
  log(line: string): void;
  /** Called after a change that watchers show. */
  onChange(): void;
  /** Asks the user in an editor that watches. */
  approve(question: ApprovalQuestion, gone: AbortSignal): Promise<ApprovalVerdict | 'late'>;
  /** Offers a question about a refused call to each editor that watches, now or later. */
  offer(question: ApprovalQuestion, gone: AbortSignal, answer: (verdict: ApprovalVerdict) => void): void;
  /** Called when a call begins, changes its phase, ends or was counted. */
  onCall(call: ActiveCall): void;
  /** Whether an editor watches. */
  hasEditor(): boolean;
  /** Accesses the editor's own store of secrets. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
}

const NO_SIGNAL = new AbortController().signal;
const WARM_UP_AFTER_MS = 1_000;
/** Time that a replaced worker waits for its running calls. */
const DRAIN_MS = 10_000;

/** Gateway of one workspace: configuration, servers, catalog and modes. */
export class Gateway {
  readonly configuration: Configuration;
  readonly diagnostics: Diagnostics;
  readonly account: WorkAccount;
  readonly servers: GatewayServers;
  readonly reports: GatewayReports;
  readonly scan: ServerScans;
  readonly tools: ToolReports;
  readonly results: KeptResults;
  readonly records: RecordDesk;
  /** Session of the user's own calls, of all editors. */
  readonly you = {};
  readonly #options: GatewayOptions;
  readonly #uses: UseMemory;
  readonly #clientRequests: ClientRequests;
  readonly #signIns: SignInOffers;
  readonly #calls: CallPath;
  readonly #catalog: LiveCatalog;
  readonly #modes: Modes;
  readonly #edits: ConfigurationEdits;
  #hasChanges = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { workspace, stateFolder, log } = options;
    const configuration = new Configuration(options);
    const diagnostics = new Diagnostics({
      ...options,
      scrubSecrets,
      sentTokens: () => this.#modes.sentTokens(),
      onCounted: options.onChange,
    });
    const toolOf = (id: string) => this.#catalog.view.catalog.byId.get(id);
    const account = new WorkAccount({
      diagnostics,
      toolOf,
      keeps: () => configuration.current.settings.activity.keepArguments,
      stderrOf: (server) => this.servers.pool.get(server)?.stderr ?? [],
      onCall: options.onCall,
      onChange: options.onChange,
    });
    const uses = new UseMemory(stateFolder, log);
    this.servers = new GatewayServers({
      ...options,
      configuration,
      scrubSecrets,
      maskKnown: maskKnownValue,
      onChange: () => this.#onServersChanged(),
      onSignedOut: () => this.#calls.pipeline.invalidate(),
      onConnection: (connection) => this.#onConnection(connection),
      onSessionConnection: (connection) => this.#clientRequests.attach(connection),
      signIn: (server, origin, signal) => this.#signIns.offer(server, origin, signal),
    });
    const { signInRequests } = this.servers;
    const signIns = new SignInOffers({
      begin: async (server) => signInRequests.signIn({ server }, NO_SIGNAL),
      ended: async (server) => signInRequests.signInEnd({ server }, NO_SIGNAL),
      hasEditor: options.hasEditor,
      log,
    });
    const { pool, trust } = this.servers;
    const clientRequests = new ClientRequests({
      workspace,
      awaitsSession: options.awaitsSession ?? true,
      connections: () => pool.connections,
      onQuestion: (question) => diagnostics.sessionAnswered(question),
      egressRefusal: (server, answer, from) => this.#calls.egressRefusal(server, answer, from),
      log,
    });
    const calls = new CallPath({ ...options, configuration, pool, trust });
    const catalog = new LiveCatalog({
      ...{ pool, calls, clientRequests, log },
      own: systemResources({ health: () => this.reports.health(), telemetry: () => this.reports.telemetry() }),
      onListsChanged: (kind) => this.#modes.onListsChanged(kind),
      onChanged: (view) => this.#onCatalogChanged(view),
      onFailed: (view, error) => this.#onCatalogFailed(view, error),
      onRebuilt: () => options.onChange(),
    });
    const shown = { workspace, configuration, pool, catalog, account, uses };
    const reports = new GatewayReports({ ...shown, diagnostics, servers: this.servers });
    this.#modes = new Modes({ ...shown, reports, calls, clientRequests, signIns });
    this.#edits = new ConfigurationEdits({
      configuration,
      adoptSettings: () => {
        calls.adopt();
        this.#modes.onEdit();
      },
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
    this.scan = new ServerScans(() => pool.connections);
    this.tools = new ToolReports({
      view: () => catalog.view,
      connection: (server) => pool.get(server),
      contractOf: (tool) => calls.contractOf(tool),
      useOf: (tool) => diagnostics.useOf({ tool }),
      before: (connection, tool) => this.servers.review.before(connection, tool),
    });
    const { artifacts } = calls;
    const masks = (): boolean => configuration.current.settings.artifacts.maskSecrets === 'always';
    this.records = new RecordDesk({ workspace, stateFolder });
    this.results = new KeptResults({ artifacts, masks, activity: account.activity });
    this.#uses = uses;
    this.#clientRequests = clientRequests;
    this.#signIns = signIns;
    this.#calls = calls;
    this.#catalog = catalog;
  }

  get modes(): Readonly<Record<Mode, SessionMode>> {
    return this.#modes.all;
  }

  start(): void {
    this.diagnostics.started();
    this.#edits.report();
    // Delayed, because the first browse does not need validators.
    setTimeout(() => this.#calls.pipeline.validator.warmUp(), WARM_UP_AFTER_MS).unref();
    this.servers.start();
    // The first answer must already list every configured server.
    this.#catalog.rebuild();
  }

  /** Keeps the configuration in force for the next worker. */
  keepConfiguration(): void {
    this.#options.keepTexts(this.configuration.texts);
  }

  /**
   * Applies edits of the configuration from now on. `succeeds`: another worker has served the workspace until now, and may
   * have put an edit in force.
   */
  begin({ succeeds }: { succeeds: boolean }): void {
    this.servers.dropSnapshots();
    this.#edits.watch({ succeeds });
  }

  /** Resolves when the tools of every server are known, or after the timeout. */
  async prepared(timeoutMs: number): Promise<void> {
    await this.#catalog.settled(timeoutMs, new AbortController().signal);
  }

  /** Stops applying edits and releases idle servers, because another worker serves from now on. */
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

  /**
   * Applies edits of the configuration, and lists the tools of every server again, or of one. Returns the servers that it
   * began with; `onRefreshed` is called when one of them ends, and `ended` resolves when all have.
   */
  refresh(
    server: string | undefined,
    onRefreshed: (news: Refreshed) => void = () => undefined,
  ): { began: readonly string[]; ended: Promise<unknown> } {
    this.#edits.apply();
    const { pool } = this.servers;
    const chosen = pool.connections.filter(({ config }) => server === undefined || config.name === server);
    const ends = chosen.map(async (connection) => {
      const news = await refreshed(connection, () => pool.refresh(connection));
      this.#catalog.catchUp();
      onRefreshed(news);
    });
    return {
      began: chosen.map(({ config }) => config.name),
      ended: Promise.all(ends).then(() => this.#catalog.rebuild()),
    };
  }

  /** Compares what servers list with their pins. */
  trustReview(server: string | undefined): TrustReview[] {
    this.#catalog.catchUp();
    const connections = this.servers.pool.connections.filter(
      ({ config }) => server === undefined || config.name === server,
    );
    return this.servers.review.compare(connections, (name) => this.#catalog.view.namespaceOf(name));
  }

  /** Lists the servers of the workspace's own file again. */
  async listing(): Promise<ServerListing[]> {
    await this.refresh(undefined).ended;
    const disabled = this.configuration.current.servers.filter((server) => server.disabled);
    return this.servers.review.listings(this.servers.pool.connections, disabled);
  }

  /** Applies a decision of the user about what servers list. */
  decide(decision: ControlRequests['decide']['params']): { reason?: string } {
    const reason = this.servers.review.decide(decision, this.servers.pool.connections);
    this.#catalog.rebuild();
    return reason === undefined ? {} : { reason };
  }

  /** Applies edits of the configuration, and checks waiting servers again. */
  recheck(): void {
    this.#edits.apply();
    this.servers.recheck();
  }

  /** Resolves when no call is running, or after a timeout. */
  async drained(): Promise<void> {
    const deadline = performance.now() + (Number(process.env.WAYGATE_DRAIN_MS) || DRAIN_MS);
    while (this.account.inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  }

  children(path: string): TreeChildren {
    // The same revision as that of the next snapshot.
    this.#catalog.catchUp();
    return this.#catalog.view.children(path);
  }

  /** Returns what is left of each limit, for the sessions that have made calls. */
  limits(): LimitsReport {
    const { limiter } = this.#calls.pipeline;
    const windows = limiter.windows(this.account.activity.callers, ({ owner }) => owner);
    const { unreadable } = limiter.limits;
    return {
      windows: windows.map(({ session: caller, freesIn, ...window }) => ({
        ...window,
        ...(caller && { session: caller.session, client: caller.client }),
        ...(freesIn !== undefined && { freesInMs: Math.round(freesIn * 1_000) }),
      })),
      ...(unreadable !== undefined && { unreadable }),
    };
  }

  get learned(): readonly LearnedUse[] {
    return this.#uses.history.entries;
  }

  forget(toolId: string | undefined): void {
    this.#uses.forget(toolId);
  }

  /** Notes the changes of one step of the event loop together: a worker starts all servers in one step. */
  #onServersChanged(): void {
    if (this.#hasChanges) return;
    this.#hasChanges = true;
    queueMicrotask(() => {
      this.#hasChanges = false;
      this.#noteServers();
    });
    this.#catalog.scheduleRebuild();
  }

  #noteServers(): void {
    const watched = this.servers.pool.connections.map(({ config: { name }, state, catalog: { tools }, health }) => ({
      name,
      state,
      tools,
      health,
    }));
    this.diagnostics.serversChanged(watched);
    this.#options.onChange();
  }

  /**
   * Attaches handlers to a new connection before its first start, so that no notification or request of the server is
   * missed.
   */
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
    this.#options.log(`the catalog could not be rebuilt: ${error.stack}`);
  }
}
