import { exitCode, start } from './processes.mjs';
import { SetupError } from './setupError.mjs';

/** Interval of the lines that show progress where output is not a terminal. */
const QUIET_INTERVAL_MS = 10_000;
const TAIL_LINES = 30;

/**
 * Shows how long `work` has been running: a counting line on a terminal, a line at intervals elsewhere.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withProgress(title, work) {
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
  const live = process.stdout.isTTY === true;
  const show = () => process.stdout.write(live ? `\r\x1b[K${title} … ${seconds()}` : `${title} … ${seconds()}\n`);
  show();
  const timer = setInterval(show, live ? 1_000 : QUIET_INTERVAL_MS);
  const end = (/** @type {string} */ mark) => {
    clearInterval(timer);
    process.stdout.write(`${live ? '\r\x1b[K' : ''}${title} … ${mark} after ${seconds()}\n`);
  };
  try {
    const result = await work();
    end('done');
    return result;
  } catch (error) {
    end('failed');
    throw error;
  }
}

/**
 * Runs a program and shows the last lines of its output only if it fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ failure: string, cwd?: string, env?: NodeJS.ProcessEnv }} options `failure`: one sentence for the user
 */
export async function runQuietly(command, args, { failure, ...options }) {
  const child = start(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (/** @type {Buffer} */ chunk) => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const code = await exitCode(child).catch((error) => {
    throw new SetupError(`${failure} (${command} could not be started: ${error.message})`);
  });
  if (code === 0) return;
  console.error(output.trimEnd().split('\n').slice(-TAIL_LINES).join('\n'));
  throw new SetupError(failure);
}
