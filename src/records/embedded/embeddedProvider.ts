import { homedir } from 'node:os';
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
import { knownSecrets } from '../../secrets/mask.ts';
import type { RecordAnswer, RecordProvider, RecordRequest } from '../provider/recordProvider.ts';
import type { EngineStatus } from './engineStatus.ts';
import type { EngineOptions } from './recordEngine.ts';
import { RecordStoreError } from './store/sqlite.ts';
import type { Order, OrderMessage, Reply } from './threadProtocol.ts';

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 };
/** A load stops at the next part of a file, and compacting the database may wait this long for other processes. */
const CLOSE_MS = 10_000;

/**
 * Records of this machine under the grants of one workspace, answered by a thread with a database of its own. The first
 * request starts the thread. Many processes may use the same files.
 *
 * @example
 * const records = new EmbeddedProvider(engineOptions(stateFolder, stateRoot));
 * const answer = await records.get({ path: '/v1/search', query: [['q', 'timeout']] });
 */
export class EmbeddedProvider implements RecordProvider {
  readonly url = 'waygate://records';
  readonly #options: EngineOptions;
  readonly #script: URL;
  readonly #pending = new Map<number, Pending>();
  #thread: Worker | undefined;
  #nextId = 1;
  #secretsSent = -1;
  #disposed = false;

  constructor(options: EngineOptions, script: URL = ownScript()) {
    this.#options = options;
    this.#script = script;
  }

  async get({ path, query, signal }: RecordRequest): Promise<RecordAnswer> {
    signal?.throwIfAborted();
    const reply = await this.#ask({ kind: 'get', request: { path, query } }, signal);
    if ('answer' in reply) return reply.answer;
    throw new RecordStoreError('The records gave no answer.');
  }

  /** Loads all that is new, and removes what is not granted. */
  async refresh(): Promise<EngineStatus> {
    return statusIn(await this.#ask({ kind: 'refresh' }));
  }

  /** Removes what is not granted, from the disk too, and loads nothing. */
  async purge(): Promise<EngineStatus> {
    return statusIn(await this.#ask({ kind: 'purge' }));
  }

  async status(): Promise<EngineStatus> {
    return statusIn(await this.#ask({ kind: 'status' }));
  }

  /**
   * Lets the thread close its database and end. Never terminates it, because SQLite may be at work there. A thread that
   * takes too long no longer keeps the process alive.
   */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const thread = this.#thread;
    if (!thread) return;
    const ended = new Promise<void>((resolve) => void thread.once('exit', () => resolve()));
    thread.ref();
    thread.postMessage({ id: this.#nextId++, order: { kind: 'close' } } satisfies OrderMessage);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([ended, late]);
    clearTimeout(timer);
    thread.unref();
  }

  async #ask(order: Order, signal?: AbortSignal): Promise<Reply> {
    if (this.#disposed) throw new RecordStoreError('The records are closed.');
    const thread = this.#started();
    const id = this.#nextId++;
    const { version } = knownSecrets;
    const secrets = version === this.#secretsSent ? {} : { secrets: knownSecrets.learned };
    this.#secretsSent = version;
    const answered = new Promise<Reply>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    thread.ref();
    thread.postMessage({ id, order, ...secrets } satisfies OrderMessage);
    const reply = await answered.finally(() => {
      this.#pending.delete(id);
      if (this.#pending.size === 0 && !this.#disposed) thread.unref();
    });
    if ('error' in reply) throw new RecordStoreError(reply.error);
    return reply;
  }

  #started(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(this.#script, { workerData: this.#options, resourceLimits: LIMITS });
    this.#thread = thread;
    this.#secretsSent = -1;
    let reason = 'it ended';
    thread.on('message', (reply: Reply) => this.#pending.get(reply.id)?.resolve(reply));
    thread.once('error', (error) => {
      reason = error.message;
    });
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      const failure = new RecordStoreError(`The thread of the records failed (${reason}); ask again to restart it.`);
      for (const { reject } of this.#pending.values()) reject(failure);
    });
    return thread;
  }
}

/** Places of the records of a gateway, by the state folder of its workspace. */
export function engineOptions(stateFolder: string, stateRoot: string): EngineOptions {
  return { stateFolder, stateRoot, workspace: basename(stateFolder), home: homedir() };
}

function statusIn(reply: Reply): EngineStatus {
  if ('status' in reply) return reply.status;
  throw new RecordStoreError('The records gave no answer.');
}

/** Returns the thread's script: beside this file in the source tree, beside the program in the product. */
function ownScript(): URL {
  const name = import.meta.url.endsWith('.ts') ? 'recordsThread.ts' : 'recordsThread.cjs';
  return new URL(`./${name}`, import.meta.url);
}
