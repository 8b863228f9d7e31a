import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../control/client.ts';
import type { HealthReport } from '../control/healthContract.ts';
import { attachControl } from '../host/attachControl.ts';
import type { GatewayTarget } from '../host/startWorker.ts';
import { healthText } from '../surface/systemReports.ts';
import type { FollowCommand } from './commands.ts';
import { inTime } from './inTime.ts';
import { noGateway, ownRuntime } from './runtime.ts';

const FOLLOW_INTERVAL_MS = 1_000;
const PASSING: ReadonlySet<string> = new Set(['uptime_ms', 'next_attempt_in_ms']);

/** How the gateway fares; with `--follow` again whenever that has changed, also when it goes and comes. */
export async function health({ json, follow, ...target }: FollowCommand): Promise<number> {
  let told = '';
  for (;;) {
    const report = await healthOf(target);
    const key = report === undefined ? 'none' : changing(report);
    if (key !== told)
      process.stdout.write(json ? `${jsonOf(target.workspace, report, follow)}\n` : `${textOf(target, report)}\n`);
    told = key;
    if (!follow) return 0;
    await sleep(FOLLOW_INTERVAL_MS);
  }
}

async function healthOf(target: GatewayTarget): Promise<HealthReport | undefined> {
  const control: ControlClient | undefined = await attachControl(ownRuntime(target), { start: false, holds: false });
  try {
    return control && (await inTime(control.request('health', {}), 'the gateway'));
  } finally {
    control?.dispose();
  }
}

/** All but what changes by itself as time goes by. */
function changing({ event_log: log, ...report }: HealthReport): string {
  const { written: _written, ...trouble } = log;
  return JSON.stringify({ ...report, trouble }, (name, value: unknown) => (PASSING.has(name) ? undefined : value));
}

function textOf(target: GatewayTarget, report: HealthReport | undefined): string {
  return report === undefined ? noGateway(target) : healthText(report);
}

/** With no worker the shape stays: nothing runs, and nothing is wrong. */
function jsonOf(workspace: string, report: HealthReport | undefined, oneLine: boolean): string {
  const none = {
    workspace,
    state: 'cold',
    worker_handshake: 'absent',
    generation: 0,
    uptime_ms: 0,
    consecutive_failures: 0,
    restart_count: 0,
    rollout: 'stable',
    servers: [],
  };
  return JSON.stringify(report ?? none, null, oneLine ? 0 : 2);
}
