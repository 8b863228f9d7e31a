import { gatewayFolder } from '../../host/attach/startWorker.ts';
import { eventLogFile } from '../../telemetry/eventLog.ts';
import { eventText, followEvents } from '../../telemetry/followEvents.ts';
import { telemetryText } from '../../telemetry/reportText.ts';
import { askRunning } from '../askRunning.ts';
import type { FollowCommand } from '../commands.ts';
import { jsonText, printNext, printProblem, printText } from '../print.ts';
import { noGateway, START_ONE } from '../runtime.ts';

/** Prints the counts so far; with `--follow` then every event, also of later workers. */
export async function telemetry({ json, follow, ...target }: FollowCommand): Promise<number> {
  const { workspace } = target;
  try {
    const report = await askRunning(target, (control) => control.request('telemetry', {}));
    if (json) printText(jsonText(report ?? { workspace, state: 'cold', totals: null }, follow ? 0 : 2));
    else printText(report ? `${telemetryText(report)}\n` : `${noGateway(target)}\n`);
    if (!report) printNext(json || follow, START_ONE);
  } catch (error) {
    if (!follow) throw error;
    // A hanging worker may recover or be replaced: report the error and go on.
    printProblem((error as Error).message);
  }
  if (!follow) return 0;
  const file = eventLogFile(gatewayFolder(target));
  const stop = new AbortController();
  // The reader of the output may exit first.
  process.stdout.once('error', () => stop.abort());
  for await (const record of followEvents(file, { signal: stop.signal })) {
    printText(json ? jsonText(record, 0) : `${eventText(record)}\n`);
  }
  return 0;
}
