import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthReport, HealthWithoutWorker } from '../../control/healthContract.ts';
import type { GatewayTarget } from '../../host/attach/startWorker.ts';
import { healthText } from '../../telemetry/reportText.ts';
import { askRunning } from '../askRunning.ts';
import type { FollowCommand } from '../commands.ts';
import { jsonText, printNext, printProblem, printText } from '../print.ts';
import { START_ONE } from '../runtime.ts';
import { exitCodeOf, healthOnDisk, textOnDisk } from '../withoutWorker.ts';

const FOLLOW_INTERVAL_MS = 1_000;

/** Prints the health of the gateway; with `--follow` also every change, including when the gateway stops or starts. */
export async function health({ json, follow, ...target }: FollowCommand): Promise<number> {
  let printed = '';
  for (;;) {
    try {
      const report = await healthOf(target);
      const key = changing(report);
      if (key !== printed) {
        printText(json ? jsonText(report, follow ? 0 : 2) : `${textOf(target, report)}\n`);
      }
      printed = key;
      if (!follow) {
        if (!isWithoutWorker(report)) return 0;
        if (report.condition === 'cold') printNext(json, START_ONE);
        return exitCodeOf(report);
      }
    } catch (error) {
      if (!follow) throw error;
      // A hanging worker may recover or be replaced: report the error and go on.
      const { message } = error as Error;
      if (message !== printed) printProblem(message);
      printed = message;
    }
    await sleep(FOLLOW_INTERVAL_MS);
  }
}

async function healthOf(target: GatewayTarget): Promise<HealthReport | HealthWithoutWorker> {
  return (await askRunning(target, (control) => control.request('health', {}))) ?? healthOnDisk(target);
}

const CHANGES_BY_ITSELF: ReadonlySet<string> = new Set(['uptime_ms', 'next_attempt_in_ms', 'written']);

/** Serialises the report without the values that change with time alone. */
function changing(report: HealthReport | HealthWithoutWorker): string {
  return JSON.stringify(report, (name, value: unknown) => (CHANGES_BY_ITSELF.has(name) ? undefined : value));
}

function textOf(target: GatewayTarget, report: HealthReport | HealthWithoutWorker): string {
  return isWithoutWorker(report) ? textOnDisk(target, report) : healthText(report);
}

function isWithoutWorker(report: HealthReport | HealthWithoutWorker): report is HealthWithoutWorker {
  return 'supervision' in report;
}
