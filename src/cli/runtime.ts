import { join } from 'node:path';
import type { GatewayRuntime, GatewayTarget } from '../host/attach/startWorker.ts';

/** Worker script beside this program, run by the same Node. */
export function ownRuntime({ workspace, configFile, catalog }: GatewayTarget): GatewayRuntime {
  return { workspace, configFile, catalog, nodePath: process.execPath, workerScript: join(__dirname, 'worker.cjs') };
}

export function noGateway({ workspace, configFile, catalog }: GatewayTarget): string {
  const given = configFile ?? catalog;
  return `No gateway runs for ${workspace}${given === undefined ? '' : ` with ${given}`}.`;
}
