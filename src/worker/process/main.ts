import { randomBytes } from 'node:crypto';
import { closeSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { CACHE_VARIABLE, sweepCompileCaches } from '../../host/attach/compileCache.ts';
import { READY_FD } from '../../host/attach/startWorker.ts';
import { optimizeEarly } from '../../lib/optimizeEarly.ts';
import { writeLog } from './workerLog.ts';
import { WorkerProcess } from './workerProcess.ts';

/** Delay before the compiled code is saved, so that the first answers come first. */
const KEEP_AFTER_MS = 2_000;

/**
 * The worker program: one per workspace, started by the first host that needs it. A separate descriptor reports that it
 * is ready, or the error in one sentence; stderr is its log.
 */
async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: { workspace: text, state: text, config: text, catalog: text, candidate: flag, 'for-command': flag },
  });
  const { workspace, state: stateFolder, config: configFile, catalog } = values;
  if (!workspace || !stateFolder) throw new Error('The worker needs --workspace and --state.');
  keepCompiledCode(stateFolder);
  optimizeEarly();
  const worker = new WorkerProcess({
    workspace,
    stateFolder,
    ...(configFile === undefined ? {} : { configFile }),
    candidate: values.candidate === true,
    awaitsSession: values['for-command'] !== true,
    token: randomBytes(32).toString('hex'),
    ...(catalog === undefined ? {} : await served(catalog)),
    onServing: () => reportStart('ready'),
    onEnd: () => process.exit(0),
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => void worker.stop(`signal ${signal}`));
  }
  // Write errors, for instance of a full disk, must not end the worker.
  process.stderr.on('error', () => undefined);
  await worker.start();
}

/** Loads the static catalog. Few users need it, so its reader is a bundle of its own. */
async function served(catalog: string) {
  const { staticCatalog } = await import('../gateway/staticCatalog.ts');
  return staticCatalog(catalog);
}

function reportStart(line: string): void {
  try {
    writeSync(READY_FD, `${line}\n`);
    closeSync(READY_FD);
  } catch {
    // The worker was started by hand, or its host has gone. Serve anyway.
  }
}

/** Saves the compiled code for the next worker's start while this worker runs, since it may be killed later. */
function keepCompiledCode(stateFolder: string): void {
  // Servers and `${env:…}` references must not see this variable of Waygate.
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
  reportStart(error.message.split('\n')[0] as string);
  process.exit(1);
});
