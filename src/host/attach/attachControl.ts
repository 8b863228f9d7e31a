import type { ControlClient } from '../../control/client.ts';
import { attach } from './attach.ts';
import type { GatewayRuntime } from './startWorker.ts';

export type { GatewayRuntime, GatewayTarget } from './startWorker.ts';

/**
 * Attaches to the control channel of the workspace's worker, and starts a worker if `start` is true. Returns
 * `undefined` if no worker runs and `start` is false. Throws an error with one clear sentence.
 */
export async function attachControl(
  runtime: GatewayRuntime,
  options: { start: boolean; holds: boolean; signal?: AbortSignal; log?: (line: string) => void },
): Promise<ControlClient | undefined> {
  const socket = await attach(runtime, { kind: 'control', ...options });
  if (!socket) return undefined;
  // Import on demand: most hosts only forward frames and never need it.
  const { connectControl } = await import('../../control/channel.ts');
  return connectControl(socket);
}
