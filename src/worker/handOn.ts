import { setTimeout as sleep } from 'node:timers/promises';
import { connectControl } from '../control/channel.ts';
import type { KeptCounts } from '../control/healthContract.ts';
import { tryAttach } from '../host/attach.ts';

/** A successor that hangs must not keep the one that leaves. */
const TIMEOUT_MS = 1_000;

/** Tells the worker that serves now what this one has counted. Whether it has taken it. */
export async function handOn(folder: string, counts: KeptCounts): Promise<boolean> {
  const { socket } = await tryAttach(folder, { kind: 'control', start: false, holds: false }, undefined);
  if (!socket) return false;
  const control = connectControl(socket);
  try {
    const late = sleep(TIMEOUT_MS, { inherited: false }, { ref: false });
    return (await Promise.race([control.request('inherit', counts), late])).inherited;
  } catch {
    return false;
  } finally {
    control.dispose();
  }
}
