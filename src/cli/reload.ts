import { rollOut } from '../host/rollOut.ts';
import type { GatewayTarget } from '../host/startWorker.ts';
import { noGateway, ownRuntime } from './runtime.ts';

/** Blue/green: what fails to take over leaves the gateway that runs as it is, and is told. */
export async function reload(target: GatewayTarget): Promise<number> {
  let rollout: Awaited<ReturnType<typeof rollOut>>;
  try {
    rollout = await rollOut(ownRuntime(target));
  } catch (error) {
    throw new Error(`the gateway was not reloaded and serves on as it was: ${(error as Error).message}`);
  }
  process.stdout.write(
    rollout.kind === 'done'
      ? `Reloaded the gateway of ${target.workspace} (pid ${rollout.pid}, before ${rollout.replaced}).\n`
      : `${noGateway(target)}\n`,
  );
  return 0;
}
