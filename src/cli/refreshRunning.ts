import { attachControl } from '../host/attachControl.ts';
import { ownRuntime } from './runtime.ts';

/** Has the workspace's gateway, if one runs, look at its servers again. It need not be waited for. */
export async function refreshRunning(workspace: string): Promise<boolean> {
  const control = await attachControl(ownRuntime(workspace), { start: false, holds: false });
  if (!control) return false;
  // The answer comes when every server has answered; that the request has arrived is told by the next one's answer.
  void control.request('refresh', {}).catch(() => undefined);
  await control.request('status', {});
  control.dispose();
  return true;
}
