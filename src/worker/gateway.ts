import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { CatalogTool } from '../catalog/types.ts';
import { type Approvals, approvable, approvalsOf } from '../config/approvals.ts';
import { FileSecrets } from '../config/fileSecrets.ts';
import type { BrokenServer, ServerConfig } from '../config/gatewayConfig.ts';
import { configFile, type LoadedConfig, loadConfig } from '../config/loadConfig.ts';
import { followReferences, type SecretSource } from '../config/secretReferences.ts';
import { rootOf } from '../config/stateFolder.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  CallRecord,
  CatalogReport,
  GatewayHealth,
  GatewaySnapshot,
  LearnedUse,
  ServerStatus,
  TreeChildren,
} from '../control/contract.ts';
import { CallPipeline } from '../dispatch/callPipeline.ts';
import { ArtifactStore } from '../firewall/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../firewall/firewall.ts';
import { scrubSecrets } from '../firewall/secrets.ts';
import { visibleText } from '../firewall/visibleText.ts';
import type { Face } from '../ops/face.ts';
import type { SessionSurface } from '../protocol/sessionServer.ts';
import type { RankExplanation } from '../routing/explain.ts';
import { explainRanking } from '../routing/rankIndex.ts';
import { catalogReport } from '../surface/catalogReport.ts';
import { CatalogView } from '../surface/catalogView.ts';
import { ClientRequests } from '../surface/clientRequests.ts';
import { gatewaySurface } from '../surface/gateway/gatewaySurface.ts';
import type { PassthroughContext } from '../surface/passthrough/passthroughContext.ts';
import { passthroughSurface } from '../surface/passthrough/passthroughSurface.ts';
import { transparentSurface } from '../surface/transparent/transparentSurface.ts';
import { CatalogSnapshots } from '../upstream/catalogSnapshots.ts';
import { ChildJournal } from '../upstream/childJournal.ts';
import { HttpLink } from '../upstream/httpLink.ts';
import { killMarked } from '../upstream/processTree.ts';
import type { ServerCatalog } from '../upstream/serverCatalog.ts';
import type { ConnectionServices, ServerConnection } from '../upstream/serverConnection.ts';
import { ServerPool } from '../upstream/serverPool.ts';
import { StaticLink } from '../upstream/staticLink.ts';
import { StdioLink } from '../upstream/stdioLink.ts';
import type { LinkEvents, UpstreamLink } from '../upstream/upstreamLink.ts';
import { Activity } from './activity.ts';
import { approvalFile } from './approvalFile.ts';
import { readCallSettings } from './callSettings.ts';
import { rankResources } from './rankResources.ts';
import { UseMemory } from './useMemory.ts';

