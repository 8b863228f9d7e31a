import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { oneLine } from '../ops/porcelain.ts';
import { type CallOptions, UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { childEnvironment } from './childEnvironment.ts';
import type { ChildJournal } from './childJournal.ts';
import { endChild } from './processTree.ts';
import { StderrTail } from './stderrTail.ts';

export type ConnectionState = 'starting' | 'ready' | 'failed' | 'stopped';

export interface ConnectionEvents {
  /** State, tools or reason have changed. */
  onChange(): void;
  log(line: string): void;
  /** A server's last words are shown to a model, a person and the log: what is secret in them is not. */
  scrubSecrets(text: string): string;
}

/** `npx` may have to download the server first; nothing waits for a start but the server's own tools. */
const START_TIMEOUT_MS = 60_000;
const LIST_TIMEOUT_MS = 30_000;
/** Servers announce several changes in a row, many of them right at their start. */
const LIST_CHANGED_DEBOUNCE_MS = 200;
/** Between the end of a server's output and the news of its exit. */
const EXIT_WAIT_MS = 500;
/** Enough to see what a server takes stdout for. */
const LOGGED_GARBAGE_LINES = 20;

/** One upstream server over stdio: its process, its MCP connection, and the tools it last listed. */
export class ServerConnection {
  config: ServerConfig;
  readonly #journal: ChildJournal;
  readonly #events: ConnectionEvents;
  #state: ConnectionState = 'starting';
  #since = Date.now();
  #reason: string | undefined;
  #tools: readonly unknown[] = [];
  #child: ChildProcess | undefined;
  /** Rejects with how the child ended. */
  #ended: Promise<never> = new Promise(() => undefined);
  #client: UpstreamClient | undefined;
  #stderr = new StderrTail();
  #starting: Promise<void> | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #garbageLines = 0;
  /** Set for good: a stopped connection is never started again, its successor is another. */
  #stopped = false;

  constructor(config: ServerConfig, journal: ChildJournal, events: ConnectionEvents) {
    this.config = config;
    this.#journal = journal;
    this.#events = events;
  }

  get state(): ConnectionState {
    return this.#state;
  }
  get since(): number {
    return this.#since;
  }
  get reason(): string | undefined {
    return this.#reason;
  }
  get tools(): readonly unknown[] {
    return this.#tools;
  }
  get instructions(): string | undefined {
    return this.#client?.instructions;
  }
  get pid(): number | undefined {
    return this.#state === 'starting' || this.#state === 'ready' ? this.#child?.pid : undefined;
  }
  get stderr(): readonly string[] {
    return this.#stderr.lines.map((line) => this.#events.scrubSecrets(line));
  }

  /** Starts the server, or waits for the start that is under way. Never rejects: the state tells. */
  start(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Lists the tools again, starting the server if it is down. */
  async refresh(): Promise<void> {
    if (this.#state !== 'ready' || this.#starting) return this.start();
    try {
      await this.#list();
    } catch (error) {
      this.#events.log(
        `${this.config.name}: its tools could not be listed again: ${describe(error, this.#events.scrubSecrets)}`,
      );
    }
  }

  /** Calls a tool by its raw name. A server that is down is started first: the call has not been dispatched yet. */
  async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    // One whose output has just closed is as good as down; its call has not been sent yet.
    if (this.#state !== 'ready' || this.#client?.closed) await this.#restart();
    if (this.#state !== 'ready' || !this.#client) throw new NotDispatchedError(this.#reason ?? 'it is not running');
    return this.#client.callTool(tool, args, options);
  }

  #restart(): Promise<void> {
    if (this.#state === 'ready') this.#set('failed', this.#withStderr('It closed its output.'));
    return this.start();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#listTimer);
    this.#stopped = true;
    this.#set('stopped');
    await this.#end();
  }

  async #start(): Promise<void> {
    this.#set('starting');
    await Promise.all([this.#end(), this.#journal.ready]);
    if (this.#stopped) return;
    this.#stderr = new StderrTail();
    this.#garbageLines = 0;
    let child: ChildProcess | undefined;
    try {
      child = await this.#spawn();
      const client = new UpstreamClient();
      this.#client = client;
      await Promise.race([
        client.connect(
          {
            input: child.stdout as NonNullable<ChildProcess['stdout']>,
            output: child.stdin as NonNullable<ChildProcess['stdin']>,
            onGarbage: (sample) => this.#onGarbage(sample),
          },
          { onClose: () => this.#onStreamsClosed(client), onToolsChanged: () => this.#onToolsChanged() },
          START_TIMEOUT_MS,
        ),
        this.#ended,
      ]);
      await this.#list();
      if (this.#child === child && !this.#stopped) this.#set('ready');
    } catch (error) {
      if (this.#stopped) return;
      const reason = await this.#explain(error);
      await this.#end();
      this.#set('failed', reason);
    }
  }

  async #spawn(): Promise<ChildProcess> {
    const { command, args, cwd, env } = this.config;
    checkFolder(cwd);
    const environment = childEnvironment(process.env, env, this.#journal.run);
    const child = spawn(command, [...args], {
      cwd,
      env: environment,
      // A group of its own: ending it takes everything it has started.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    // From the first moment: a server may have ended before anything is said to it.
    this.#ended = ended(child);
    this.#ended.catch(() => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    child.stdin?.on('error', () => undefined);
    child.once('exit', (code, signal) => this.#onExit(child, code, signal));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => reject(new NotStartedError(describeSpawn(error, command))));
    });
    if (child.pid !== undefined) await this.#journal.add(child.pid);
    return child;
  }

  async #list(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const tools = await client.listTools({ timeoutMs: LIST_TIMEOUT_MS });
    if (client !== this.#client) return;
    this.#tools = tools;
    this.#events.onChange();
  }

  /** A change that is announced while the tools are being listed may not be in that list: it is listed again. */
  #onToolsChanged(): void {
    this.#listTimer ??= setTimeout(() => void this.#listAgain(), LIST_CHANGED_DEBOUNCE_MS);
  }

  async #listAgain(): Promise<void> {
    await this.#starting;
    if (this.#state === 'ready') await this.refresh();
    // Only now: however many changes are announced, one list is under way.
    this.#listTimer = undefined;
  }

  /** A server that writes its log to stdout must not fill ours. */
  #onGarbage(sample: string): void {
    this.#garbageLines += 1;
    if (this.#garbageLines > LOGGED_GARBAGE_LINES) return;
    const more = this.#garbageLines === LOGGED_GARBAGE_LINES ? ' (more of this is not logged)' : '';
    this.#events.log(
      `${this.config.name}: not a message on stdout: ${oneLine(this.#events.scrubSecrets(sample), 120)}${more}`,
    );
  }

  /** A server that has closed its output cannot answer, whether or not it still runs. */
  #onStreamsClosed(client: UpstreamClient): void {
    const child = this.#child;
    if (this.#client !== client || !child || this.#state !== 'ready') return;
    // Most often its exit follows at once, and says more.
    setTimeout(() => {
      if (this.#child !== child || this.#state !== 'ready') return;
      this.#set('failed', this.#withStderr('It closed its output.'));
      void this.#end();
    }, EXIT_WAIT_MS);
  }

  #onExit(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#child !== child || this.#state !== 'ready') return;
    this.#set('failed', this.#withStderr(`It ended by itself (${signal ?? `exit code ${code}`}).`));
    void this.#end();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    const client = this.#client;
    this.#child = undefined;
    this.#client = undefined;
    await client?.close();
    if (!child) return;
    await endChild(child);
    if (child.pid !== undefined) this.#journal.remove(child.pid);
  }

  async #explain(error: unknown): Promise<string> {
    if (error instanceof NotStartedError) return error.message;
    const closed = error instanceof UpstreamRequestError && error.failure === 'closed';
    // Its streams close before its exit is known, and the exit says more.
    if (closed) error = await Promise.race([this.#ended.catch((end: unknown) => end), sleep(EXIT_WAIT_MS, error)]);
    return this.#withStderr(describe(error, this.#events.scrubSecrets));
  }

  #withStderr(reason: string): string {
    const last = this.#stderr.lastMeaningful();
    return last === undefined ? reason : `${reason} It said: ${oneLine(this.#events.scrubSecrets(last), 200)}`;
  }

  #set(state: ConnectionState, reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#since = Date.now();
    if (state !== 'starting') this.#events.log(`${this.config.name}: ${state}${reason ? `: ${reason}` : ''}`);
    this.#events.onChange();
  }
}

/** The call never left: whoever made it may make it again. */
export class NotDispatchedError extends Error {
  override readonly name = 'NotDispatchedError';
}

/** There is no process: what it would have said cannot be asked. */
class NotStartedError extends Error {}

/** Rejects when the child has ended: its last words on stderr come before `close`. */
function ended(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    child.once('close', (code, signal) =>
      reject(new Error(`It ended before it answered (${signal ?? `exit code ${code}`}).`)),
    );
  });
}

/** Scrubbed before it is cut: half a secret is one still. */
function describe(error: unknown, scrubSecrets: (text: string) => string): string {
  if (error instanceof UpstreamRequestError) {
    if (error.failure === 'closed') return 'It closed its output before it answered.';
    if (error.failure === 'timeout') return `It did not answer within ${START_TIMEOUT_MS / 1000} s.`;
    return `It answered with an error: ${oneLine(scrubSecrets(error.message), 200)}.`.replace(/\.\.$/, '.');
  }
  return error instanceof Error ? error.message : String(error);
}

function describeSpawn(error: NodeJS.ErrnoException, command: string): string {
  if (error.code === 'ENOENT') return `The command "${command}" was not found; install it or give its whole path.`;
  if (error.code === 'EACCES') return `The command "${command}" may not be run (no permission to execute it).`;
  return `The command "${command}" could not be started (${error.code ?? error.message}).`;
}

function checkFolder(cwd: string): void {
  try {
    accessSync(cwd, constants.R_OK);
    if (statSync(cwd).isDirectory()) return;
  } catch {
    // Told below: Node would blame the command for a folder that is not there.
  }
  throw new NotStartedError(`Its folder ${cwd} does not exist or may not be entered; correct "cwd".`);
}
