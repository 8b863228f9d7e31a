import type { ControlClient } from '../../control/client.ts';
import { attach } from './attach.ts';
import type { GatewayRuntime } from './startWorker.ts';

export type { GatewayRuntime, GatewayTarget } from './startWorker.ts';

/**
 * Finds the workspace's worker and attaches to its control channel, starting one when `start` is true; `undefined`
 * when none runs and none may be started. Throws an error whose message is one clear sentence.
 */
export async function attachControl(
  runtime: GatewayRuntime,
  options: { start: boolean; holds: boolean; signal?: AbortSignal; log?: (line: string) => void },
): Promise<ControlClient | undefined> {
  const socket = await attach(runtime, { kind: 'control', ...options });
  if (!socket) return undefined;
  // Loaded when it is needed: a host that only forwards frames never pays for it.
  const { connectControl } = await import('../../control/channel.ts');
  return connectControl(socket);
}
