import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { safeEnvironment } from './childEnvironment.ts';
import { endGroup } from './processTree.ts';

/** Folders in the PATH that a desktop gives its programs. A login shell usually has more. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  ['/usr', '/usr/local', '']
    .flatMap((root) => [`${root}/bin`, `${root}/sbin`])
    .concat(['/usr/games', '/usr/local/games', '/snap/bin', '/var/lib/snapd/snap/bin', '/usr/lib/wsl/lib']),
);
/** Limit for a shell whose start files wait for something. */
const TIME_LIMIT_MS = 5_000;
const MARK = 'waygate-path';
/** Bound of the output that start files may write before the answer. */
const MAX_OUTPUT = 256 * 1024;

/**
 * Provides the environment for servers. If the worker's PATH is a desktop's, uses the PATH of the user's login shell,
 * so that an editor started from a dock finds the same servers as one started from a terminal.
 */
export class OwnEnvironment {
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: (line: string) => void;
  #asked: Promise<string | undefined> | undefined;
  #found: string | undefined;

  constructor(env: NodeJS.ProcessEnv, log: (line: string) => void = () => undefined) {
    this.#env = env;
    this.#log = log;
  }

  /** `PATH` as far as it is known. */
  get path(): string | undefined {
    return this.#found ?? this.#env.PATH;
  }

  /** Returns the environment for a start. */
  async forStart(): Promise<NodeJS.ProcessEnv> {
    return isDesktopPath(this.#env.PATH) ? ((await this.forMissing()) ?? this.#env) : this.#env;
  }

  /**
   * Returns the environment for a retry after a missing command; `undefined` if the shell's PATH adds nothing. Runs the
   * shell once.
   */
  async forMissing(): Promise<NodeJS.ProcessEnv | undefined> {
    this.#asked ??= this.#ask();
    const path = await this.#asked;
    this.#found = path;
    return path === undefined ? undefined : { ...this.#env, PATH: path };
  }

  async #ask(): Promise<string | undefined> {
    const shell = this.#env.SHELL;
    if (process.platform === 'win32' || !shell?.startsWith('/')) return undefined;
    const answer = await askShell(shell, this.#env);
    if (typeof answer === 'object') {
      this.#log(`the login shell ${shell} did not report its PATH: ${answer.problem}`);
      return undefined;
    }
    const own = foldersOf(this.#env.PATH);
    const theirs = foldersOf(answer);
    // Folders that only the worker has, such as an editor's own, follow last.
    const all = [...new Set([...theirs, ...own])];
    if (theirs.every((folder) => own.includes(folder))) return undefined;
    this.#log(`using the PATH of the login shell ${shell} to find servers`);
    return all.join(delimiter);
  }
}

export function isDesktopPath(path: string | undefined): boolean {
  return foldersOf(path).every((folder) => SYSTEM_FOLDERS.has(folder.replace(/\/+$/, '')));
}

function foldersOf(path: string | undefined): string[] {
  return (path ?? '').split(delimiter).filter((folder) => folder !== '');
}

function askShell(shell: string, env: NodeJS.ProcessEnv): Promise<string | { problem: string }> {
  return new Promise((resolve) => {
    // Quoted `$PATH` has colons in every shell that knows these options; the marks separate it from greetings.
    const child = spawn(shell, ['-ilc', `printf '%s' "${MARK}=$PATH=${MARK}"`], {
      env: loginEnvironment(env),
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      // Own terminal session: an interactive shell must not take over the worker's terminal.
      detached: true,
    });
    let output = '';
    const settle = (answer: string | { problem: string }): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.stdout.destroy();
      // End processes that the start files have left running.
      if (child.pid !== undefined) void endGroup(child.pid);
      resolve(answer);
    };
    const timer = setTimeout(
      () => settle({ problem: `it took longer than ${TIME_LIMIT_MS / 1_000} s` }),
      TIME_LIMIT_MS,
    );
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT);
      const path = new RegExp(`${MARK}=([^\\0\\n]*)=${MARK}`).exec(output)?.[1];
      if (path !== undefined) settle(path);
    });
    child.once('error', (error: NodeJS.ErrnoException) => settle({ problem: error.code ?? error.message }));
    child.once('close', (code, signal) => settle({ problem: `it ended (${signal ?? `exit code ${code}`})` }));
  });
}

/**
 * Returns a login environment for the shell. Omits the run's mark, because an agent that start files launch belongs to
 * the user, not to the gateway.
 */
function loginEnvironment({ ZDOTDIR, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Keeps a custom folder of zsh start files.
  return safeEnvironment(env, { WAYGATE_READS_PATH: '1', ...(ZDOTDIR === undefined ? {} : { ZDOTDIR }) });
}
