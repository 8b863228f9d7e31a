import { flushCompileCache } from 'node:module';
import { CACHE_VARIABLE, sweepCompileCaches } from '../../host/attach/compileCache.ts';

/** Late enough that the first answers have been given, and what gave them is kept too. */
const KEEP_AFTER_MS = 2_000;

/** Keeps what is compiled by then for the next worker's start: a worker that is killed leaves it behind all the same. */
export function keepCompiledCode(stateFolder: string): void {
  // It is ours: no server is to find it in its environment, nor a tool that a reference names.
  const isKept = process.env[CACHE_VARIABLE] !== undefined;
  delete process.env[CACHE_VARIABLE];
  if (!isKept) return;
  setTimeout(() => {
    flushCompileCache?.();
    sweepCompileCaches(stateFolder, Date.now());
  }, KEEP_AFTER_MS).unref();
}
