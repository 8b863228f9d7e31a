import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { serveControl } from '../../control/channel.ts';
import type { GatewaySnapshot } from '../../control/contract.ts';
import { readLastWorker, updateLastWorker } from '../../host/attach/lastWorker.ts';
import { sweepLeftovers } from '../../host/attach/leftovers.ts';
import { BUILD, VERSION } from '../../lib/build.ts';
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
  /** It is prepared beside the worker that serves, and takes over when it is ready. */
  candidate?: boolean;
  /** What is served instead of the workspace's configuration. */
  load?: GatewayOptions['load'] | undefined;
  /** Whoever looks for a worker finds it from now on; what it is asked waits until its catalog is there. */
  onServing(): void;
  onEnd(): void;
  /** Descriptor of the log; stderr when absent. */
  logFd?: number;
}

/** A minute after the last attacher has gone the worker leaves: a window reload finds it still there. */
const LINGER_MS = 60_000;
/** Within this every host has heard that another worker serves. */
const HEARD_MS = 250;
/** How long a candidate waits for servers that have never been listed: it has all to be ready for, but not to hang. */
const PREPARE_MS = 5_000;

/** One worker's life: it listens, publishes itself, serves attachers, and steps down for whoever replaced it. */
export class WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #attachers: Attachers;
  readonly #gateway: Gateway;
  readonly #startedAt = Date.now();
  readonly #life: WorkerLife;
  readonly #sessions: WorkerSessions;
  readonly #place: WorkerPlace;
  readonly #watchers = new Watchers(
    () => this.#snapshot(),
    (watched) => this.#noteWatched(watched),
  );
  /** How many prepare a successor. */
  #successors = 0;
  #rollout: RolloutState = 'stable';
  #givesWay = false;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new WorkerLife(options.stateFolder);
    this.#place = new WorkerPlace(
      options.stateFolder,
      (successor) => this.#giveWay(successor),
      (line) => this.#log(line),
    );
    if (options.candidate) this.#rollout = 'reloading';
    this.#gateway = new Gateway({
      workspace: options.workspace,
      ...(options.configFile === undefined ? {} : { configFile: options.configFile }),
      stateFolder: options.stateFolder,
      life: () => ({ ...this.#life.report, rollout: this.#rolloutState }),
      ...(options.load === undefined ? {} : { load: options.load }),
      // A static catalog holds no rules to keep.
      ...(options.load ? {} : { lastGood: () => readLastWorker(options.stateFolder).configuration ?? {} }),
      keepTexts: (configuration) => options.load ?? updateLastWorker(options.stateFolder, () => ({ configuration })),
      log: (line) => this.#log(line),
      onChange: () => this.#watchers.announce(),
      approve: (question) => this.#watchers.approve(question),
      secret: (request) => this.#watchers.secret(request),
    });
    this.#sessions = new WorkerSessions(this.#gateway, () => this.#watchers.announce());
    this.#attachers = new Attachers({
      stateFolder: options.stateFolder,
      token: options.token,
      lingerMs: Number(process.env.WAYGATE_LINGER_MS) || LINGER_MS,
      onAttach: (socket, hello) => this.#onAttach(socket, hello),
      onDeserted: () => void this.stop('nobody has been attached for a while'),
    });
  }

  async start(): Promise<void> {
    const { token, stateFolder, candidate = false, workspace } = this.#options;
    await sweepLeftovers(stateFolder);
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
    this.#attachers.expect();
    this.#place.watch();
    this.#log(`worker ${process.pid} of build ${BUILD} serves ${workspace} (generation ${this.#life.generation})`);
    // Its host comes while the catalog is built.
    this.#options.onServing();
    if (!candidate) this.#gateway.start();
    this.#gateway.begin();
  }

  /** Everything but the name: what is wrong with it shows before anybody depends on it. */
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

  /** Those who are let go on the way out look at the next worker, which is to wait for them. */
  #noteWatched(watched: boolean): void {
    if (!this.#givesWay && !this.#stopping) this.#life.noteWatched(watched);
  }

  get #rolloutState(): RolloutState {
    return this.#rollout === 'stable' && this.#successors > 0 ? 'pending' : this.#rollout;
  }

  /** Leaves with everything it has started, within three seconds. */
  stop(reason: string): Promise<void> {
    this.#stopping ??= this.#stop(reason);
    return this.#stopping;
  }

  async #stop(reason: string): Promise<void> {
    this.#log(`worker ${process.pid} stops: ${reason}`);
    this.#watchers.stop();
    this.#place.leave();
    // Hosts answer what is open.
    this.#gateway.account.close();
    this.#attachers.close();
    await this.#gateway.stop();
    this.#options.onEnd();
  }

  /** Sessions go to the successor at once; what they have asked here is finished here, within a limit. */
  async #giveWay(successor: Rendezvous | undefined): Promise<void> {
    this.#rollout = 'reloading';
    this.#givesWay = true;
    this.#log(successor ? `worker ${successor.pid} takes over` : 'its file is gone');
    this.#attachers.refuseNew();
    this.#sessions.announceSuccessor();
    this.#gateway.supersede();
    // An editor looks at the successor from now on.
    this.#watchers.supersede();
    // What hosts have sent before they heard of it is served here: a closed socket would make it a lost call.
    await sleep(HEARD_MS);
    await this.#gateway.drained();
    this.#sessions.handBack();
    // What is withdrawn by that is told before nothing more can be.
    await nextTurn();
    if (!this.#stopping) await this.#attachers.finish();
    await this.stop(successor ? `worker ${successor.pid} has taken over` : 'its file is gone');
  }

  #onAttach(socket: Socket, hello: Hello): void {
    if (hello.kind === 'session') this.#sessions.serve(socket, hello);
    else this.#serveControl(socket);
  }

  #serveControl(socket: Socket): void {
    const requests = controlRequests(this.#gateway, {
      session: socket,
      snapshot: () => this.#snapshot(),
      refresh: () => this.#gateway.refresh(),
      watch: () => {
        this.#watchers.add(control);
        // An editor may bring the secrets that it keeps.
        this.#gateway.servers.recheck();
        return this.#snapshot();
      },
      rollout: () => {
        this.#successors += 1;
        control.onClose(() => {
          this.#successors -= 1;
          void this.#place.look();
        });
        return { pending: true };
      },
      stop: () => {
        // What is sent next leaves behind the answer: once it has left, so has the answer.
        setImmediate(() => void control.notify(this.#snapshot()).then(() => this.#stopAsAsked()));
        return { stopped: true };
      },
    });
    const control = serveControl(socket, requests);
  }

  #stopAsAsked(): Promise<void> {
    this.#sessions.announceStop();
    return this.stop('asked to');
  }

  #snapshot(): GatewaySnapshot {
    const now = Date.now();
    const status = this.#gateway.reports.status();
    return {
      ...status,
      health: this.#stopping ? 'stopping' : status.health,
      worker: {
        pid: process.pid,
        version: VERSION,
        build: BUILD,
        startedAt: this.#startedAt,
        uptimeMs: now - this.#startedAt,
      },
      sessions: this.#sessions.statuses,
    };
  }

  #log(line: string): void {
    writeLog(`${new Date().toISOString()} ${line}`, this.#options.logFd);
  }
}
