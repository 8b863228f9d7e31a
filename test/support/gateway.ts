import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { chosenMode } from '../../src/cli/chosenMode.ts';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { attach } from '../../src/host/attach/attach.ts';
import { workerLogFile } from '../../src/host/attach/startWorker.ts';
import { SessionHost } from '../../src/host/session/sessionHost.ts';
import { isMode, type Mode } from '../../src/link/mode.ts';
import { WorkerProcess } from '../../src/worker/process/workerProcess.ts';
import { runtimeOf } from './census.ts';
import { StreamClient } from './hostProcess.ts';
import { atEnd } from './lifetime.ts';
import type { TestWorkspace } from './workspace.ts';

/**
 * Client of a gateway inside the test's own process: real host, worker, link, state and servers, but no process for
 * host and worker. For tests that end neither of them by force and look at neither's output or memory.
 */
export class GatewaySession extends StreamClient {
  /** Exit code of the host. */
  readonly ended: Promise<number>;

  constructor(workspace: TestWorkspace, args: readonly string[] = []) {
    const input = new PassThrough();
    const output = new PassThrough();
    super(input, output);
    const worker = workerOf(workspace);
    const mode = chosenMode({ workspace: workspace.folder, ...givenMode(args) });
    const host = new SessionHost({
      input,
      output,
      mode,
      workspace: workspace.folder,
      folder: worker.folder,
      attach: (signal, start) => worker.attach(mode, signal, start),
      log: () => undefined,
    });
    this.ended = host.run();
    atEnd(async () => {
      input.end();
      await this.ended;
    });
  }

  static async connect(
    workspace: TestWorkspace,
    args: readonly string[] = [],
    capabilities: object = {},
  ): Promise<GatewaySession> {
    const session = new GatewaySession(workspace, args);
    await session.initialize({ capabilities });
    return session;
  }
}

function givenMode(args: readonly string[]): { mode?: Mode } {
  const [option, mode] = args;
  if (option === undefined) return {};
  if (option !== '--mode' || args.length !== 2 || !isMode(mode)) {
    throw new Error(`A gateway inside the test takes --mode alone, not ${args.join(' ')}: use HostProcess.`);
  }
  return { mode };
}

const POLL_MS = 10;

const workers = new Map<string, LocalWorker>();

function workerOf(workspace: TestWorkspace): LocalWorker {
  const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir, []);
  let worker = workers.get(folder);
  if (!worker) {
    worker = new LocalWorker(workspace, folder);
    workers.set(folder, worker);
  }
  return worker;
}

/** One workspace's worker, started again when a session needs it after it has stopped. */
class LocalWorker {
  readonly folder: string;
  readonly #log: number;
  readonly #workspace: TestWorkspace;
  #running: { worker: WorkerProcess; started: Promise<void> } | undefined;

  constructor(workspace: TestWorkspace, folder: string) {
    this.#workspace = workspace;
    this.folder = folder;
    this.#log = openSync(workerLogFile(folder), 'a', 0o600);
    // The test ends the worker. A busy loop must not make it leave before the first session has attached.
    useEnvironment({ ...workspace.env, WAYGATE_LINGER_MS: '600000' });
    atEnd(async () => {
      workers.delete(folder);
      await this.#running?.worker.stop('the test is over');
      closeSync(this.#log);
    });
  }

  async attach(mode: Mode, signal: AbortSignal, start: boolean): Promise<Socket | undefined> {
    for (;;) {
      signal.throwIfAborted();
      const socket = await attach(runtimeOf(this.#workspace), {
        kind: 'session',
        start: false,
        holds: true,
        mode,
        signal,
      });
      if (socket || !start) return socket;
      // A worker that is stopping cannot be found, and has not ended yet.
      if (this.#running) await sleep(POLL_MS);
      await this.#start();
    }
  }

  #start(): Promise<void> {
    if (!this.#running) {
      const worker = new WorkerProcess({
        workspace: this.#workspace.folder,
        stateFolder: this.folder,
        token: randomBytes(32).toString('hex'),
        onServing: () => undefined,
        onEnd: () => {
          this.#running = undefined;
        },
        logFd: this.#log,
      });
      this.#running = { worker, started: worker.start() };
    }
    return this.#running.started;
  }
}

/** Gives this process the environment that a process of the workspace would have, until the end of the test. */
function useEnvironment(env: NodeJS.ProcessEnv): void {
  const before = { ...process.env };
  const set = (wanted: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) {
      // Vitest reads its own while tests run.
      if (!(name in wanted) && !name.startsWith('VITEST')) delete process.env[name];
    }
    Object.assign(process.env, wanted);
  };
  set(env);
  atEnd(() => set(before));
}
