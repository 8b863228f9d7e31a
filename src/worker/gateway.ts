import { join } from 'node:path';
import type { KeptTexts } from '../config/configLayers.ts';
import type { ConfigPlace, LoadedConfig } from '../config/loadConfig.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  LearnedUse,
  SecretAnswer,
  SecretRequest,
  TreeChildren,
} from '../control/contract.ts';
import type { KeptCounts } from '../control/healthContract.ts';
import { CallPipeline } from '../dispatch/callPipeline.ts';
import { replayFor } from '../dispatch/layeredConfig.ts';
import { ArtifactStore } from '../firewall/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../firewall/firewall.ts';
import { scrubSecrets } from '../firewall/secrets.ts';
import { BUILD } from '../ops/build.ts';
import type { Face } from '../ops/face.ts';
import type { LostCall } from '../ops/lostCall.ts';
import type { ToldFault } from '../ops/telemetry.ts';
import type { SessionRequest } from '../protocol/sessionRequest.ts';
import type { SessionSurface } from '../protocol/sessionSurface.ts';
import { ClientRequests } from '../surface/clientRequests.ts';
import { systemResources } from '../surface/systemResources.ts';
import { Activity } from './activity.ts';
import { approvalFile } from './approvalFile.ts';
import { approvalQuestion } from './approvalQuestion.ts';
import { Configuration } from './configuration.ts';
import { ConfigurationWatch } from './configurationWatch.ts';
import { Diagnostics, type SupervisedLife } from './diagnostics.ts';
import { Faces } from './faces.ts';
import { GatewayReports } from './gatewayReports.ts';
import { GatewayServers } from './gatewayServers.ts';
import type { Handover } from './handover.ts';
import { LiveCatalog } from './liveCatalog.ts';
import { lostRequest, lostToolCall } from './lostCalls.ts';
import { Primitives } from './primitives.ts';
import { rankResources } from './rankResources.ts';
import { watchedServer } from './serverStatuses.ts';
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
  /** What the worker before has told. */
  handover?: Handover;
  /** What the last one had in force, where nobody has told anything. */
  lastGood?: () => KeptTexts;
  /** Has another worker take over that runs by what is written now; rejects with why not. */
  rollOut(handover: Handover): Promise<unknown>;
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

