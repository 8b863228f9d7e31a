import { existsSync } from 'node:fs';
import type { HealthWithoutWorker } from '../control/healthContract.ts';
import { EXIT_NO_WORKER, readOutage } from '../host/attach/lastWorker.ts';
import { type GatewayTarget, gatewayFolder, workerLogFile } from '../host/attach/startWorker.ts';
import { readRendezvous } from '../link/rendezvous.ts';
import { healthText } from '../telemetry/reportText.ts';
import { lifeWithoutWorker } from '../worker/process/workerLife.ts';
import { noGateway } from './runtime.ts';

/** Reports the health of a gateway without a worker, from the files of its hosts and its last worker. */
export function healthOnDisk(target: GatewayTarget): HealthWithoutWorker {
  const folder = gatewayFolder(target);
  const outage = readOutage(folder);
  if (outage) return outage;
  // A worker that stops regularly removes its rendezvous file.
  const lost = readRendezvous(folder);
  const log = workerLogFile(folder);
  return {
    workspace: target.workspace,
    state: 'cold',
    ...lifeWithoutWorker(folder, lost),
    uptime_ms: 0,
    rollout: 'stable',
    worker_handshake: lost ? 'failed' : 'absent',
    supervision: 'idle',
    condition: 'cold',
    problems: lost ? [`Its worker (pid ${lost.pid}) exited unexpectedly; the next client starts another.`] : [],
    servers: [],
    ...(existsSync(log) ? { worker_log: log } : {}),
  };
}

/** Renders the health on disk; a single sentence if nothing is wrong. */
export function textOnDisk(target: GatewayTarget, health: HealthWithoutWorker): string {
  if (health.condition === 'down') return healthText(health);
  return health.problems.length === 0 ? noGateway(target) : `${noGateway(target)}\n${healthText(health)}`;
}

export function exitCodeOf({ condition }: Pick<HealthWithoutWorker, 'condition'>): number {
  return condition === 'down' ? EXIT_NO_WORKER : 0;
}
