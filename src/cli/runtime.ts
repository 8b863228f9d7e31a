import { basename, join } from 'node:path';
import { stateRoot } from '../config/state/stateFolder.ts';
import { acquireLock } from '../host/attach/startLock.ts';
import { type GatewayRuntime, type GatewayTarget, gatewayFolder } from '../host/attach/startWorker.ts';
import { TrustLog } from '../trust/trustLog.ts';

/** Worker script beside this program, run by the same Node. */
export function ownRuntime({ workspace, configFile, catalog }: GatewayTarget): GatewayRuntime {
  return { workspace, configFile, catalog, nodePath: process.execPath, workerScript: join(__dirname, 'worker.cjs') };
}

/** Log of the trust decisions of all workspaces. Decisions about a gateway are marked with its state folder. */
export function ownTrustLog(target?: GatewayTarget): TrustLog {
  const place = target && { workspace: basename(gatewayFolder(target)) };
  return new TrustLog({ folder: stateRoot(), ...place, lock: acquireLock, now: () => new Date() });
}

/** Next step where no gateway runs. */
export const START_ONE = 'a client starts it (waygate client-config CLIENT --write), and so does waygate browse /.';

export function noGateway({ workspace, configFile, catalog }: GatewayTarget): string {
  const given = configFile ?? catalog;
  return `No gateway runs for ${workspace}${given === undefined ? '' : ` with ${given}`}.`;
}
