import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const WAYGATE = resolve('dist/waygate.cjs');
const WORKER = resolve('dist/worker.cjs');
/** Compiled code of the worker under test as the first worker of a user leaves it for the next. */
const COMPILED = resolve('.out/compile-cache');

/**
 * Returns an environment for programs that tests run from source repeatedly: Node caches their compiled code, which
 * halves the time of a run.
 */
export function withCompileCache(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/waygate-tests') };
}

/** Has a worker leave its compiled code, unless one of this build has done so. */
export function compileWorker(): void {
  const made = globSync(`*/${process.version}-*/*`, { cwd: COMPILED }).map((file) => statSync(join(COMPILED, file)));
  if (made.some(({ mtimeMs }) => mtimeMs > statSync(WORKER).mtimeMs)) return;
  mkdirSync(dirname(COMPILED), { recursive: true });
  const root = mkdtempSync(`${COMPILED}-`);
  const env = {
    ...process.env,
    WAYGATE_STATE_DIR: join(root, 'state'),
    WAYGATE_CONFIG_DIR: root,
    WAYGATE_WALLS: 'off',
  };
  try {
    for (const args of [['browse', '/'], ['stop']])
      execFileSync(process.execPath, [WAYGATE, ...args, '--workspace', root], { env });
    rmSync(COMPILED, { recursive: true, force: true });
    renameSync(join(root, 'state', 'compile-cache'), COMPILED);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** State folders that have received it: what a test removes stays away. */
const given = new Set<string>();

/**
 * Gives a new state folder the compiled code, so that a worker of the test starts as the second one of a user does, with
 * a quarter less computing.
 */
export function giveCompiledCode(stateDir: string): void {
  const folder = join(stateDir, 'compile-cache');
  if (given.has(stateDir) || existsSync(folder)) return;
  given.add(stateDir);
  // A test of a state folder that cannot be used is one without compiled code.
  if (existsSync(stateDir) && !statSync(stateDir).isDirectory()) return;
  for (const file of globSync('*/*/*', { cwd: COMPILED })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true, mode: 0o700 });
    copyFileSync(join(COMPILED, file), join(folder, file));
  }
}
