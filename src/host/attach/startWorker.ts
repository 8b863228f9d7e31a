import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { canonicalWorkspace, stateRoot, workspaceStateFolder } from '../../config/state/stateFolder.ts';
import { RUN_MARKER } from '../../upstream/process/childEnvironment.ts';
import { CACHE_VARIABLE, compileCacheFolder } from './compileCache.ts';
import { endProcess } from './endWorker.ts';
import { lastWords } from './lastWords.ts';

/** Which gateway is meant: the workspace's own, or the one of a configuration given by hand, which is another. */
export interface GatewayTarget {
  /** The workspace's folder. */
  workspace: string;
  /** An absolute path. */
  configFile?: string | undefined;
  /** A static catalog that is served instead of all servers; an absolute path. */
  catalog?: string | undefined;
}

export interface GatewayRuntime extends GatewayTarget {
  /** The Node that runs the worker; the editor's own when it is Electron. */
  nodePath: string;
  workerScript: string;
  /** Where state is kept; the user's default when absent. */
  stateDir?: string;
  env?: NodeJS.ProcessEnv;
}

/** A worker that could not be started or reached, told in one sentence. */
export class WorkerUnavailableError extends Error {
  override readonly name = 'WorkerUnavailableError';
  /** The same to whoever has said already that it is about the worker: in its own last words, where it had some. */
  readonly why: string;

  constructor(message: string, why = message.replace(/^Waygate's worker /, 'it ')) {
    super(message);
    this.why = why;
  }
}

/** A worker is ready within a tenth of a second on an idle machine; this is for one that swaps. */
const READY_TIMEOUT_MS = 15_000;
/**
 * Megabytes for what has just been allocated, of which V8 keeps two. What a start allocates fits: with less the collector
 * runs five times before the first answer. What calls leave behind stays there: without an upper end V8 takes 100 MB as
 * soon as a worker is busy, and halts four times as long for each collection.
 */
const YOUNG_MB = 8;
const NODE_OPTIONS = [`--min-semi-space-size=${YOUNG_MB}`, `--max-semi-space-size=${YOUNG_MB}`];
/** Names the port of 127.0.0.1 on which a worker waits for a debugger (0: any). For developers of Waygate. */
const INSPECT_VARIABLE = 'WAYGATE_INSPECT_WORKER';
/** The descriptor on which a worker says that it is ready, or why it cannot be. */
export const READY_FD = 3;

/** What the target adds to its workspace's name in the state (`stateKey`). */
export function stateVariant({ configFile, catalog }: GatewayTarget): string[] {
  if (catalog !== undefined) return ['catalog', canonicalWorkspace(catalog)];
  return configFile === undefined ? [] : ['config', canonicalWorkspace(configFile)];
}

/** The gateway's folder in the state, whether or not it is there. */
export function gatewayFolder(target: GatewayTarget & Pick<GatewayRuntime, 'stateDir' | 'env'>): string {
  return workspaceStateFolder(target.workspace, target.stateDir ?? stateRoot(target.env), stateVariant(target));
}

export function workerLogFile(folder: string): string {
  return join(folder, 'worker.log');
}

export interface StartOptions {
  /** It is to be ready before it takes over from the worker that serves; one that fails is ended. */
  candidate?: boolean;
  /** Nobody waits for it any more: it is ended. */
  signal?: AbortSignal | undefined;
}

/** Starts a worker that outlives this process, and returns its number when it serves. */
export async function startWorker(
  runtime: GatewayRuntime,
  folder: string,
  { candidate = false, signal }: StartOptions = {},
): Promise<number> {
  if (!existsSync(runtime.workerScript)) {
    throw new WorkerUnavailableError(
      `This build of Waygate is no longer there (${runtime.workerScript}), most likely since an update: restart this client.`,
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
    ];
    const started = [
      ...NODE_OPTIONS,
      ...inspectOption(runtime.env),
      runtime.workerScript,
      '--workspace',
      workspace,
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
    const words = lastWords(logFile, logged);
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

/** The marker of an outer gateway is not the worker's: this one must not end with that one's servers. */
function workerEnvironment(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  const { [RUN_MARKER]: _marker, [CACHE_VARIABLE]: _cache, ...rest } = env;
  const cache = compileCacheFolder(folder);
  return { ...rest, ...(cache === undefined ? {} : { [CACHE_VARIABLE]: cache }), ELECTRON_RUN_AS_NODE: '1' };
}

function readyTimeout(env: NodeJS.ProcessEnv = process.env): number {
  return Number(env.WAYGATE_READY_MS) || READY_TIMEOUT_MS;
}

interface StartAnswer {
  /** What it, or the system, says of its start. */
  said: string;
  /** How it ended, where that is all there is. */
  ended?: string;
}

function readyLine(
  child: ChildProcess,
  ready: Readable,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<StartAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const onAbort = (): void => finish('Nobody waits for it any more.');
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
      // The reason, if there is one, has been written before the end.
      setImmediate(() => {
        const said = text.trim();
        if (said !== '') finish(said);
        else finish('', `ended at its start (${signal ?? `exit code ${code}`})`);
      });
    });
    ready.setEncoding('utf8');
    ready.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end !== -1) finish(text.slice(0, end));
    });
    // Read errors end in the child's exit, which is told.
    ready.on('error', () => undefined);
  });
}
