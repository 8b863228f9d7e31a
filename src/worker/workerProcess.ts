import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { unwritable } from '../config/stateFolder.ts';
import { type ControlServer, serveControl } from '../control/channel.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlRequests,
  GatewaySnapshot,
  SecretAnswer,
  SecretRequest,
  SessionStatus,
} from '../control/contract.ts';
import type { RolloutState } from '../control/healthContract.ts';
import { sweepLeftovers } from '../host/leftovers.ts';
import { isAlive } from '../host/startLock.ts';
import { BUILD, VERSION } from '../ops/build.ts';
import { DEFAULT_FACE } from '../ops/face.ts';
import type { Hello } from '../protocol/linkHandshake.ts';
import { connectLocal } from '../protocol/localSocket.ts';
import {
  LINK_VERSION,
  publishRendezvous,
  type Rendezvous,
  readRendezvous,
  withdrawRendezvous,
} from '../protocol/rendezvous.ts';
import { type SessionServer, serveSession } from '../protocol/sessionServer.ts';
import { processStart } from '../upstream/processStart.ts';
import { Attachers } from './attachers.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { type Succession, WorkerLife } from './workerLife.ts';
import { writeLog } from './workerLog.ts';

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
}

/** A minute after the last attacher has gone the worker leaves: a window reload finds it still there. */
const LINGER_MS = 60_000;
/** Within this every host has heard that another worker serves. */
const HEARD_MS = 250;
/** How often a worker looks whether it is still the one that the rendezvous names. */
const OWNERSHIP_CHECK_MS = 1_000;
/** Watchers need no more than this many snapshots: a page that shows them is drawn once a second. */
const SNAPSHOT_INTERVAL_MS = 250;
/** How long a candidate waits for servers that have never been listed: it has all to be ready for, but not to hang. */
const PREPARE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 1_000;

