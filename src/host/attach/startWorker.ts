import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { canonicalWorkspace, stateRoot, workspaceStateFolder } from '../../config/state/stateFolder.ts';
import { RUN_MARKER } from '../../upstream/process/childEnvironment.ts';
import { CACHE_VARIABLE, compileCacheFolder } from './compileCache.ts';
import { endProcess } from './endWorker.ts';
import { exitReason } from './exitReason.ts';

/** Identifies a gateway: the workspace's own, or the separate gateway of a given configuration file or catalog. */
export interface GatewayTarget {
  /** Folder of the workspace. */
  workspace: string;
  /** Absolute path of a configuration file. */
  configFile?: string | undefined;
  /** Absolute path of a static catalog that replaces all servers. */
  catalog?: string | undefined;
}

export interface GatewayRuntime extends GatewayTarget {
  /** Path of the Node that runs the worker. In the editor this is Electron. */
  nodePath: string;
  workerScript: string;
  /** Root of the state; defaults to the user's state folder. */
  stateDir?: string;
  env?: NodeJS.ProcessEnv;
  /** A command line starts the worker, and no session of a client follows. */
  forCommand?: boolean;
}

/** Error for a worker that cannot be started or reached. The message is one sentence. */
export class WorkerUnavailableError extends Error {
  override readonly name = 'WorkerUnavailableError';
  /**
   * The message without the leading "Waygate's worker", for callers that already name it; the worker's own reason if it
   * wrote one.
   */
  readonly why: string;

  constructor(message: string, why = message.replace(/^Waygate's worker /, 'it ')) {
    super(message);
    this.why = why;
  }
}

/** Error for a program that must be started again from another build. Says so to a client; the editor has its own words. */
export class OutdatedProgramError extends WorkerUnavailableError {
  /** `removed`: the build is gone. `older`: a newer one serves the workspace. */
  readonly outdated: 'removed' | 'older';

  constructor(message: string, outdated: OutdatedProgramError['outdated']) {
    super(message);
    this.outdated = outdated;
  }
}

/** A worker is ready within 0.1 s on an idle machine; the limit allows for a machine that swaps. */
const READY_TIMEOUT_MS = 15_000;
/**
 * Size in megabytes of each half of V8's young generation. With less than four the collector runs several times before
 * the first answer. The upper bound keeps the garbage of calls there: without it V8 takes 100 MB as soon as a worker is
 * busy, and each collection pauses four times as long.
 */
const YOUNG_MB = 4;
/**
 * Size in megabytes at which V8 first collects the whole heap, and the growth in percent after which it does so again.
 * V8's default keeps the garbage of some thousand calls, three times the memory in use.
 */
const OLD_MB = 32;
const OLD_GROWTH_PERCENT = 25;
/**
 * Compiles a regular expression to machine code at its first use. V8 would first make bytecode of it, which takes thirty
 * times as long for the unions of the scan: 0.4 s in the first call.
 */
const NO_BYTECODE = '--no-regexp-tier-up';
/**
 * Collects the young generation in the main thread. It is small, so that helper threads cost more than they save: a
 * tenth of the CPU of a start.
 */
const NO_SCAVENGE_THREADS = '--no-parallel-scavenge';
/** Free memory that glibc keeps at the end of its heap. */
const KEPT_FREE_BYTES = 64 * 1024;
const NODE_OPTIONS = [
  `--min-semi-space-size=${YOUNG_MB}`,
  `--max-semi-space-size=${YOUNG_MB}`,
  `--initial-old-space-size=${OLD_MB}`,
  `--heap-growing-percent=${OLD_GROWTH_PERCENT}`,
  NO_BYTECODE,
  NO_SCAVENGE_THREADS,
];
/** Names the port of 127.0.0.1 on which a worker waits for a debugger (0: any). For developers of Waygate. */
const INSPECT_VARIABLE = 'WAYGATE_INSPECT_WORKER';
/** File descriptor on which a worker reports that it is ready, or why it cannot start. */
export const READY_FD = 3;

/** Returns the parts that the target adds to its workspace's name in the state (`stateKey`). */
export function stateVariant({ configFile, catalog }: GatewayTarget): string[] {
  if (catalog !== undefined) return ['catalog', canonicalWorkspace(catalog)];
  return configFile === undefined ? [] : ['config', canonicalWorkspace(configFile)];
}

/** Returns the path of the gateway's folder in the state; the folder may not exist. */
export function gatewayFolder(target: GatewayTarget & Pick<GatewayRuntime, 'stateDir' | 'env'>): string {
  return workspaceStateFolder(target.workspace, target.stateDir ?? stateRoot(target.env), stateVariant(target));
}

export function workerLogFile(folder: string): string {
  return join(folder, 'worker.log');
}

export interface StartOptions {
  /** Get ready before taking over from the serving worker. A candidate that fails is ended. */
  candidate?: boolean;
  /** Ends the worker when the caller no longer waits for it. */
  signal?: AbortSignal | undefined;
}

/** Starts a worker that outlives this process. Returns its process id when it serves. */
export async function startWorker(
  runtime: GatewayRuntime,
  folder: string,
  { candidate = false, signal }: StartOptions = {},
): Promise<number> {
  if (!existsSync(runtime.workerScript)) {
    throw new OutdatedProgramError(
      `This build of Waygate is missing (${runtime.workerScript}), probably because of an update; restart this client.`,
      'removed',
    );
  }
  const logFile = workerLogFile(folder);
  const log = openSync(logFile, 'a', 0o600);
  const logged = fstatSync(log).size;
  let child: ChildProcess;
  try {
    const { workspace, configFile, catalog } = runtime;
    const given = [
      ...(configFile === undefined ? [] : ['--config', configFile]),
      ...(catalog === undefined ? [] : ['--catalog', catalog]),
      ...(candidate ? ['--candidate'] : []),
      ...(runtime.forCommand ? ['--for-command'] : []),
    ];
    const started = [
      ...NODE_OPTIONS,
      ...inspectOption(runtime.env),
      runtime.workerScript,
      '--workspace',
      // A client that found the folder by a link has the same worker and the same approvals.
      canonicalWorkspace(workspace),
      '--state',
      folder,
      ...given,
    ];
    child = spawn(runtime.nodePath, started, {
      cwd: folder,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', log, 'pipe'],
      env: workerEnvironment(runtime.env ?? process.env, folder),
    });
  } finally {
    closeSync(log);
  }
  child.unref();
  const ready = child.stdio[READY_FD] as Readable;
  try {
    const { said, ended } = await readyLine(child, ready, { timeoutMs: readyTimeout(runtime.env), signal });
    if (said === 'ready') return child.pid as number;
    if (candidate && child.pid !== undefined) await endProcess(child.pid);
    if (ended === undefined) throw new WorkerUnavailableError(said);
    const words = exitReason(logFile, logged);
    const why = words === undefined ? ended : `${ended}: ${words}`;
    throw new WorkerUnavailableError(`Waygate's worker ${why} (its log: ${logFile}).`, words ?? `it ${ended}`);
  } finally {
    ready.destroy();
  }
}

/** If another worker has the port, Node says so in the worker's log and starts the worker without a debugger. */
function inspectOption(env: NodeJS.ProcessEnv = process.env): string[] {
  const port = env[INSPECT_VARIABLE];
  if (!port) return [];
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new WorkerUnavailableError(
      `${INSPECT_VARIABLE} is "${port}", but must be a port number: correct or remove it.`,
    );
  }
  return [`--inspect=127.0.0.1:${port}`];
}

