import { join } from 'node:path';
import type { GatewayRuntime } from '../host/startWorker.ts';

/** The worker lies beside this program, and the Node that runs us runs it too. */
export function ownRuntime(workspace: string, catalog?: string): GatewayRuntime {
  return {
    workspace,
    ...(catalog === undefined ? {} : { catalog }),
    nodePath: process.execPath,
    workerScript: join(__dirname, 'worker.cjs'),
  };
}