/** One worker's life: it listens, publishes itself, serves attachers, and steps down for whoever replaced it. */
export class WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #attachers: Attachers;
  readonly #gateway: Gateway;
  readonly #startedAt = Date.now();
  readonly #life: WorkerLife;
  readonly #sessions = new Map<SessionServer, { id: string; since: number }>();
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  /** Editors that are being asked something: their line stays until they have answered. */
  #asking = 0;
  /** How many prepare a successor. */
  #successors = 0;
  #rollout: RolloutState = 'stable';
  #givesWay = false;
  #rendezvous: Rendezvous | undefined;
  #checking = false;
  #ownershipTimer: NodeJS.Timeout | undefined;
  #snapshotTimer: NodeJS.Timeout | undefined;
  #nextSession = 1;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new WorkerLife(options.stateFolder);
    if (options.candidate) this.#rollout = 'reloading';
    this.#gateway = new Gateway({
      workspace: options.workspace,
      ...(options.configFile === undefined ? {} : { configFile: options.configFile }),
      stateFolder: options.stateFolder,
      life: () => ({ ...this.#life.report, rollout: this.#rolloutState }),
      ...(options.load === undefined ? {} : { load: options.load }),
      log: (line) => this.#log(line),
      onChange: () => this.#announce(),
      approve: (question) => this.#approve(question),
      secret: (request) => this.#whileAsking(() => this.#secret(request)),
    });
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
    this.#rendezvous = {
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
    await this.#publish(this.#rendezvous);
    this.#attachers.expect();
    this.#ownershipTimer = setInterval(() => void this.#checkOwnership(), OWNERSHIP_CHECK_MS);
    this.#log(`worker ${process.pid} of build ${BUILD} serves ${workspace} (generation ${this.#life.generation})`);
    // Its host comes while the catalog is built.
    this.#options.onServing();
    if (!candidate) this.#gateway.start();
  }

  /** Everything but the name: what is wrong with it shows before anybody depends on it. */
  async #prepare(): Promise<void> {
    try {
      if (this.#gateway.flaw !== undefined) throw new Error(this.#gateway.flaw);
      this.#gateway.start();
      await this.#gateway.prepared(PREPARE_MS);
    } catch (error) {
      this.#attachers.close();
      await this.#gateway.stop();
      throw error;
    }
  }

  async #publish(rendezvous: Rendezvous): Promise<void> {
    const { stateFolder } = this.#options;
    const previous = readRendezvous(stateFolder);
    const succession = await this.#succession(previous);
    // A worker that was killed could not take its socket away.
    if (previous?.socket.endsWith('.sock') && !isAlive(previous.pid)) rmSync(previous.socket, { force: true });
    try {
      publishRendezvous(stateFolder, rendezvous);
    } catch (error) {
      this.#attachers.close();
      if (this.#options.candidate) await this.#gateway.stop();
      throw unwritable(stateFolder, error);
    }
    this.#life.begin(succession);
    this.#rollout = 'stable';
  }

  async #succession(previous: Rendezvous | undefined): Promise<Succession> {
    if (!previous) return { kind: 'first' };
    const lives = await runs(previous);
    if (this.#options.candidate && lives) return { kind: 'rollout' };
    return { kind: 'loss', of: previous, hangs: lives };
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
    clearInterval(this.#ownershipTimer);
    clearTimeout(this.#snapshotTimer);
    withdrawRendezvous(this.#options.stateFolder, this.#options.token);
    this.#attachers.close();
    await this.#gateway.stop();
    this.#options.onEnd();
  }

  /** Two workers of one workspace must not last: the one that is no longer named gives way, where the other one serves. */
  async #checkOwnership(): Promise<void> {
    if (this.#checking || this.#stopping || this.#rollout === 'reloading') return;
    this.#checking = true;
    try {
      const { stateFolder, token } = this.#options;
      const named = readRendezvous(stateFolder);
      if (named?.token === token) return;
      if (!named || (await isServed(named))) await this.#giveWay(named);
      else if (!(await runs(named)) && readRendezvous(stateFolder)?.token === named.token) this.#takeBack(named);
    } finally {
      this.#checking = false;
    }
  }

  /** Who had taken over is gone before anybody moved to it. */
  #takeBack(named: Rendezvous): void {
    this.#log(`worker ${named.pid} has ended as it took over: worker ${process.pid} serves on`);
    try {
      publishRendezvous(this.#options.stateFolder, this.#rendezvous as Rendezvous);
    } catch (error) {
      this.#log(`its place could not be taken back: ${(error as Error).message}`);
    }
  }

  /** Sessions go to the successor at once; what they have asked here is finished here, within a limit. */
  async #giveWay(successor: Rendezvous | undefined): Promise<void> {
    clearInterval(this.#ownershipTimer);
    this.#rollout = 'reloading';
    this.#givesWay = true;
    this.#log(successor ? `worker ${successor.pid} takes over` : 'its file is gone');
    this.#attachers.refuseNew();
    for (const session of this.#sessions.keys()) session.announceSuccessor();
    this.#gateway.supersede();
    // An editor looks at the successor from now on.
    if (this.#asking === 0) for (const watcher of [...this.#watchers.keys()]) watcher.dispose();
    // What hosts have sent before they heard of it is served here: a closed socket would make it a lost call.
    await sleep(HEARD_MS);
    await this.#gateway.drained();
    if (!this.#stopping) await this.#attachers.finish();
    await this.stop(successor ? `worker ${successor.pid} has taken over` : 'its file is gone');
  }

  #onAttach(socket: Socket, hello: Hello): void {
    if (hello.kind === 'session') this.#serveSession(socket, hello);
    else this.#serveControl(socket);
  }

  #serveSession(socket: Socket, { marksRelated = false, face = DEFAULT_FACE }: Hello): void {
    const session = serveSession(socket, this.#gateway.faces[face], { marksRelated });
    this.#sessions.set(session, { id: `s${this.#nextSession++}`, since: Date.now() });
    // One whose greeting was under way when the others were told.
    if (this.#givesWay) session.announceSuccessor();
    session.onClose(() => {
      this.#sessions.delete(session);
      this.#announce();
    });
    this.#announce();
  }

  #serveControl(socket: Socket): void {
    const control = serveControl(socket, {
      status: () => this.#snapshot(),
      watch: () => {
        this.#watchers.set(control, 'idle');
        // An editor may bring the secrets that it keeps.
        this.#gateway.recheck();
        return this.#snapshot();
      },
      children: ({ path }) => this.#gateway.children(path),
      callTool: async ({ name, args }) => {
        const signal = new AbortController().signal;
        const result = await this.#gateway.faces.gateway.callTool(name, args, {
          signal,
          client: 'waygate',
          session: socket,
        });
        return result as ControlRequests['callTool']['result'];
      },
      explain: ({ query, topK }) => this.#gateway.explain(query, topK),
      catalog: () => this.#gateway.catalogReport(),
      learned: () => this.#gateway.learned,
      forget: ({ toolId }) => {
        this.#gateway.forget(toolId);
        return this.#gateway.learned;
      },
      health: () => this.#gateway.healthReport(),
      telemetry: () => this.#gateway.telemetryReport(),
      approve: ({ hashes }) => {
        this.#gateway.approve(hashes);
        return this.#snapshot();
      },
      ...this.#gateway.signInRequests,
      recheck: () => {
        this.#gateway.recheck();
        return this.#snapshot();
      },
      reload: () => {
        this.#gateway.reload();
        return this.#snapshot();
      },
      refresh: async () => {
        await this.#gateway.refresh();
        return this.#snapshot();
      },
      rollout: () => {
        this.#successors += 1;
        control.onClose(() => {
          this.#successors -= 1;
          void this.#checkOwnership();
        });
        return { pending: true };
      },
      stop: () => {
        // What is sent next leaves behind the answer: once it has left, so has the answer.
        setImmediate(() => void control.notify(this.#snapshot()).then(() => this.#stopAsAsked()));
        return { stopped: true };
      },
    });
    control.onClose(() => this.#watchers.delete(control));
  }

  #stopAsAsked(): Promise<void> {
    for (const session of this.#sessions.keys()) session.announceStop();
    return this.stop('asked to');
  }

  #snapshot(): GatewaySnapshot {
    const now = Date.now();
    return {
      ...this.#gateway.status(),
      health: this.#stopping ? 'stopping' : this.#gateway.health,
      worker: {
        pid: process.pid,
        version: VERSION,
        build: BUILD,
        startedAt: this.#startedAt,
        uptimeMs: now - this.#startedAt,
      },
      sessions: [...this.#sessions].map(([session, { id, since }]): SessionStatus => {
        const { name, version, protocolVersion } = session.client;
        return { id, client: name, clientVersion: version, protocolVersion, since };
      }),
    };
  }

  #announce(): void {
    if (this.#watchers.size === 0 || this.#snapshotTimer) return;
    this.#snapshotTimer = setTimeout(() => {
      this.#snapshotTimer = undefined;
      for (const watcher of this.#watchers.keys()) void this.#tell(watcher);
    }, SNAPSHOT_INTERVAL_MS);
  }

  /** The first editor that has somebody to ask answers for all. */
  #approve(question: ApprovalQuestion): Promise<ApprovalVerdict> {
    return this.#whileAsking(() => this.#askEditors(question));
  }

  async #whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#asking += 1;
    try {
      return await ask();
    } finally {
      this.#asking -= 1;
    }
  }

  async #askEditors(question: ApprovalQuestion): Promise<ApprovalVerdict> {
    for (const watcher of [...this.#watchers.keys()]) {
      const verdict = await watcher.approve(question);
      if (verdict !== 'unavailable') return verdict;
    }
    return 'unavailable';
  }

  /** The first editor that has a store, or has the value asked for. */
  async #secret(request: SecretRequest): Promise<SecretAnswer> {
    let answer: SecretAnswer = { kept: false };
    for (const watcher of [...this.#watchers.keys()]) {
      const { kept, value } = await watcher.secret(request);
      if (kept) answer = { kept, value };
      if (kept && (request.op === 'set' || value !== undefined)) break;
    }
    return answer;
  }

  /** A watcher that does not read is sent one snapshot, not all of them: when it has read, the latest follows. */
  async #tell(watcher: ControlServer): Promise<void> {
    if (this.#watchers.get(watcher) !== 'idle') {
      if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'behind');
      return;
    }
    this.#watchers.set(watcher, 'busy');
    await watcher.notify(this.#snapshot());
    const behind = this.#watchers.get(watcher) === 'behind';
    if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'idle');
    if (behind) await this.#tell(watcher);
  }

  #log(line: string): void {
    writeLog(`${new Date().toISOString()} ${line}`);
  }
}

/** Whether its process does: not a later one of that number, nor one that has ended and waits for its parent. */
async function runs({ pid, processStart: started }: Rendezvous): Promise<boolean> {
  const now = await processStart(pid);
  return now !== undefined && (started === undefined || now === started);
}

/** Whether somebody listens where it says: a process that lives may be on its way out. */
async function isServed({ socket }: Rendezvous): Promise<boolean> {
  try {
    (await connectLocal(socket, CONNECT_TIMEOUT_MS)).on('error', () => undefined).destroy();
    return true;
  } catch {
    return false;
  }
}
