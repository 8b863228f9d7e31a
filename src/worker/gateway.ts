import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { CatalogTool } from '../catalog/types.ts';
import { type Approvals, approvalsOf, needsApproval } from '../config/approvals.ts';
import { ConfigLayers, type MergedConfig } from '../config/configLayers.ts';
import { FileTokens } from '../config/fileTokens.ts';
import type { ConfigurationProblem } from '../config/gatewayConfig.ts';
import type { ConfigPlace, LoadedConfig } from '../config/loadConfig.ts';
import { rootOf } from '../config/stateFolder.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  CatalogReport,
  GatewayHealth,
  GatewaySnapshot,
  LearnedUse,
  SecretAnswer,
  SecretRequest,
  ServerStatus,
  TreeChildren,
} from '../control/contract.ts';
import type { HealthReport, TelemetryReport } from '../control/healthContract.ts';
import { CallPipeline } from '../dispatch/callPipeline.ts';
import { DISPATCH_DEFAULTS, type DispatchConfig } from '../dispatch/dispatchConfig.ts';
import { replayFor } from '../dispatch/layeredConfig.ts';
import { ArtifactStore } from '../firewall/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../firewall/firewall.ts';
import { scrubSecrets } from '../firewall/secrets.ts';
import type { Face } from '../ops/face.ts';
import { RESTART_LIMITS, type RestartLimits } from '../ops/restartPolicy.ts';
import type { SessionSurface } from '../protocol/sessionServer.ts';
import type { RankExplanation } from '../routing/explain.ts';
import { explainRanking } from '../routing/rankIndex.ts';
import { catalogReport } from '../surface/catalogReport.ts';
import { CatalogView } from '../surface/catalogView.ts';
import { ClientRequests } from '../surface/clientRequests.ts';
import type { GatewayContext } from '../surface/gateway/gatewayContext.ts';
import { advertisedTools, gatewaySurface } from '../surface/gateway/gatewaySurface.ts';
import type { PassthroughContext } from '../surface/passthrough/passthroughContext.ts';
import { passthroughSurface } from '../surface/passthrough/passthroughSurface.ts';
import { systemResources } from '../surface/systemResources.ts';
import { transparentSurface } from '../surface/transparent/transparentSurface.ts';
import { CatalogSnapshots } from '../upstream/catalogSnapshots.ts';
import { ChildJournal } from '../upstream/childJournal.ts';
import { OwnEnvironment } from '../upstream/loginShellPath.ts';
import { waitAtMost } from '../upstream/patience.ts';
import { killMarked } from '../upstream/processTree.ts';
import type { ConnectionServices, ServerConnection } from '../upstream/serverConnection.ts';
import { ServerPool } from '../upstream/serverPool.ts';
import { SignIns } from '../upstream/signIns.ts';
import { Activity } from './activity.ts';
import { approvalFile } from './approvalFile.ts';
import { approvalQuestion } from './approvalQuestion.ts';
import { CallSettings } from './callSettings.ts';
import { Diagnostics, type SupervisedLife } from './diagnostics.ts';
import { KeptTokens } from './keptTokens.ts';
import { Primitives } from './primitives.ts';
import { rankResources } from './rankResources.ts';
import { ServerLinks } from './serverLinks.ts';
import { serverStatuses, watchedServer } from './serverStatuses.ts';
import { SharedSecrets } from './sharedSecrets.ts';
import { type SignInRequests, signInRequests } from './signInRequests.ts';
import { StartupGate, type StartupView } from './startupGate.ts';
import { UseMemory } from './useMemory.ts';

