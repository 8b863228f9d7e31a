import { GatewayGoneError } from '../../control/client.ts';
import { attachControl, type GatewayTarget } from '../../host/attach/attachControl.ts';
import { isAlive } from '../../lib/isAlive.ts';
import type { Printed } from '../commands.ts';
import { inTime } from '../inTime.ts';
import { print } from '../print.ts';
import { noGateway, ownRuntime } from '../runtime.ts';

/** More than the three seconds in which a worker stops its servers. */
const STOP_TIMEOUT_MS = 5_000;

export async function stop(command: GatewayTarget & Printed): Promise<number> {
  const { json, ...target } = command;
  const control = await attachControl(ownRuntime(target), { start: false, holds: false });
  if (!control) {
    print(json, { workspace: target.workspace, stopped: null }, `${noGateway(target)}\n`);
    return 0;
  }
  const running = await unlessGone(inTime(control.request('status', {}), 'the gateway'));
  // A gateway that has ended meanwhile may have a successor.
  if (!running) return stop(command);
  const { worker } = running;
  const gone = new Promise<boolean>((resolve) => {
    setTimeout(() => resolve(false), STOP_TIMEOUT_MS).unref();
    control.onClose(() => resolve(true));
  });
  await unlessGone(inTime(control.request('stop', {}), `the gateway (pid ${worker.pid})`));
  if (!(await gone) || !(await ended(worker.pid))) {
    throw new Error(`the gateway (pid ${worker.pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} s; see its log.`);
  }
  const { pid } = worker;
  const data = { workspace: target.workspace, stopped: { pid } };
  print(json, data, `Stopped the gateway of ${target.workspace} (pid ${pid}).\n`);
  return 0;
}

/** Returns the answer, or `undefined` where the gateway ended before it had answered. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GatewayGoneError) return undefined;
    throw error;
  }
}

async function ended(pid: number): Promise<boolean> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (!isAlive(pid)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
