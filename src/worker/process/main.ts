import { randomBytes } from 'node:crypto';
import { closeSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { CACHE_VARIABLE, sweepCompileCaches } from '../../host/attach/compileCache.ts';
import { READY_FD } from '../../host/attach/startWorker.ts';
import { writeLog } from './workerLog.ts';
import { WorkerProcess } from './workerProcess.ts';

/** Delay after which the compiled code is kept: the first answers have been given by then. */
const KEEP_AFTER_MS = 2_000;

/**
 * The worker program: one per workspace, started by whoever needs it first. It says on a descriptor of its own that it
 * is ready, or in one sentence why it cannot be; stderr is its log.
 */
async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: { workspace: text, state: text, config: text, catalog: text, candidate: flag },
  });
  const { workspace, state: stateFolder, config: configFile, catalog } = values;
  if (!workspace || !stateFolder) throw new Error('The worker needs --workspace and --state.');
  keepCompiledCode(stateFolder);
  const worker = new WorkerProcess({
    workspace,
    stateFolder,
    ...(configFile === undefined ? {} : { configFile }),
    candidate: values.candidate === true,
    token: randomBytes(32).toString('hex'),
    ...(catalog === undefined ? {} : await served(catalog)),
    onServing: () => say('ready'),
    onEnd: () => process.exit(0),
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => void worker.stop(`signal ${signal}`));
  }
  // The log's disk may be full: that is no reason to go.
  process.stderr.on('error', () => undefined);
  await worker.start();
}

/** Few ever serve a catalog: what reads one has a bundle of its own. */
async function served(catalog: string) {
  const { staticCatalog } = await import('../gateway/staticCatalog.ts');
  return staticCatalog(catalog);
}

function say(line: string): void {
  try {
    writeSync(READY_FD, `${line}\n`);
    closeSync(READY_FD);
  } catch {
    // Started by hand, or whoever waited has gone: the worker serves all the same.
  }
}

/** Keeps what is compiled by then for the next worker's start: a worker that is killed leaves it behind all the same. */
function keepCompiledCode(stateFolder: string): void {
  // It is ours: no server is to find it in its environment, nor a tool that a reference names.
  const isKept = process.env[CACHE_VARIABLE] !== undefined;
  delete process.env[CACHE_VARIABLE];
  if (!isKept) return;
  setTimeout(() => {
    flushCompileCache?.();
    sweepCompileCaches(stateFolder, Date.now());
  }, KEEP_AFTER_MS).unref();
}

main().catch((error: Error) => {
  writeLog(error.stack ?? error.message);
  say(error.message.split('\n')[0] as string);
  process.exit(1);
});