export interface GatewayOptions {
  workspace: string;
  /** The file that was given by hand, which counts alone. */
  configFile?: string;
  stateFolder: string;
  /** What is known of its worker's life beyond this process. */
  life?: () => Partial<SupervisedLife>;
  /** Reads that file, where it is no configuration. */
  load?: (place: ConfigPlace) => LoadedConfig;
  log(line: string): void;
  /** Something that a watcher shows has changed. */
  onChange(): void;
  /** Asks the person at an editor that watches. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict>;
  /** Reaches into the editor's own store of secrets. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
}

/** These serve nothing until somebody does something. */
const NEEDS_THE_PERSON: ReadonlySet<ServerStatus['state']> = new Set([
  'failed',
  'needs_sign_in',
  'needs_secret',
  'needs_approval',
]);
/** Several servers come up within a moment: one rebuild serves them all. */
const REBUILD_DELAY_MS = 30;
const WARM_UP_AFTER_MS = 1_000;
/** A changed file applies by itself; polling sees what editors do to files on every system. */
const CONFIG_POLL_MS = 1_000;
/** How long a client that lists everything waits for servers of which nothing is known yet. */
const SETTLE_MS = 15_000;
/** How long a worker that was replaced waits for its calls in flight. */
const DRAIN_MS = 10_000;

/** The gateway of one workspace: configuration, servers, catalog and the surface that clients see. */
export class Gateway {
  /** What sessions see, by the way that they have asked for. */
  readonly faces: Readonly<Record<Face, SessionSurface>>;
  readonly signInRequests: SignInRequests;
  readonly #options: GatewayOptions;
  readonly #journal: ChildJournal;
  readonly #pool: ServerPool;
  readonly #artifacts: ArtifactStore;
  readonly #activity = new Activity();
  readonly #diagnostics: Diagnostics;
  readonly #uses: UseMemory;
  readonly #calls: CallPipeline<AdmittedResult>;
  readonly #clientRequests: ClientRequests;
  /** The surfaces that list tools. */
  readonly #listing: readonly { onCatalogChanged(): void }[];
  readonly #tasksAtStake: () => number;
  #firewall: Firewall;
  readonly #approvals: Approvals;
  readonly #links: ServerLinks;
  readonly #signIns: SignIns;
  readonly #snapshots: CatalogSnapshots;
  readonly #layers: ConfigLayers;
  readonly #callSettings = new CallSettings();
  #callsConfig: DispatchConfig = DISPATCH_DEFAULTS;
  readonly #gate = new StartupGate(() => this.#startupView());
  #config: MergedConfig;
  #view = CatalogView.build([], 0);
  readonly #primitives: Primitives;
  #listed: readonly unknown[] = [];
  #rebuildTimer: NodeJS.Timeout | undefined;
  #inFlight = 0;
  #superseded = false;
  #stopping = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { workspace, stateFolder } = options;
    const life = options.life === undefined ? {} : { life: options.life };
    this.#diagnostics = new Diagnostics({ workspace, stateFolder, scrubSecrets, ...life });
    this.#layers = new ConfigLayers(workspace, process.env, options.configFile, options.load);
    this.#config = this.#layers.load();
    const { artifacts } = this.#config;
    this.#artifacts = new ArtifactStore({
      folder: join(options.stateFolder, 'artifacts'),
      maxBytes: artifacts.maxBytes,
      maxCount: artifacts.maxArtifacts,
      maxAgeMs: artifacts.ttlSeconds * 1_000,
    });
    this.#firewall = this.#newFirewall();
    this.#approvals = approvalsOf(rootOf(options.stateFolder));
    this.#signIns = new SignIns(new KeptTokens(new FileTokens(rootOf(options.stateFolder)), options.secret));
    this.#journal = new ChildJournal(options.stateFolder);
    const stateRoot = rootOf(stateFolder);
    this.#links = new ServerLinks({
      workspace,
      stateRoot,
      journal: this.#journal,
      environment: new OwnEnvironment(process.env, options.log),
      secrets: new SharedSecrets(stateRoot, workspace, options.secret),
      signIns: this.#signIns,
      inputs: ({ origin = 'workspace' }) => this.#config.inputs[origin] ?? [],
    });
    this.#uses = new UseMemory(options.stateFolder, options.log);
    this.#snapshots = new CatalogSnapshots(join(options.stateFolder, 'catalogs'), options.log);
    const services: ConnectionServices = {
      openLink: (config, events) => this.#links.open(config, events),
      mayTry: (config) => this.#signIns.mayTry(config),
      isApproved: (config) => !needsApproval(config) || this.#approvals.isApproved(options.workspace, config),
      snapshots: this.#snapshots,
      idleMs: () => (this.#superseded ? 0 : this.#config.idleMinutes * 60_000),
      startTimeoutMs: () => this.#config.startup.timeoutSeconds * 1_000,
      liveRefresh: () => this.#config.liveRefresh,
      restartLimits: restartLimits(process.env),
    };
    this.#clientRequests = new ClientRequests({
      workspace: options.workspace,
      connections: () => this.#pool.connections,
      log: options.log,
    });
    this.#pool = new ServerPool(services, {
      onChange: () => this.#onServersChanged(),
      onConnection: (connection) => {
        this.#primitives.attach(connection);
        this.#clientRequests.attach(connection);
        passthrough.attach(connection);
      },
      log: options.log,
      scrubSecrets,
    });
    this.signInRequests = signInRequests(this.#signIns, this.#pool, (config) => this.#links.follow(config));
    this.#calls = new CallPipeline<AdmittedResult>({
      upstream: (server) => this.#pool.get(server),
      firewall: (result, { tool, provenance }) => {
        this.#primitives.links.note(tool.server, result);
        return this.#firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName, provenance });
      },
      scrubSecrets,
      approval: { ask: ({ tool, args, reason }) => options.approve(approvalQuestion(tool, args, reason)) },
      approvalStore: approvalFile(options.stateFolder, options.log),
      log: options.log,
    });
    this.#configureCalls();
    this.#primitives = new Primitives({
      upstream: (server) => this.#pool.get(server),
      firewall: (result, { id, name }) => this.#firewall.admit(result, { toolId: id, upstreamName: name }),
      authorize: (call) => this.#calls.authorizeView(call),
      scrubSecrets,
      settled: (timeoutMs, signal) => this.#settled(timeoutMs, signal),
      own: systemResources({ health: () => this.healthReport(), telemetry: () => this.telemetryReport() }),
      ranking: rankResources,
      log: options.log,
    });
    const context = {
      calls: this.#calls,
      contractOf: (tool: CatalogTool) => replayFor(this.#callsConfig, tool).contract,
      clientRequests: this.#clientRequests,
      settled: () => this.#settled(SETTLE_MS, new AbortController().signal),
      primitives: this.#primitives.ports,
      view: () => this.#view,
      servers: () => this.#serverStatuses(),
      configuration: () => this.#config,
      browseConfig: () => this.#config.browse,
      useHistory: () => this.#uses.history,
      recordUse: (query: string, toolId: string) => {
        if (this.#config.browse.learning) this.#uses.record(query, toolId);
      },
      artifacts: this.#artifacts,
      admit: () => this.#gate.admit(),
      onCallStart: () => {
        this.#inFlight += 1;
      },
      onCallEnd: (...[call, event]: Parameters<GatewayContext['onCallEnd']>) => {
        this.#inFlight -= 1;
        this.#activity.add(call);
        this.#diagnostics.callEnded(call, event);
        this.#options.onChange();
      },
    };
    const transparent = transparentSurface(context);
    const passthrough = passthroughSurface(this.#passthroughContext(context));
    this.#listing = [transparent, passthrough];
    this.#tasksAtStake = () => passthrough.tasksAtStake;
    this.faces = {
      gateway: this.#clientRequests.serve(gatewaySurface(context, this.#primitives.client)),
      transparent: this.#clientRequests.serve(transparent),
      passthrough: this.#clientRequests.serve(passthrough),
    };
  }

  #passthroughContext(
    context: Omit<PassthroughContext, 'connections' | 'hasSeveralServers' | 'digest' | 'shownChars' | 'sessionsMoveOn'>,
  ): PassthroughContext {
    const digest: ReturnType<PassthroughContext['digest']> = (result, { id: toolId, upstreamName }) =>
      this.#firewall.admit(result, { toolId, upstreamName });
    return {
      ...context,
      connections: () => this.#pool.connections,
      hasSeveralServers: () => {
        const { servers, broken } = this.#config;
        return servers.filter(({ disabled }) => !disabled).length + broken.length > 1;
      },
      digest: () => (this.#config.passthrough.firewall ? digest : undefined),
      shownChars: () => this.#config.artifacts.shownChars,
      sessionsMoveOn: () => this.#superseded || this.#stopping,
    };
  }

  start(): void {
    this.#diagnostics.started();
    void this.#journal.orphansEnded.then((n) => {
      if (n > 0) this.#options.log(`ended ${n} servers that a killed worker had left`);
    });
    this.#logProblems();
    // Not before the first browse: that needs none of it.
    setTimeout(() => this.#calls.validator.warmUp(), WARM_UP_AFTER_MS).unref();
    this.#apply();
    // From the first answer on every configured server has its place.
    this.#rebuild();
    for (const { file } of this.#layers.places) {
      watchFile(file, { interval: CONFIG_POLL_MS, persistent: false }, this.#onFile);
    }
    // By the editor, the command line, or another window.
    watchFile(this.#approvals.file, { interval: CONFIG_POLL_MS, persistent: false }, this.#onApprovals);
  }

  /** Why what the person has written cannot be served, where that is so: a gateway that is to take over says it first. */
  get flaw(): string | undefined {
    const problem = this.#layers.unusable;
    if (!problem) return undefined;
    const { message, location } = problem;
    return `${location.file}:${location.line}:${location.column}: ${message}`;
  }

  /** Resolves when every server's tools are known, or have been waited for long enough. */
  async prepared(timeoutMs: number): Promise<void> {
    await this.#settled(timeoutMs, new AbortController().signal);
  }

  /** Another worker serves from now on: servers end with their last call here, the idle ones at once. */
  supersede(): void {
    this.#superseded = true;
    this.#unwatch();
    this.#uses.flush();
    for (const connection of this.#pool.connections) {
      connection.config = { ...connection.config, keepAlive: false };
      // A call that is over before it began: the connection looks whether it is idle.
      connection.hold()();
    }
  }

  #unwatch(): void {
    for (const { file } of this.#layers.places) unwatchFile(file, this.#onFile);
    unwatchFile(this.#approvals.file, this.#onApprovals);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#signIns.stop();
    clearTimeout(this.#rebuildTimer);
    this.#unwatch();
    this.#primitives.stop();
    this.#uses.flush();
    await this.#artifacts.flush();
    this.#calls.dispose();
    await this.#pool.stop();
    await killMarked(this.#journal.run);
    this.#journal.close();
    await this.#diagnostics.close();
  }

  /** Approves what was shown, by its hash: a server that has changed since is not what the person has seen. */
  approve(hashes: readonly string[]): void {
    this.#approvals.approve(this.#options.workspace, hashes);
    this.#pool.recheck();
  }

  /** Somebody may have given what a server waits for. */
  recheck(): void {
    this.#pool.recheck();
    void this.#recheckSignIns();
  }

  /** Reads the configuration again and lists every server's tools again; resolves when all have answered or failed. */
  async refresh(): Promise<void> {
    this.reload();
    await this.#pool.refresh();
    this.#rebuild();
  }

  /** Resolves when no call is in flight and no task of a client's ends with this worker, or when that takes too long. */
  async drained(): Promise<void> {
    const deadline = performance.now() + (Number(process.env.WAYGATE_DRAIN_MS) || DRAIN_MS);
    const isBusy = (): boolean => this.#inFlight > 0 || this.#tasksAtStake() > 0;
    while (isBusy() && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  }

  get health(): GatewayHealth {
    const states = this.#serverStatuses().map((server) => server.state);
    if (this.#config.problems.some((problem) => problem.severity === 'error')) return 'degraded';
    if (this.#gate.flaw !== undefined && !states.includes('starting')) return 'degraded';
    if (states.some((state) => NEEDS_THE_PERSON.has(state))) return 'degraded';
    return states.includes('starting') ? 'starting' : 'ready';
  }

  healthReport(): HealthReport {
    const problems = this.#config.problems.filter(({ severity }) => severity === 'error');
    return this.#diagnostics.health(
      this.health,
      this.#serverStatuses(),
      problems.map(({ message }) => message),
    );
  }

  telemetryReport(): TelemetryReport {
    return this.#diagnostics.telemetry(this.health);
  }

  status(): Pick<GatewaySnapshot, 'workspace' | 'configuration' | 'servers' | 'catalog' | 'recentCalls'> {
    // Whoever is told that a server is ready finds its tools in the catalog.
    if (this.#rebuildTimer) this.#rebuild();
    const { file, exists, files } = this.#config;
    const problems = [...this.#config.problems, ...this.#startupProblem()];
    return {
      workspace: this.#options.workspace,
      configuration: { file, exists, files, problems },
      servers: this.#serverStatuses(),
      catalog: this.#view.status,
      recentCalls: this.#activity.recent,
    };
  }

  children(path: string): TreeChildren {
    return this.#view.children(path);
  }

  /** For a person who wants to know why a query brings what it brings. */
  explain(query: string, topK: number): RankExplanation {
    const history = this.#config.browse.learning ? { history: this.#uses.history } : {};
    return explainRanking(this.#view.index, query, { topK, ...history });
  }

  catalogReport(): CatalogReport {
    const primitives = this.#primitives.ports;
    return catalogReport(this.#view, advertisedTools({ primitives }), primitives.view().catalog.findings);
  }

  get learned(): readonly LearnedUse[] {
    return this.#uses.history.entries;
  }

  forget(toolId: string | undefined): void {
    this.#uses.forget(toolId);
  }

  readonly #onFile = (): void => this.reload();

  readonly #onApprovals = (): void => this.#pool.recheck();

  #apply(): void {
    const { servers, broken } = this.#config;
    this.#snapshots.keepOnly([...servers, ...broken].map(({ name }) => name));
    this.#pool.apply(servers.filter((server) => !server.disabled));
  }

  async #recheckSignIns(): Promise<void> {
    for (const connection of this.#pool.connections) {
      if (connection.state === 'needs_sign_in' && (await this.#signIns.mayTry(connection.config)))
        void connection.start();
    }
  }

  /** A broken file leaves its last good content in force; its problem is told all the same. */
  reload(): void {
    this.#config = this.#layers.load();
    this.#configureCalls();
    this.#firewall = this.#newFirewall();
    this.#logProblems();
    this.#apply();
    this.#onServersChanged();
  }

  /** A wrong block leaves the last good ones in force; where it is wrong is told with the file's other problems. */
  #configureCalls(): void {
    const { settings, problems } = this.#callSettings.read(this.#config);
    this.#calls.configure(settings);
    this.#callsConfig = settings;
    this.#config = { ...this.#config, problems: [...this.#config.problems, ...problems] };
  }

  #newFirewall(): Firewall {
    const { shownChars, maskSecrets, maskOnDisk } = this.#config.artifacts;
    return new Firewall({ store: this.#artifacts, shownChars, maskForModel: maskSecrets, maskOnDisk });
  }

  #logProblems(): void {
    for (const { severity, message, location } of this.#config.problems) {
      this.#options.log(`${severity}: ${location.file}:${location.line}:${location.column}: ${message}`);
    }
  }

  #onServersChanged(): void {
    this.#diagnostics.serversChanged(this.#pool.connections.map(watchedServer));
    this.#options.onChange();
    this.#rebuildTimer ??= setTimeout(() => this.#rebuild(), REBUILD_DELAY_MS);
  }

  /** Waits for those that have never been listed: starting is not absent. */
  async #settled(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const unknown = this.#pool.connections.filter(({ state, isKnown }) => state === 'starting' && !isKnown);
    if (unknown.length > 0) {
      const started = Promise.all(unknown.map((connection) => connection.start()));
      await waitAtMost(started, performance.now() + timeoutMs, signal);
    }
    if (this.#rebuildTimer) this.#rebuild();
  }

  /** One synchronous step: whoever asks sees the old catalog or the new one (000 §4.6). */
  #rebuild(): void {
    clearTimeout(this.#rebuildTimer);
    this.#rebuildTimer = undefined;
    const connections = this.#pool.connections;
    this.#primitives.rebuild(connections);
    // The tools alone: what else a server has changes without them.
    const listed = connections.flatMap(({ config, catalog }) => [config.name, catalog.tools, catalog.instructions]);
    const same = listed.length === this.#listed.length && listed.every((part, i) => part === this.#listed[i]);
    if (same) return;
    this.#listed = listed;
    try {
      this.#view = CatalogView.build(connections.map(listingOf), this.#view.revision + 1, rankResources());
      this.#calls.invalidate();
      for (const surface of this.#listing) surface.onCatalogChanged();
      this.#diagnostics.catalogChanged(this.#view);
    } catch (error) {
      // What a server lists must never end the worker: the last good catalog serves on.
      this.#diagnostics.catalogFailed(this.#view);
      this.#options.log(`the catalog could not be built anew: ${(error as Error).stack}`);
    }
    this.#options.onChange();
  }

  #startupView(): StartupView {
    // Whoever asks whether there is a tool is told of those that have just come.
    if (this.#rebuildTimer) this.#rebuild();
    const required = new Map(this.#config.servers.map((server) => [server.name, server.required ?? true]));
    const servers = this.#serverStatuses()
      .filter(({ state }) => state !== 'disabled')
      .map(({ name, state }) => ({ name, state, required: required.get(name) ?? true }));
    return { config: this.#config.startup, servers, toolCount: this.#view.status.toolCount };
  }

  #startupProblem(): ConfigurationProblem[] {
    const { flaw } = this.#gate;
    const isStarting = this.#serverStatuses().some(({ state }) => state === 'starting');
    if (flaw === undefined || isStarting) return [];
    return [{ severity: 'error', message: flaw, location: this.#config.startupAt }];
  }

  #serverStatuses(): ServerStatus[] {
    return serverStatuses({
      config: this.#config,
      view: this.#view,
      connection: (name) => this.#pool.get(name),
      missing: (name) => this.#links.missing(name),
    });
  }
}

function listingOf(connection: ServerConnection) {
  const { config } = connection;
  const { tools, instructions } = connection.catalog;
  return { server: config.name, tools, ...(instructions === undefined ? {} : { instructions }) };
}

/** For tests that kill a server more often than any crashes: `WAYGATE_RESTART_LIMITS` holds some of them as JSON. */
function restartLimits({ WAYGATE_RESTART_LIMITS: given }: NodeJS.ProcessEnv): RestartLimits {
  return { ...RESTART_LIMITS, ...(given ? (JSON.parse(given) as Partial<RestartLimits>) : {}) };
}