/** The gateway of one workspace: configuration, servers, catalog and the surface that clients see. */
export class Gateway {
  readonly configuration: Configuration;
  readonly reports: GatewayReports;
  readonly servers: GatewayServers;
  readonly #options: GatewayOptions;
  readonly #artifacts: ArtifactStore;
  readonly #activity = new Activity();
  readonly #diagnostics: Diagnostics;
  readonly #uses: UseMemory;
  readonly #calls: CallPipeline<AdmittedResult>;
  readonly #clientRequests: ClientRequests;
  readonly #faces: Faces;
  readonly #firewall: Firewall;
  readonly #watch: ConfigurationWatch;
  readonly #catalog: LiveCatalog;
  readonly #primitives: Primitives;
  #inFlight = 0;
  #superseded = false;
  #stopping = false;
  #problemsLogged = '';

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { workspace, stateFolder } = options;
    const life = options.life === undefined ? {} : { life: options.life };
    this.#diagnostics = new Diagnostics({ workspace, stateFolder, scrubSecrets, ...life });
    this.configuration = new Configuration(options);
    const { artifacts } = this.configuration.current;
    this.#artifacts = new ArtifactStore({
      folder: join(options.stateFolder, 'artifacts'),
      maxBytes: artifacts.maxBytes,
      maxCount: artifacts.maxArtifacts,
      maxAgeMs: artifacts.ttlSeconds * 1_000,
    });
    this.#firewall = new Firewall({
      store: this.#artifacts,
      shownChars: artifacts.shownChars,
      maskForModel: artifacts.maskSecrets,
      maskOnDisk: artifacts.maskOnDisk,
    });
    this.#uses = new UseMemory(options.stateFolder, options.log);
    this.#clientRequests = new ClientRequests({
      workspace: options.workspace,
      connections: () => this.servers.pool.connections,
      log: options.log,
    });
    this.servers = new GatewayServers({
      workspace,
      stateFolder,
      configuration: this.configuration,
      handover: options.handover,
      secret: options.secret,
      onChange: () => this.#onServersChanged(),
      onConnection: (connection) => {
        this.#primitives.attach(connection);
        this.#clientRequests.attach(connection);
        this.#faces.attach(connection);
      },
      log: options.log,
      scrubSecrets,
    });
    const { pool, links } = this.servers;
    this.#calls = new CallPipeline<AdmittedResult>(
      {
        upstream: (server) => pool.get(server),
        firewall: (result, { tool, provenance }) => {
          this.#primitives.links.note(tool.server, result);
          return this.#firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName, provenance });
        },
        scrubSecrets,
        approval: { ask: ({ tool, args, reason }) => options.approve(approvalQuestion(tool, args, reason)) },
        approvalStore: approvalFile(options.stateFolder, options.log),
        log: options.log,
      },
      this.configuration.calls,
    );
    this.#primitives = new Primitives({
      upstream: (server) => pool.get(server),
      firewall: (result, { id, name }) => this.#firewall.admit(result, { toolId: id, upstreamName: name }),
      authorize: (call) => this.#calls.authorizeView(call),
      scrubSecrets,
      clientRequests: this.#clientRequests,
      settled: (timeoutMs, signal) => this.#catalog.settled(timeoutMs, signal),
      own: systemResources({ health: () => this.reports.health(), telemetry: () => this.reports.telemetry() }),
      ranking: rankResources,
      onListsChanged: (kind) => this.#faces.onListsChanged(kind),
      log: options.log,
    });
    this.#catalog = new LiveCatalog({
      connections: () => pool.connections,
      primitives: () => this.#primitives,
      onChanged: (view) => {
        this.#calls.invalidate();
        this.#faces.onCatalogChanged();
        this.#diagnostics.catalogChanged(view);
      },
      onFailed: (view, error) => {
        this.#diagnostics.catalogFailed(view);
        options.log(`the catalog could not be built anew: ${error.stack}`);
      },
      onRebuilt: () => options.onChange(),
    });
    this.reports = new GatewayReports({
      workspace,
      config: () => this.configuration.current,
      connection: (name) => pool.get(name),
      links,
      catalog: this.#catalog,
      primitives: this.#primitives,
      activity: this.#activity,
      diagnostics: this.#diagnostics,
      uses: this.#uses,
    });
    this.#faces = new Faces({
      workspace: options.workspace,
      config: () => this.configuration.current,
      connections: () => pool.connections,
      catalog: this.#catalog,
      primitives: this.#primitives,
      reports: this.reports,
      calls: this.#calls,
      contractOf: (tool) => replayFor(this.configuration.calls, tool).contract,
      clientRequests: this.#clientRequests,
      firewall: this.#firewall,
      artifacts: this.#artifacts,
      uses: this.#uses,
      sessionsMoveOn: () => this.#superseded || this.#stopping,
      onCallStart: () => {
        this.#inFlight += 1;
      },
      onCallEnd: (call, event) => {
        this.#inFlight -= 1;
        this.#activity.add(call);
        this.#diagnostics.callEnded(call, event);
        options.onChange();
      },
    });
    this.#watch = new ConfigurationWatch({
      files: this.configuration.files,
      look: () => this.configuration.look(),
      onLooked: () => this.#onLooked(),
      rollOut: () => this.#rollOut(),
      onRefused: (reason) => this.#onRefused(reason),
    });
  }

  /** For telemetry. */
  sessionAnswered(request: SessionRequest): void {
    this.#diagnostics.sessionAnswered(request);
  }

  /** The worker before this one ended by that. */
  followsLoss(fault: ToldFault): void {
    this.#diagnostics.workerLost(fault);
  }

  /** What hosts have answered because there was no worker. */
  lost(calls: readonly LostCall[], client: string): void {
    const { catalog } = this.#catalog.view;
    for (const call of calls) {
      if (call.tool === undefined) this.#diagnostics.sessionAnswered(lostRequest(call));
      else {
        const { record, event } = lostToolCall(call, client, (id) => catalog.byId.get(id));
        this.#activity.add(record);
        this.#diagnostics.callEnded(record, event);
      }
    }
    this.#options.onChange();
  }

  /** What was counted and noted so far; it is the successor's from now on. */
  takeCounts(): KeptCounts {
    return { build: BUILD, telemetry: this.#diagnostics.takeCounts(), recentCalls: this.#activity.take() };
  }

  inherit({ build, telemetry, recentCalls }: KeptCounts): { inherited: boolean } {
    if (build !== BUILD) return { inherited: false };
    this.#diagnostics.inherit(telemetry);
    this.#activity.inherit(recentCalls);
    this.#options.onChange();
    return { inherited: true };
  }

  get faces(): Readonly<Record<Face, SessionSurface>> {
    return this.#faces.all;
  }

  start(): void {
    this.#diagnostics.started();
    this.#logProblems();
    // Not before the first browse: that needs none of it.
    setTimeout(() => this.#calls.validator.warmUp(), WARM_UP_AFTER_MS).unref();
    this.servers.start();
    // From the first answer on every configured server has its place.
    this.#catalog.rebuild();
  }

  /** It is found from now on, so that it is its turn to see to changes. `after` another worker that serves until now. */
  begin({ after }: { after: boolean }): void {
    this.servers.begin();
    this.#watch.start(after);
  }

  /** Resolves when every server's tools are known, or have been waited for long enough. */
  async prepared(timeoutMs: number): Promise<void> {
    await this.#catalog.settled(timeoutMs, new AbortController().signal);
  }

  /** Another worker serves from now on. */
  supersede(): void {
    this.#superseded = true;
    this.#watch.stop();
    this.#uses.flush();
    this.servers.supersede();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#watch.stop();
    this.servers.close();
    this.#catalog.stop();
    this.#primitives.stop();
    this.#uses.flush();
    await this.#artifacts.flush();
    this.#calls.dispose();
    await this.servers.stop();
    await this.#diagnostics.close();
  }

  /** Lists every server's tools again, and has a changed configuration take effect; resolves when both are done. */
  async refresh(): Promise<void> {
    await this.servers.pool.refresh();
    this.#catalog.rebuild();
    await this.#watch.look();
  }

  /** Resolves when no call is in flight and no task of a client's ends with this worker, or when that takes too long. */
  async drained(): Promise<void> {
    const deadline = performance.now() + (Number(process.env.WAYGATE_DRAIN_MS) || DRAIN_MS);
    const isBusy = (): boolean => this.#inFlight > 0 || this.#faces.tasksAtStake > 0;
    while (isBusy() && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
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

  /** Where things stand in the files, and what is wrong there, may have changed. */
  #onLooked(): void {
    this.#logProblems();
    this.#options.onChange();
  }

  async #rollOut(): Promise<void> {
    this.#options.log('the configuration has changed: another worker is prepared');
    await this.#options.rollOut(this.configuration.handover);
  }

  #onRefused(reason: string): void {
    this.configuration.refuse(reason);
    this.#options.log(`the changed configuration is not in force: ${reason}`);
    this.#diagnostics.rolloutFailed(reason);
    this.#options.onChange();
  }

  #logProblems(): void {
    const lines = this.configuration.problemLines;
    // They are the same at most looks.
    if (lines.join() === this.#problemsLogged) return;
    this.#problemsLogged = lines.join();
    for (const line of lines) this.#options.log(line);
  }

  #onServersChanged(): void {
    this.#diagnostics.serversChanged(this.servers.pool.connections.map(watchedServer));
    this.#options.onChange();
    this.#catalog.touch();
  }
}