/**
 * Removes the marker of an outer gateway, so that this worker does not end together with the outer gateway's servers.
 */
function workerEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  const { [RUN_MARKER]: _marker, [CACHE_VARIABLE]: _cache, ...rest } = env;
  const cache = compileCacheFolder(folder);
  return {
    ...rest,
    ...(cache === undefined ? {} : { [CACHE_VARIABLE]: cache }),
    ELECTRON_RUN_AS_NODE: '1',
    // glibc keeps an arena per thread, and the compiler's threads leave 20 MB of freed memory in theirs.
    MALLOC_ARENA_MAX: '1',
    // The default of malloc keeps the memory of a large result, so that the next one gets it faster.
    MALLOC_TRIM_THRESHOLD_: String(KEPT_FREE_BYTES),
  };
}

function readyTimeout(env: NodeJS.ProcessEnv = process.env): number {
  return Number(env.WAYGATE_READY_MS) || READY_TIMEOUT_MS;
}

interface StartAnswer {
  /** Report of the worker or the system about the start. */
  said: string;
  /** How the process ended, if it reported nothing itself. */
  ended?: string;
}

function readyLine(
  child: ChildProcess,
  ready: Readable,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<StartAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const onAbort = (): void => finish('The start was cancelled.');
    const finish = (said: string, ended?: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      child.removeAllListeners();
      resolve({ said, ...(ended === undefined ? {} : { ended }) });
    };
    const timer = setTimeout(
      () => finish(`Waygate's worker (pid ${child.pid}) was not ready within ${timeoutMs / 1000} s.`),
      timeoutMs,
    );
    signal?.addEventListener('abort', onAbort);
    child.once('error', (error: NodeJS.ErrnoException) =>
      finish(`Waygate's worker could not be started: ${child.spawnfile} (${error.code ?? error.message}).`),
    );
    child.once('exit', (code, signal) => {
      // The worker writes its reason before it exits; read it first.
      setImmediate(() => {
        const said = text.trim();
        if (said !== '') finish(said);
        else finish('', `ended during its start (${signal ?? `exit code ${code}`})`);
      });
    });
    ready.setEncoding('utf8');
    ready.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end !== -1) finish(text.slice(0, end));
    });
    // A read error is followed by the child's exit, which is reported.
    ready.on('error', () => undefined);
  });
}
