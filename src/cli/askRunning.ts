import { type ControlClient, GatewayGoneError } from '../control/client.ts';
import { attachControl, type GatewayTarget } from '../host/attach/attachControl.ts';
import { inTime } from './inTime.ts';
import { ownRuntime } from './runtime.ts';

/** Workers that end one after the other as they are asked are told of by an error. */
const MAX_ASKED = 3;

/**
 * Asks the gateway that runs; `undefined` when none does. One that goes as it is asked is asked no more: whoever has
 * taken its place answers, if somebody has. For questions alone, which may be asked twice.
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
