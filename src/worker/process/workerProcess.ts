import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { serveControl } from '../../control/channel.ts';
import type { GatewaySnapshot } from '../../control/contract.ts';
import { readLastWorker, updateLastWorker } from '../../host/attach/lastWorker.ts';
import { sweepLeftovers } from '../../host/attach/leftovers.ts';
import { BUILD, VERSION } from '../../lib/build.ts';
import { AFTER_FIRST_ANSWERS_MS } from '../../lib/firstAnswers.ts';
import { IdleCollection } from '../../lib/idleCollection.ts';
import type { Hello } from '../../link/linkHandshake.ts';
import { LINK_VERSION, type Rendezvous } from '../../link/rendezvous.ts';
import type { RolloutState } from '../../supervision/health.ts';
import { processStart } from '../../upstream/process/processStart.ts';
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts';
import { Attachers } from './attachers.ts';
import { controlRequests } from './controlRequests.ts';
import { Watchers } from './watchers.ts';
import { WorkerLife } from './workerLife.ts';
import { writeLog } from './workerLog.ts';
import { WorkerPlace } from './workerPlace.ts';
import { WorkerSessions } from './workerSessions.ts';

export interface WorkerOptions {
  workspace: string;
  configFile?: string;
  stateFolder: string;
  token: string;
  /** True for a worker that prepares itself beside the serving one and takes over when it is ready. */
  candidate?: boolean;
  /** False if no session of a client follows the start. */
  awaitsSession?: boolean;
  /** Replaces the workspace's configuration. */
  load?: GatewayOptions['load'] | undefined;
  /** Called once hosts can find the worker. Their requests wait for the catalog. */
  onServing(): void;
  onEnd(): void;
  /** Descriptor of the log; stderr when absent. */
  logFd?: number;
}

/** Time without attached clients before the worker leaves, so that it survives the reload of a window. */
const LINGER_MS = 60_000;
/** Time for hosts to learn that another worker serves. */
const ANNOUNCE_MS = 250;
/**
 * Time limit of a candidate for servers that were never listed. It should be complete when it takes over, but must not
 * hang.
 */
const PREPARE_MS = 5_000;