export interface GatewayOptions {
  workspace: string;
  stateFolder: string;
  /** Reads the configuration, also again when `configurationFile` has changed. */
  load?: () => LoadedConfig;
  /** The workspace's, when absent. */
  configurationFile?: string;
  log(line: string): void;
  /** Something that a watcher shows has changed. */
  onChange(): void;
  /** Asks the person at an editor that watches. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict>;
}

/** These serve nothing until somebody does something. */
const NEEDS_THE_PERSON: ReadonlySet<ServerStatus['state']> = new Set(['failed', 'needs_sign_in', 'needs_approval']);
/** Several servers come up within a moment: one rebuild serves them all. */
const REBUILD_DELAY_MS = 30;
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
  readonly #options: GatewayOptions;
  readonly #journal: ChildJournal;
  readonly #pool: ServerPool;
  readonly #artifacts: ArtifactStore;
  readonly #activity = new Activity();
  readonly #uses: UseMemory;
  readonly #calls: CallPipeline<AdmittedResult>;
  readonly #clientRequests: ClientRequests;
  readonly #load: () => LoadedConfig;
  readonly #configurationFile: string;
  /** The surfaces that list tools. */
  readonly #listing: readonly { onCatalogChanged(): void }[];
  #firewall: Firewall;
  readonly #approvals: Approvals;
  readonly #secrets: SecretSource;
  readonly #snapshots: CatalogSnapshots;
  #config: LoadedConfig;
  #view = CatalogView.build([], 0);
  #listed: readonly ServerCatalog[] = [];
  #rebuildTimer: NodeJS.Timeout | undefined;
  #inFlight = 0;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#configurationFile = options.configurationFile ?? configFile(options.workspace);
    this.#load = options.load ?? (() => loadConfig(options.workspace, process.env));
    this.#config = this.#load();
    const { artifacts } = this.#config;
    this.#artifacts = new ArtifactStore({
      folder: join(options.stateFolder, 'artifacts'),
      maxBytes: artifacts.maxBytes,
      maxCount: artifacts.maxArtifacts,
      maxAgeMs: artifacts.ttlSeconds * 1_000,
    });
    this.#firewall = this.#newFirewall();
    this.#approvals = approvalsOf(rootOf(options.stateFolder));
    this.#secrets = new FileSecrets(rootOf(options.stateFolder), options.workspace);
    this.#journal = new ChildJournal(options.stateFolder);
    this.#uses = new UseMemory(options.stateFolder, options.log);
    this.#snapshots = new CatalogSnapshots(join(options.stateFolder, 'catalogs'), options.log);
    const services: ConnectionServices = {
      openLink: (config, events) => this.#openLink(config, events),
      isApproved: (config) => config.type === 'static' || this.#approvals.isApproved(options.workspace, config),
      snapshots: this.#snapshots,
      idleMs: () => this.#config.idleMinutes * 60_000,
      onConnection: (connection) => {
        this.#clientRequests.attach(connection);
        passthrough.attach(connection);
      },
    };
    this.#clientRequests = new ClientRequests({
      workspace: options.workspace,
      connections: () => this.#pool.connections,
      log: options.log,
    });
    this.#pool = new ServerPool(services, {
      onChange: () => this.#onServersChanged(),
      log: options.log,
      scrubSecrets,
    });
    this.#calls = new CallPipeline<AdmittedResult>({
      upstream: (server) => this.#pool.get(server),
      firewall: (result, { tool, provenance }) =>
        this.#firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName, provenance }),
      scrubSecrets,
      approval: { ask: ({ tool, args, reason }) => options.approve(approvalQuestion(tool, args, reason)) },
      approvalStore: approvalFile(options.stateFolder, options.log),
      log: options.log,
    });
    this.#configureCalls();
    const context = {
      calls: this.#calls,
      clientRequests: this.#clientRequests,
      settled: () => this.#settled(),
      view: () => this.#view,
      servers: () => this.#serverStatuses(),
      configuration: () => this.#config,
      browseConfig: () => this.#config.browse,
      useHistory: () => this.#uses.history,
      recordUse: (query: string, toolId: string) => {
        if (this.#config.browse.learning) this.#uses.record(query, toolId);
      },
      artifacts: this.#artifacts,
      onCallStart: () => {
        this.#inFlight += 1;
      },
      onCallEnd: (call: Omit<CallRecord, 'id'>) => {
        this.#inFlight -= 1;
        this.#activity.add(call);
        this.#options.onChange();
      },
    };
    const transparent = transparentSurface(context);
    const passthrough = passthroughSurface(this.#passthroughContext(context));
    this.#listing = [transparent, passthrough];
    this.faces = {
      gateway: this.#clientRequests.serve(gatewaySurface(context)),
      transparent: this.#clientRequests.serve(transparent),
      passthrough: this.#clientRequests.serve(passthrough),
    };
  }

  #passthroughContext(
    context: Omit<PassthroughContext, 'connections' | 'hasSeveralServers' | 'admit' | 'shownChars'>,
  ): PassthroughContext {
    const admit: ReturnType<PassthroughContext['admit']> = (result, { id: toolId, upstreamName }) =>
      this.#firewall.admit(result, { toolId, upstreamName });
    return {
      ...context,
      connections: () => this.#pool.connections,
      hasSeveralServers: () => {
        const { servers, broken } = this.#config;
        return servers.filter(({ disabled }) => !disabled).length + broken.length > 1;
      },
      admit: () => (this.#config.passthrough.firewall ? admit : undefined),
      shownChars: () => this.#config.artifacts.shownChars,
    };
  }

  start(): void {
    void this.#journal.orphansEnded.then((n) => {
      if (n > 0) this.#options.log(`ended ${n} servers that a killed worker had left`);
    });
    this.#logProblems();
    this.#calls.validator.warmUp();
    this.#apply();
    // From the first answer on every configured server has its place.
    this.#rebuild();
    watchFile(this.#configurationFile, { interval: CONFIG_POLL_MS, persistent: false }, () => this.#reload());
    // By the editor, the command line, or another window.
    watchFile(this.#approvals.file, { interval: CONFIG_POLL_MS, persistent: false }, this.#onApprovals);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#rebuildTimer);
    unwatchFile(this.#configurationFile);
    unwatchFile(this.#approvals.file, this.#onApprovals);
    this.#uses.flush();
    await this.#artifacts.flush();
    this.#calls.dispose();
    await this.#pool.stop();
    await killMarked(this.#journal.run);
    this.#journal.close();
  }

  /** Approves what was shown, by its hash: a server that has changed since is not what the person has seen. */
  approve(hashes: readonly string[]): void {
    this.#approvals.approve(this.#options.workspace, hashes);
    this.#pool.recheckApprovals();
  }

  /** Reads the configuration again and lists every server's tools again; resolves when all have answered or failed. */
  async refresh(): Promise<void> {
    this.#reload();
    await this.#pool.refresh();
    this.#rebuild();
  }

  /** Resolves when no call is in flight, or when that has taken too long. */
  async drained(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    while (this.#inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
  }

  get health(): GatewayHealth {
    const states = this.#serverStatuses().map((server) => server.state);
    if (this.#config.problems.some((problem) => problem.severity === 'error')) return 'degraded';
    if (states.some((state) => NEEDS_THE_PERSON.has(state))) return 'degraded';
    return states.includes('starting') ? 'starting' : 'ready';
  }

  status(): Pick<GatewaySnapshot, 'workspace' | 'configuration' | 'servers' | 'catalog' | 'recentCalls'> {
    // Whoever is told that a server is ready finds its tools in the catalog.
    if (this.#rebuildTimer) this.#rebuild();
    const { file, exists, problems } = this.#config;
    return {
      workspace: this.#options.workspace,
      configuration: { file, exists, problems },
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
    return catalogReport(this.#view);
  }

  get learned(): readonly LearnedUse[] {
    return this.#uses.history.entries;
  }

  forget(toolId: string | undefined): void {
    this.#uses.forget(toolId);
  }

  async #openLink(written: ServerConfig, events: LinkEvents): Promise<UpstreamLink> {
    if (written.type === 'static') return new StaticLink(written);
    const config = await followReferences(written, this.#secrets, this.#config.inputs);
    return config.type === 'stdio' ? new StdioLink(config, this.#journal, events) : new HttpLink(config, events);
  }

  readonly #onApprovals = (): void => this.#pool.recheckApprovals();

  #apply(): void {
    const { servers, broken } = this.#config;
    this.#snapshots.keepOnly([...servers, ...broken].map(({ name }) => name));
    this.#pool.apply(servers.filter((server) => !server.disabled));
  }

  /** A broken file leaves the last good one running; its problem is told all the same. */
  #reload(): void {
    const loaded = this.#load();
    this.#config = loaded.usable ? loaded : { ...this.#config, exists: loaded.exists, problems: loaded.problems };
    this.#configureCalls();
    this.#firewall = this.#newFirewall();
    this.#logProblems();
    this.#apply();
    this.#onServersChanged();
  }

  /** A wrong block leaves the last good ones in force; where it is wrong is told with the file's other problems. */
  #configureCalls(): void {
    const { settings, problem } = readCallSettings(this.#config.calls);
    if (settings) this.#calls.configure(settings);
    if (problem) this.#config = { ...this.#config, problems: [...this.#config.problems, problem] };
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
    this.#options.onChange();
    this.#rebuildTimer ??= setTimeout(() => this.#rebuild(), REBUILD_DELAY_MS);
  }

  /** One synchronous step: whoever asks sees the old catalog or the new one (000 §4.6). */
  #rebuild(): void {
    clearTimeout(this.#rebuildTimer);
    this.#rebuildTimer = undefined;
    const connections = this.#pool.connections;
    const listed = connections.map((connection) => connection.catalog);
    const same = listed.length === this.#listed.length && listed.every((catalog, i) => catalog === this.#listed[i]);
    if (same) return;
    this.#listed = listed;
    try {
      this.#view = CatalogView.build(connections.map(listingOf), this.#view.revision + 1, rankResources());
      this.#calls.invalidate();
      for (const surface of this.#listing) surface.onCatalogChanged();
    } catch (error) {
      // What a server lists must never end the worker: the last good catalog serves on.
      this.#options.log(`the catalog could not be built anew: ${(error as Error).stack}`);
    }
    this.#options.onChange();
  }

  /** Resolves when all servers have been listed once or cannot be, or after a while: the rest is told when it comes. */
  async #settled(): Promise<void> {
    const coming = this.#pool.connections.filter(({ isKnown, state }) => !isKnown && state === 'starting');
    if (coming.length > 0) {
      const late = new Promise((done) => setTimeout(done, SETTLE_MS).unref());
      await Promise.race([Promise.all(coming.map((connection) => connection.start())), late]);
    }
    if (this.#rebuildTimer) this.#rebuild();
  }

  #serverStatuses(): ServerStatus[] {
    return [
      ...this.#config.servers.map((config) => this.#statusOf(config, this.#pool.get(config.name))),
      ...this.#config.broken.map((server) => brokenStatus(server)),
    ];
  }

  #statusOf(config: ServerConfig, connection: ServerConnection | undefined): ServerStatus {
    const base = { name: config.name, location: config.location };
    if (!connection) {
      const state = config.disabled ? ('disabled' as const) : ('starting' as const);
      return { ...base, namespace: '', state, since: 0, toolCount: 0 };
    }
    return {
      ...base,
      namespace: this.#view.namespaceOf(config.name),
      state: connection.state,
      since: connection.since,
      toolCount: this.#view.toolCountOf(config.name),
      ...(connection.pid === undefined ? {} : { pid: connection.pid }),
      ...(connection.state === 'needs_approval' ? { approval: approvable(config) } : {}),
      ...(connection.reason === undefined ? {} : { reason: connection.reason }),
      stderr: connection.stderr,
    };
  }
}

const SHOWN_ARGS_CHARS = 600;

function approvalQuestion(tool: CatalogTool, args: object, reason: string): ApprovalQuestion {
  const shown = visibleText(scrubSecrets(JSON.stringify(args)));
  return {
    tool: visibleText(tool.upstreamName),
    toolId: tool.id,
    server: tool.server,
    reason: visibleText(reason),
    args: shown.length <= SHOWN_ARGS_CHARS ? shown : `${shown.slice(0, SHOWN_ARGS_CHARS - 1)}…`,
  };
}

function listingOf(connection: ServerConnection) {
  const { config } = connection;
  const { tools, instructions } = connection.catalog;
  return { server: config.name, tools, ...(instructions === undefined ? {} : { instructions }) };
}

function brokenStatus({ name, reason, location }: BrokenServer): ServerStatus {
  return { name, namespace: '', state: 'failed', since: 0, toolCount: 0, reason, location };
}
