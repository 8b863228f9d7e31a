import type { ControlClient } from '../control/client.ts';

/** What the host needs to find or start a workspace's worker. */
export interface GatewayRuntime {
  workspace: string;
  nodePath: string;
  workerScript: string;
  stateDir?: string;
  env?: NodeJS.ProcessEnv;
}

/**
 * The seam between the editor and the host room; the host room provides the implementation.
 * Finds the workspace's worker and attaches to it, starting one when `start` is true; undefined when none runs and
 * `start` is false. `holds` keeps the worker alive while attached. Throws an Error whose message is one clear sentence.
 */
export declare function attachControl(
  runtime: GatewayRuntime,
  options: { start: boolean; holds: boolean; signal?: AbortSignal },
): Promise<ControlClient | undefined>;
