import { attachControl, type GatewayTarget } from '../host/attach/attachControl.ts';
import { ownRuntime } from './runtime.ts';

/** Has a gateway, if it runs, look at its servers again. It need not be waited for. */
export async function refreshRunning(target: GatewayTarget): Promise<boolean> {
  const control = await attachControl(ownRuntime(target), { start: false, holds: false });
  if (!control) return false;
  // The answer comes when every server has answered; that the request has arrived is told by the next one's answer.
  void control.request('refresh', {}).catch(() => undefined);
  await control.request('status', {});
  control.dispose();
  return true;
}
