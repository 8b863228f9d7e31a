import type { Socket } from 'node:net';
import { type ControlServer, serveControl } from '../control/channel.ts';
import type { ControlRequests, GatewaySnapshot, SessionStatus } from '../control/contract.ts';
import { BUILD, VERSION } from '../ops/build.ts';
import type { Hello } from '../protocol/linkHandshake.ts';
import { LINK_VERSION, publishRendezvous, readRendezvous, withdrawRendezvous } from '../protocol/rendezvous.ts';
import { type SessionServer, serveSession } from '../protocol/sessionServer.ts';
import { Attachers } from './attachers.ts';
import { Gateway } from './gateway.ts';

export interface WorkerOptions {
  workspace: string;
  stateFolder: string;
  token: string;
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
  readonly #watchers = new Set<ControlServer>();
  #ownershipTimer: NodeJS.Timeout | undefined;
  #snapshotTimer: NodeJS.Timeout | undefined;
  #nextSession = 1;
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#gateway = new Gateway({
      workspace: options.workspace,
      stateFolder: options.stateFolder,
      log: (line) => this.#log(line),
      onChange: () => this.#announce(),
    });
    this.#attachers = new Attachers({
      stateFolder: options.stateFolder,
      token: options.token,
      lingerMs: Number(process.env['WAYGATE_LINGER_MS'] ?? LINGER_MS),
      onAttach: (socket, hello) => this.#onAttach(socket, hello),
      onDeserted: () => void this.stop('nobody has been attached for a while'),
    });
  }

  async start(): Promise<void> {
    const { stateFolder, token } = this.#options;
    const socket = await this.#attachers.listen();
    publishRendezvous(stateFolder, {
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
    if (hello.kind === 'session') this.#serveSession(socket);
    else this.#serveControl(socket);
  }

  #serveSession(socket: Socket): void {
    const session = serveSession(socket, this.#gateway.surface);
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
        this.#watchers.add(control);
        return this.#snapshot();
      },
      children: ({ path }) => this.#gateway.children(path),
      callTool: async ({ name, args }) => {
        const signal = new AbortController().signal;
        const result = await this.#gateway.surface.callTool(name, args, { signal, client: 'waygate', session: socket });
        return result as ControlRequests['callTool']['result'];
      },
      explain: ({ query, topK }) => this.#gateway.explain(query, topK),
      catalog: () => this.#gateway.catalogReport(),
      learned: () => this.#gateway.learned,
      forget: ({ toolId }) => {
        this.#gateway.forget(toolId);
        return this.#gateway.learned;
      },
      refresh: async () => {
        await this.#gateway.refresh();
        return this.#snapshot();
      },
      stop: () => {
        // After the answer has left.
        setImmediate(() => void this.stop('asked to'));
        return { stopped: true };
      },
    });
    control.onClose(() => this.#watchers.delete(control));
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
      const snapshot = this.#snapshot();
      for (const watcher of this.#watchers) watcher.notify(snapshot);
    }, SNAPSHOT_INTERVAL_MS);
  }

  #log(line: string): void {
    process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  }
}
