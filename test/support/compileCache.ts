import { resolve } from 'node:path';

/**
 * Environment for programs that tests run from source again and again: Node keeps what it compiled for the next run,
 * which halves what such a run costs.
 */
export function withCompileCache(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/waygate-tests') };
}
