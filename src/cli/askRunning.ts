import { type ControlClient, GatewayGoneError } from '../control/client.ts';
import { attachControl, type GatewayTarget } from '../host/attach/attachControl.ts';
import { inTime } from './inTime.ts';
import { ownRuntime } from './runtime.ts';

/** Retries before the command fails: each worker exited while it was being asked. */
const MAX_ASKED = 3;

/**
 * Sends a query to the running gateway; resolves to `undefined` if none is running. If the worker exits during the
 * query, asks its successor, if there is one. Only for queries that may be repeated.
 */
export async function askRunning<T>(
  target: GatewayTarget,
  question: (control: ControlClient) => Promise<T>,
): Promise<T | undefined> {
  for (let asked = 1; ; asked++) {
    const control = await attachControl(ownRuntime(target), { start: false, holds: false });
    if (!control) return undefined;
    try {
      return await inTime(question(control), 'the gateway');
    } catch (error) {
      if (!(error instanceof GatewayGoneError) || asked === MAX_ASKED) throw error;
    } finally {
      control.dispose();
    }
  }
}
