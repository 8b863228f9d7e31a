/**
 * Launcher of a server behind walls: a process between the worker and the server. It owns the proxies of the walls'
 * network, passes the standard streams on untouched, and ends with the server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { oneLine } from '../text/porcelain.ts';
import { PLAN_FD, type ProgramStart, type WallsPlan } from './wallsStart.ts';

/** Exit code of an internal error (sysexits.h). */
const FAILED = 70;
/** Base of the exit code for a signal, as in a shell. */
const BY_SIGNAL = 128;
/** Limit of the removal of the runtime's files after the end of the server. */
const REMOVAL_MS = 500;

/**
 * Reads the start from a pipe and becomes the program. Nothing of it is in a command line, and its variables exist
 * inside the walls only (T6.6).
 */
const INSIDE = `
__next() { IFS= read -r -d '' __item <&${PLAN_FD}; }
__next; cd -- "$__item" || exit ${FAILED}
__next; __left=$__item
set --
while [ "$__left" -gt 0 ]; do __next; set -- "$@" "$__item"; __left=$((__left - 1)); done
while __next; do export "$__item"; done
exec ${PLAN_FD}<&-
unset -f __next; unset __item __left
exec -- "$@"`;

/** Names that the shell sets itself or cannot hold; `env` sets them. */
const SHELL_NAME = /^(?!(?:UID|EUID|PPID|IFS|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|BASH\w*|__\w+)$)[A-Za-z_]\w*$/;
/** Variables of the runtime, which lead to its proxies. */
const PROXY = /_proxy$/i;

async function main(): Promise<void> {
  const plan = JSON.parse(readFileSync(PLAN_FD, 'utf8')) as WallsPlan;
  const { ownFolder } = plan;
  // The runtime takes the folder for temporary files from here.
  process.env.CLAUDE_CODE_TMPDIR = join(ownFolder, 'tmp');
  const { SandboxManager, SandboxRuntimeConfigSchema, runtimeRules } = await import('./runtime.ts');
  const rules = SandboxRuntimeConfigSchema.safeParse(runtimeRules(plan, __dirname));
  if (!rules.success)
    throw new Error(rules.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)[0]);
  await SandboxManager.initialize(rules.data);
  const command = await SandboxManager.wrapWithSandbox(INSIDE, undefined, undefined, undefined, {
    commandId: 'server',
  });
  const { PATH } = process.env;
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], {
    cwd: '/',
    // A shell that takes its input for a connection would run the start files of the user, below this level.
    env: { PATH, SHLVL: '2' },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  const code = exitOf(child);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const pipe = child.stdio[PLAN_FD] as Writable;
  pipe.on('error', () => undefined);
  pipe.end(itemsOf(plan).join(''));
  process.exitCode = await code;
  SandboxManager.cleanupAfterCommand();
  setTimeout(() => process.exit(), REMOVAL_MS).unref();
  await SandboxManager.reset();
  process.exit();
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? BY_SIGNAL + (signal ? constants.signals[signal] : 0)));
  });
}

/** Returns the items that `INSIDE` reads, each with a NUL at its end. */
function itemsOf({ start, ownFolder }: WallsPlan): string[] {
  const { program, args, cwd } = start;
  const variables = Object.entries(insideEnvironment(start, ownFolder));
  const isOdd = ([name]: [string, string]): boolean => !SHELL_NAME.test(name);
  const written = ([name, value]: [string, string]): string => `${name}=${value}`;
  const odd = variables.filter(isOdd).map(written);
  const command = [...(odd.length === 0 ? [] : ['/usr/bin/env', ...odd]), program, ...args];
  const plain = variables.filter((variable) => !isOdd(variable)).map(written);
  return [cwd, String(command.length), ...command, ...plain].map((item) => `${item}\0`);
}

/**
 * Returns the server's variables inside the walls: caches of package runners in its own folder, because a package in a
 * shared cache would run outside the walls too (T6.4), and Node's own proxy support.
 */
function insideEnvironment({ env }: ProgramStart, ownFolder: string): Record<string, string> {
  const cache = join(ownFolder, 'cache');
  const kept = Object.entries(env).filter(([name]) => !PROXY.test(name));
  return {
    npm_config_cache: join(cache, 'npm'),
    BUN_INSTALL_CACHE_DIR: join(cache, 'bun'),
    PIP_CACHE_DIR: join(cache, 'pip'),
    UV_CACHE_DIR: join(cache, 'uv'),
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(kept),
    XDG_CACHE_HOME: cache,
    TMPDIR: join(ownFolder, 'tmp'),
  };
}

main().catch((error: unknown) => {
  const words = error instanceof Error ? error.message : String(error);
  writeSync(2, `Its walls cannot be built: ${oneLine(words)}\n`);
  process.exit(FAILED);
});
