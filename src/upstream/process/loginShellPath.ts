import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { safeEnvironment } from './childEnvironment.ts';
import { endGroup } from './processTree.ts';

/** What a desktop gives a program it starts; whoever has installed anything by hand has more in his shell. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  ['/usr', '/usr/local', '']
    .flatMap((root) => [`${root}/bin`, `${root}/sbin`])
    .concat(['/usr/games', '/usr/local/games', '/snap/bin', '/var/lib/snapd/snap/bin', '/usr/lib/wsl/lib']),
);
/** A shell whose start files wait for something must not keep a server waiting. */
const TIME_LIMIT_MS = 5_000;
const MARK = 'waygate-path';
/** Greetings of start files come before it; more than this is not read. */
const MAX_OUTPUT = 256 * 1024;

/**
 * The worker's own environment, with the PATH of the person's login shell where ours is a desktop's: a server must be
 * found in an editor that was started from a dock as it is in one that was started from a terminal.
 */
export class OwnEnvironment {
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: (line: string) => void;
  #asked: Promise<string | undefined> | undefined;

  constructor(env: NodeJS.ProcessEnv, log: (line: string) => void = () => undefined) {
    this.#env = env;
    this.#log = log;
  }

  /** For a start. */
  async forStart(): Promise<NodeJS.ProcessEnv> {
    return looksLikeADesktops(this.#env.PATH) ? ((await this.forMissing()) ?? this.#env) : this.#env;
  }

  /** Once a command was not found; `undefined` where the shell knows no more than we do. The shell is asked once. */
  async forMissing(): Promise<NodeJS.ProcessEnv | undefined> {
    this.#asked ??= this.#ask();
    const path = await this.#asked;
    return path === undefined ? undefined : { ...this.#env, PATH: path };
  }

  async #ask(): Promise<string | undefined> {
    const shell = this.#env.SHELL;
    if (process.platform === 'win32' || !shell?.startsWith('/')) return undefined;
    const answer = await askShell(shell, this.#env);
    if (typeof answer === 'object') {
      this.#log(`the login shell ${shell} did not tell its PATH: ${answer.problem}`);
      return undefined;
    }
    const own = foldersOf(this.#env.PATH);
    const theirs = foldersOf(answer);
    // What we have and the shell has not (an editor's own folders) stays, behind it.
    const all = [...new Set([...theirs, ...own])];
    if (theirs.every((folder) => own.includes(folder))) return undefined;
    this.#log(`servers are looked for by the PATH of the login shell ${shell}`);
    return all.join(delimiter);
  }
}

export function looksLikeADesktops(path: string | undefined): boolean {
  return foldersOf(path).every((folder) => SYSTEM_FOLDERS.has(folder.replace(/\/+$/, '')));
}

function foldersOf(path: string | undefined): string[] {
  return (path ?? '').split(delimiter).filter((folder) => folder !== '');
}

function askShell(shell: string, env: NodeJS.ProcessEnv): Promise<string | { problem: string }> {
  return new Promise((resolve) => {
    // In quotes, `$PATH` has colons in every shell that knows these options; a mark apart keeps greetings out of it.
    const child = spawn(shell, ['-ilc', `printf '%s' "${MARK}=$PATH=${MARK}"`], {
      env: loginEnvironment(env),
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      // A terminal of its own to lose: an interactive shell must not take ours.
      detached: true,
    });
    let output = '';
    const settle = (answer: string | { problem: string }): void => {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.stdout.destroy();
      // Whatever its start files have left running ends with it.
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
 * What a login would give a shell. Not the mark of our run: an agent that its start files leave running, as they do in
 * any terminal, is the person's and not ours.
 */
function loginEnvironment({ ZDOTDIR, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // The session says where, if somebody keeps the start files of zsh elsewhere.
  return safeEnvironment(env, { WAYGATE_READS_PATH: '1', ...(ZDOTDIR === undefined ? {} : { ZDOTDIR }) });
}