/** Life of one worker: listens, publishes itself, serves clients, and gives way to a successor. */
export class WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #attachers: Attachers;
  readonly #gateway: Gateway;
  readonly #startedAt = Date.now();
  readonly #garbage = new IdleCollection();
  readonly #life: WorkerLife;
  readonly #sessions: WorkerSessions;
  readonly #place: WorkerPlace;
  readonly #watchers = new Watchers(
    () => this.#snapshot(),
    (watched) => this.#noteWatched(watched),
  );
  /** Number of control connections that prepare a successor. */
  #successors = 0;
  #rollout: RolloutState = 'stable';
  #handingOver = false;
  #settling: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  #hasEnded = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new WorkerLife(options.stateFolder);
    this.#place = new WorkerPlace(
      options.stateFolder,
      (successor) => this.#handOver(successor),
      (line) => this.#log(line),
    );
    if (options.candidate) this.#rollout = 'reloading';
    this.#gateway = new Gateway({
      workspace: options.workspace,
      ...(options.configFile === undefined ? {} : { configFile: options.configFile }),
      stateFolder: options.stateFolder,
      awaitsSession: options.awaitsSession ?? true,
      life: () => ({ ...this.#life.report, rollout: this.#rolloutState }),
      ...(options.load === undefined ? {} : { load: options.load }),
      // A static catalog has no rules to keep.
      ...(options.load ? {} : { lastGood: () => readLastWorker(options.stateFolder).configuration ?? {} }),
      keepTexts: (configuration) => {
        const lost = ({ message }: Error): void =>
          this.#log(`the next worker will not know the last readable configuration: ${message}`);
        if (!options.load) updateLastWorker(options.stateFolder, () => ({ configuration }), lost);
      },
      log: (line) => this.#log(line),
      onChange: () => {
        this.#garbage.work();
        this.#watchers.announce();
      },
      onCall: (call) => this.#watchers.announceCall(call),
      approve: (question, gone) => this.#watchers.approve(question, gone),
      offer: (question, gone, answer) => this.#watchers.offer(question, gone, answer),
      hasEditor: () => this.#watchers.isWatched,
      secret: (request) => this.#watchers.secret(request),
    });
    this.#sessions = new WorkerSessions(this.#gateway, () => this.#watchers.announce());
    this.#attachers = new Attachers({
      stateFolder: options.stateFolder,
      token: options.token,
      lingerMs: Number(process.env.WAYGATE_LINGER_MS) || LINGER_MS,
      onAttach: (socket, hello) => this.#onAttach(socket, hello),
      onUnattended: () => void this.stop('no client has been attached for a while'),
    });
  }

  async start(): Promise<void> {
    const { token, candidate = false, workspace } = this.#options;
    const socket = await this.#attachers.listen();
    const started = process.platform === 'win32' ? undefined : await processStart(process.pid);
    const rendezvous = {
      link: LINK_VERSION,
      pid: process.pid,
      socket,
      token,
      version: VERSION,
      build: BUILD,
      startedAt: this.#startedAt,
      ...(started === undefined ? {} : { processStart: started }),
    };
    if (candidate) await this.#prepare();
    await this.#publish(rendezvous);
    this.#attachers.expectClients();
    this.#place.watch();
    this.#log(`worker ${process.pid} of build ${BUILD} serves ${workspace} (generation ${this.#life.generation})`);
    // The host connects while the catalog is built.
    this.#options.onServing();
    if (candidate) this.#gateway.begin({ succeeds: true });
    else {
      this.#gateway.start();
      this.#gateway.keepConfiguration();
    }
    this.#settling = setTimeout(() => this.#settle(), AFTER_FIRST_ANSWERS_MS).unref();
  }

  /** Does what no client waits for: follows edits of the configuration, and removes what dead workers left. */
  #settle(): void {
    if (!this.#options.candidate) this.#gateway.begin({ succeeds: false });
    sweepLeftovers(this.#options.stateFolder).catch(({ message }: Error) => this.#log(`leftovers remain: ${message}`));
  }

  /** Starts the gateway before publishing it, so that errors appear while the predecessor still serves. */
  async #prepare(): Promise<void> {
    try {
      this.#gateway.start();
      await this.#gateway.prepared(PREPARE_MS);
    } catch (error) {
      this.#attachers.close();
      await this.#gateway.stop();
      throw error;
    }
  }

  async #publish(rendezvous: Rendezvous): Promise<void> {
    const { candidate = false } = this.#options;
    try {
      const succession = await this.#place.take(rendezvous, candidate);
      this.#life.begin(succession);
      const { last_fault } = this.#life.report;
      if (succession.kind === 'loss' && last_fault) this.#gateway.diagnostics.workerLost(last_fault);
    } catch (error) {
      this.#attachers.close();
      if (candidate) await this.#gateway.stop();
      throw error;
    }
    if (this.#life.watched) this.#watchers.expectReturn();
    this.#rollout = 'stable';
  }

  /**
   * Records whether an editor watches. Watchers that leave during a handover watch the next worker, which waits for
   * them, so the record stays.
   */
  #noteWatched(watched: boolean): void {
    if (!this.#handingOver && !this.#stopping) this.#life.noteWatched(watched);
  }

  get #rolloutState(): RolloutState {
    return this.#rollout === 'stable' && this.#successors > 0 ? 'pending' : this.#rollout;
  }

  /** Stops the worker and everything that it started, within three seconds. */
  stop(reason: string): Promise<void> {
    this.#stopping ??= this.#stop(reason);
    return this.#stopping;
  }

  async #stop(reason: string): Promise<void> {
    this.#log(`worker ${process.pid} stops: ${reason}`);
    clearTimeout(this.#settling);
    this.#watchers.stop();
    this.#place.leave();
    // Hosts answer calls that are still open.
    this.#gateway.account.close();
    this.#attachers.close();
    await this.#gateway.stop();
    this.#hasEnded = true;
    this.#options.onEnd();
  }

  /** Sends sessions to the successor at once; their running calls finish here within a time limit. */
  async #handOver(successor: Rendezvous | undefined): Promise<void> {
    this.#rollout = 'reloading';
    this.#handingOver = true;
    this.#log(successor ? `worker ${successor.pid} takes over` : 'its rendezvous file is gone');
    clearTimeout(this.#settling);
    this.#attachers.refuseNew();
    this.#sessions.announceSuccessor();
    this.#gateway.supersede();
    // Editors watch the successor from now on.
    this.#watchers.supersede();
    // Serves requests that hosts sent before they learned of the successor; a closed socket would turn them into lost
    // calls.
    await sleep(ANNOUNCE_MS);
    await this.#gateway.drained();
    this.#sessions.handBack();
    // Reports of withdrawn requests leave before the sockets close.
    await nextTurn();
    if (!this.#stopping) await this.#attachers.finish();
    await this.stop(successor ? `worker ${successor.pid} has taken over` : 'its rendezvous file is gone');
  }

  #onAttach(socket: Socket, hello: Hello): void {
    if (hello.kind === 'session') this.#sessions.serve(socket, hello);
    else this.#serveControl(socket);
  }

  #serveControl(socket: Socket): void {
    const requests = controlRequests(this.#gateway, {
      session: socket,
      snapshot: () => this.#snapshot(),
      refreshed: (news) => {
        if (!this.#watchers.refreshed(news, control)) control.refreshed(news);
      },
      watch: () => {
        this.#watchers.add(control);
        // An editor may bring the secrets that it stores.
        this.#gateway.servers.recheck();
        return this.#snapshot();
      },
      rollout: () => {
        this.#successors += 1;
        control.onClose(() => {
          this.#successors -= 1;
          void this.#place.check();
        });
        return { pending: true };
      },
      stop: () => {
        // A message that follows the answer: once it is written, so is the answer.
        setImmediate(() => void control.notify(this.#snapshot()).then(() => this.#stopAsAsked()));
        return { stopped: true };
      },
    });
    const control = serveControl(socket, requests);
  }

  #stopAsAsked(): Promise<void> {
    this.#sessions.announceStop();
    return this.stop('by request');
  }

  #snapshot(): GatewaySnapshot {
    const status = this.#gateway.reports.status();
    return {
      ...status,
      health: this.#stopping ? 'stopping' : status.health,
      worker: {
        pid: process.pid,
        version: VERSION,
        build: BUILD,
        startedAt: this.#startedAt,
        // Uptime of the process, because the system's clock may be set back.
        uptimeMs: Math.round(performance.now()),
      },
      sessions: this.#sessions.statuses,
    };
  }

  #log(line: string): void {
    // The descriptor of the log may be closed by now, and its number belong to a socket.
    if (this.#hasEnded) return;
    // Servers choose some of the words, and a line of theirs must not look like one of the worker.
    writeLog(`${new Date().toISOString()} ${line.replace(/[\r\n]+/g, ' ')}`, this.#options.logFd);
  }
}
