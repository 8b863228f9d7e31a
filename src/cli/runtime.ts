import { join } from 'node:path';
import { stateRoot } from '../config/state/stateFolder.ts';
import { acquireLock } from '../host/attach/startLock.ts';
import type { GatewayRuntime, GatewayTarget } from '../host/attach/startWorker.ts';
import { TrustLog } from '../trust/trustLog.ts';

/** Worker script beside this program, run by the same Node. */
export function ownRuntime({ workspace, configFile, catalog }: GatewayTarget): GatewayRuntime {
  return { workspace, configFile, catalog, nodePath: process.execPath, workerScript: join(__dirname, 'worker.cjs') };
}

/** Log of the trust decisions of all workspaces. */
export function ownTrustLog(): TrustLog {
  return new TrustLog({ folder: stateRoot(), lock: acquireLock, now: () => new Date() });
}

/** Next step where no gateway runs. */
export const START_ONE = 'a client starts it (waygate client-config CLIENT --write), and so does waygate browse /.';

export function noGateway({ workspace, configFile, catalog }: GatewayTarget): string {
  const given = configFile ?? catalog;
  return `No gateway runs for ${workspace}${given === undefined ? '' : ` with ${given}`}.`;
}
