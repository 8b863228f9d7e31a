import { IncumbentLostError, rollOut } from '../../host/attach/rollOut.ts';
import type { GatewayTarget } from '../../host/attach/startWorker.ts';
import type { Printed } from '../commands.ts';
import { print, printNext } from '../print.ts';
import { noGateway, ownRuntime, START_ONE } from '../runtime.ts';

/**
 * Replaces the worker by a new one (blue/green). If the new worker fails, the old one goes on and the error is
 * reported.
 */
export async function reload({ json, ...target }: GatewayTarget & Printed): Promise<number> {
  let rollout: Awaited<ReturnType<typeof rollOut>>;
  try {
    rollout = await rollOut(ownRuntime(target));
  } catch (error) {
    const serves = error instanceof IncumbentLostError ? '' : '; the running one continues unchanged';
    throw new Error(`the gateway was not reloaded${serves}: ${(error as Error).message}`);
  }
  if (rollout.kind !== 'done') {
    print(json, { workspace: target.workspace, worker: null }, `${noGateway(target)}\n`);
    printNext(json, START_ONE);
  } else {
    const { pid, replaced } = rollout;
    const text = `Reloaded the gateway of ${target.workspace} (pid ${pid}, previously ${replaced}).\n`;
    print(json, { workspace: target.workspace, worker: { pid, replaced } }, text);
  }
  return 0;
}
