import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import type { StdioServerConfig } from '../../config/gatewayConfig.ts';
import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import { absoluteParts, findProgram, isBare } from '../../lib/findProgram.ts';
import { StdioUpstream } from '../../mcp/wire/stdioUpstream.ts';
import { UpstreamClient, type UpstreamClientOptions, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { ProgramStart, WalledStart } from '../../walls/wallsStart.ts';
import { childEnvironment } from '../process/childEnvironment.ts';
import type { ChildJournal } from '../process/childJournal.ts';
import { OwnEnvironment } from '../process/loginShellPath.ts';
import { endChild, endStrays } from '../process/processTree.ts';
import { StderrTail } from '../process/stderrTail.ts';
import { describeRequestError, type LinkEvents, LinkFailure, startFault, type UpstreamLink } from './upstreamLink.ts';

/** Limit between the end of a server's output and its exit. */
const EXIT_WAIT_MS = 500;
/** Several short waits, because on a busy machine one long wait may end before the event loop reads the exit. */
const EXIT_WAIT_STEPS = 10;
/** Enough to recognise the kind of output. */
const LOGGED_GARBAGE_LINES = 20;

export interface StdioLinkOptions {
  own?: OwnEnvironment;
  /** Program that the user approved; without one, the command is looked up. */
  approved?: { program?: string | undefined } | undefined;
  /** Returns the start of a launcher in place of the server's. */
  launcher?: ((start: ProgramStart, outside: Readonly<Record<string, string>>) => WalledStart) | undefined;
}

/** Link to a server over stdio: its process tree, its journal entry and its stderr. */
export class StdioLink implements UpstreamLink {
  readonly #config: StdioServerConfig;
  readonly #journal: ChildJournal;
  readonly #events: LinkEvents;
  readonly #own: OwnEnvironment;
  readonly #approved: StdioLinkOptions['approved'];
  readonly #launcher: StdioLinkOptions['launcher'];
  readonly #mark: string;
  readonly #stderr: StderrTail;
  #child: ChildProcess | undefined;
  #client: UpstreamClient | undefined;
  /** Rejects at the `close` event of the child, when all of stderr has arrived. */
  #ended: Promise<never> | undefined;
  #timeoutMs = 0;
  #garbageLines = 0;
  /** First line on stdout that is no message. */
  #firstPrinted: string | undefined;
  #greeted = false;
  #over = false;
  #endedItself = false;
  #strays: Promise<void> | undefined;

  constructor(
    config: StdioServerConfig,
    journal: ChildJournal,
    events: LinkEvents,
    { own = new OwnEnvironment(process.env), approved, launcher }: StdioLinkOptions = {},
  ) {
    this.#config = config;
    this.#journal = journal;
    this.#events = events;
    this.#own = own;
    this.#approved = approved;
    this.#launcher = launcher;
    this.#mark = journal.nextMark();
    this.#stderr = new StderrTail((text) => events.scrubSecrets(text));
  }

  get pid(): number | undefined {
    return this.#over ? undefined : this.#child?.pid;
  }

  get stderr(): readonly string[] {
    return this.#stderr.lines;
  }

  async connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient> {
    this.#timeoutMs = timeoutMs;
    await this.#journal.ready;
    if (this.#over) throw new LinkFailure('It was stopped.', 'stopped');
    const child = await this.#spawnWhereFound();
    const client = new UpstreamClient(options);
    this.#client = client;
    const transport = new StdioUpstream({
      input: child.stdout as Readable,
      output: child.stdin as Writable,
      oddities: options.oddities,
      onGarbage: (sample) => this.#onGarbage(sample),
    });
    await Promise.race([
      client.connect(transport, { onClose: () => void this.#onStreamsClosed(transport) }, timeoutMs, 'initialize'),
      this.#ended as Promise<never>,
    ]);
    this.#greeted = true;
    return client;
  }

  async explain(error: unknown): Promise<LinkFailure> {
    if (error instanceof LinkFailure) return error;
    const closed = error instanceof UpstreamRequestError && /^(?:closed|gone)$/.test(error.failure);
    // The streams close before the exit, and the exit gives a better reason.
    const cause = closed
      ? await Promise.race([this.#ended?.catch((gone: unknown) => gone), exitWait().then(() => error)])
      : error;
    const reason = this.#withStderr(describeRequestError(cause, this.#timeoutMs, this.#events.scrubSecrets));
    return new LinkFailure(reason, startFault(cause, this.#greeted));
  }

  /**
   * Ends the process. If it exited on its own, waits for its group only, because the scan for other descendants takes
   * longer the more processes the machine has, and would delay the restart.
   */
  async close(): Promise<void> {
    this.#over = true;
    await this.#client?.close();
    const child = this.#child;
    if (!child) return;
    const killed = await endChild(child);
    if (child.pid === undefined) return;
    this.#journal.remove(child.pid);
    this.#strays ??= endStrays(this.#mark, killed);
    if (!this.#endedItself) await this.#strays;
  }

  /** Spawns the command, and tries a missing command again with the PATH of the user's login shell. */
  async #spawnWhereFound(): Promise<ChildProcess> {
    const { command, cwd } = this.#config;
    checkFolder(cwd);
    try {
      return await this.#spawn(await this.#ownEnvironment());
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const elsewhere = missing ? await this.#own.forMissing() : undefined;
      if (!elsewhere || this.#over) throw describeSpawn(error as NodeJS.ErrnoException, command);
      return await this.#spawn(elsewhere).catch((second: NodeJS.ErrnoException) => {
        throw describeSpawn(second, command);
      });
    }
  }

  /** Returns the environment for a start: with a pinned program's folder in its `PATH`, where its interpreter usually is. */
  async #ownEnvironment(): Promise<NodeJS.ProcessEnv> {
    const own = await this.#own.forStart();
    const program = this.#approved?.program;
    const isThere =
      program === undefined || !isBare(this.#config.command) || absoluteParts(own.PATH).includes(dirname(program));
    return isThere ? own : ((await this.#own.forMissing()) ?? own);
  }

  /** Rejects with the error of the system. */
  async #spawn(own: NodeJS.ProcessEnv): Promise<ChildProcess> {
    const { command, args, cwd, env } = this.#config;
    if (this.#over) throw new LinkFailure('It was stopped.', 'stopped');
    const environment = childEnvironment(own, env, this.#mark);
    const program = this.#approved ? this.#approved.program : programIn(environment, command, cwd);
    if (program === undefined) throw Object.assign(new Error(), { code: 'ENOENT' });
    const start = { program, args, cwd, env: environment };
    const walled = this.#launcher?.(start, childEnvironment(own, {}, this.#mark));
    const { program: file, args: words, ...place } = walled ?? start;
    const child = spawn(file, [...words], {
      ...place,
      // Own process group, so that a signal reaches all descendants.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(walled ? ['pipe' as const] : [])],
    });
    // The descriptor after the standard streams.
    if (walled) (child.stdio[3] as Writable).on('error', () => undefined).end(walled.plan);
    this.#child = child;
    this.#ended = ended(child);
    // Prevents an unhandled rejection if nothing awaits the end.
    this.#ended.catch(() => undefined);
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk);
      this.#events.onStderr?.(chunk);
    });
    child.stdin?.on('error', () => undefined);
    child.once('exit', (code, signal) =>
      this.#lost(`It exited unexpectedly (${signal ?? `exit code ${code}`}).`, signal ? 'killed' : 'exited'),
    );
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    if (child.pid !== undefined) await this.#journal.add(child.pid);
    if (this.#over && child.pid !== undefined) this.#journal.remove(child.pid);
    return child;
  }

  /** Logs a bounded number of lines of a server that uses stdout for its log. */
  #onGarbage(sample: string): void {
    this.#garbageLines += 1;
    if (/\w/.test(sample)) this.#firstPrinted ??= oneLine(this.#events.scrubSecrets(sample), 200);
    if (this.#garbageLines > LOGGED_GARBAGE_LINES) return;
    const more = this.#garbageLines === LOGGED_GARBAGE_LINES ? ' (more of this is not logged)' : '';
    this.#events.log(`not a message on stdout: ${oneLine(this.#events.scrubSecrets(sample), 120)}${more}`);
  }

  /** Treats a server that closed a stream as lost, because it cannot answer even if it still runs. */
  async #onStreamsClosed({ closedBy }: StdioUpstream): Promise<void> {
    // The exit usually follows at once and gives a better reason.
    await exitWait();
    if (closedBy === 'input') this.#lost('It no longer reads its input.', 'input_closed');
    else this.#lost('It closed its output.', 'output_closed');
  }

  #lost(reason: string, code: KnownFaultCode): void {
    if (this.#over) return;
    this.#over = true;
    this.#endedItself = true;
    this.#events.onLost(this.#withStderr(reason), code);
  }

  #withStderr(reason: string): string {
    const last = this.#stderr.lastMeaningful();
    if (last !== undefined) return `${reason} It said: ${oneLine(last, 200)}`;
    // A program that is no MCP server often prints its usage.
    if (this.#greeted || this.#firstPrinted === undefined) return reason;
    return `${reason} It printed, where MCP messages belong: ${this.#firstPrinted}`;
  }
}

/** Returns the program of a command. The system's own search would look in relative folders of the `PATH` too. */
function programIn(environment: NodeJS.ProcessEnv, command: string, cwd: string): string | undefined {
  const variable = (name: string): string | undefined =>
    environment[name] ?? Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
  return findProgram(command, { cwd, path: variable('PATH'), pathExt: variable('PATHEXT') });
}

async function exitWait(): Promise<void> {
  for (let step = 0; step < EXIT_WAIT_STEPS; step++) await sleep(EXIT_WAIT_MS / EXIT_WAIT_STEPS);
}

function ended(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    child.once('close', (code, signal) =>
      reject(new Error(`It ended before it answered (${signal ?? `exit code ${code}`}).`)),
    );
  });
}

function describeSpawn(error: NodeJS.ErrnoException, command: string): LinkFailure {
  if (error instanceof LinkFailure) return error;
  if (error.code === 'ENOENT')
    return new LinkFailure(
      `The command "${command}" was not found; install it or give its whole path.`,
      'spawn_enoent',
    );
  if (error.code === 'EACCES')
    return new LinkFailure(`The command "${command}" cannot be run: no permission to execute it.`, 'spawn_eacces');
  return new LinkFailure(
    `The command "${command}" could not be started (${error.code ?? error.message}).`,
    'spawn_failed',
  );
}

function checkFolder(cwd: string): void {
  try {
    accessSync(cwd, constants.R_OK);
    if (statSync(cwd).isDirectory()) return;
  } catch {
    // The error follows below; Node would blame the command for a missing folder.
  }
  throw new LinkFailure(`Its folder ${cwd} does not exist or cannot be entered; correct "cwd".`, 'folder_missing');
}
