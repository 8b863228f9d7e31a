import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
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
import { isAlive } from '../host/startLock.ts';
import { BUILD, VERSION } from '../ops/build.ts';
import { DEFAULT_FACE } from '../ops/face.ts';
import type { Hello } from '../protocol/linkHandshake.ts';
import {
  LINK_VERSION,
  publishRendezvous,
  type Rendezvous,
  readRendezvous,
  withdrawRendezvous,
} from '../protocol/rendezvous.ts';
import { type SessionServer, serveSession } from '../protocol/sessionServer.ts';
import { Attachers } from './attachers.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { writeLog } from './workerLog.ts';

export interface WorkerOptions {
  workspace: string;
  configFile?: string;
  stateFolder: string;
  token: string;
  /** What is served instead of the workspace's configuration. */
  load?: GatewayOptions['load'] | undefined;
  onEnd(): void;
}

/** A minute after the last attacher has gone the worker leaves: a window reload finds it still there. */
const LINGER_MS = 60_000;
/** How often a worker looks whether it is still the one that the rendezvous names. */
const OWNERSHIP_CHECK_MS = 1_000;
/** Watchers need no more than this many snapshots: a page that shows them is drawn once a second. */
const SNAPSHOT_INTERVAL_MS = 250;

/** One worker's life: it listens, publishes itself, serves attachers, and steps down for whoever replaced it. */
export class WorkerProcess {
  readonly #options: WorkerOptions;
  readonly #attachers: Attachers;
  readonly #gateway: Gateway;
  readonly #startedAt = Date.now();
  readonly #sessions = new Map<SessionServer, { id: string; since: number }>();
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  #ownershipTimer: NodeJS.Timeout | undefined;
  #snapshotTimer: NodeJS.Timeout | undefined;
  #nextSession = 1;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#gateway = new Gateway({
      workspace: options.workspace,
      ...(options.configFile === undefined ? {} : { configFile: options.configFile }),
      stateFolder: options.stateFolder,
      ...(options.load === undefined ? {} : { load: options.load }),
      log: (line) => this.#log(line),
      onChange: () => this.#announce(),
      approve: (question) => this.#approve(question),
      secret: (request) => this.#secret(request),
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
    const { token } = this.#options;
    const socket = await this.#attachers.listen();
    this.#publish({
      link: LINK_VERSION,
      pid: process.pid,
      socket,
      token,
      version: VERSION,
      build: BUILD,
      startedAt: this.#startedAt,
    });
    this.#ownershipTimer = setInterval(() => this.#checkOwnership(), OWNERSHIP_CHECK_MS);
    this.#log(`worker ${process.pid} of build ${BUILD} serves ${this.#options.workspace}`);
    this.#gateway.start();
  }

  #publish(rendezvous: Rendezvous): void {
    const previous = readRendezvous(this.#options.stateFolder);
    // A worker that was killed could not take its socket away.
    if (previous?.socket.endsWith('.sock') && !isAlive(previous.pid)) rmSync(previous.socket, { force: true });
    try {
      publishRendezvous(this.#options.stateFolder, rendezvous);
    } catch (error) {
      this.#attachers.close();
      throw unwritable(this.#options.stateFolder, error);
    }
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

  /** Two workers of one workspace must not last: the one that is no longer named gives way. */
  #checkOwnership(): void {
    const named = readRendezvous(this.#options.stateFolder);
    if (named?.token === this.#options.token) return;
    clearInterval(this.#ownershipTimer);
    this.#attachers.refuseNew();
    void this.#gateway
      .drained()
      .then(() => this.stop(named ? `worker ${named.pid} has taken over` : 'its file is gone'));
  }

  #onAttach(socket: Socket, hello: Hello): void {
    if (hello.kind === 'session') this.#serveSession(socket, hello);
    else this.#serveControl(socket);
  }

  #serveSession(socket: Socket, { marksRelated = false, face = DEFAULT_FACE }: Hello): void {
    const session = serveSession(socket, this.#gateway.faces[face], { marksRelated });
    this.#sessions.set(session, { id: `s${this.#nextSession++}`, since: Date.now() });
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
  async #approve(question: ApprovalQuestion): Promise<ApprovalVerdict> {
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
