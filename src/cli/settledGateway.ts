import type { ControlClient } from '../control/client.ts';
import { attachControl, type GatewayRuntime, type GatewayTarget } from '../host/attach/attachControl.ts';
import { inLines } from '../text/porcelain.ts';
import { printAside } from './print.ts';
import { ownRuntime } from './runtime.ts';

/** Longest wait for servers that are starting; after that the answer comes without them. */
const SETTLE_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** Time after which a waiting command names the servers it waits for. */
const PATIENCE_MS = 1_000;

type Use = (control: ControlClient) => Promise<void>;

/**
 * Attaches to the gateway, starting it if necessary, and waits until no server is starting. `elsewhere` selects a
 * gateway with a state of its own.
 */
export async function withSettledGateway<T>(
  target: GatewayTarget,
  use: (control: ControlClient) => Promise<T>,
  { elsewhere, before }: { elsewhere?: Pick<GatewayRuntime, 'stateDir' | 'env'>; before?: Use } = {},
): Promise<T> {
  const control = await attachControl(
    { ...ownRuntime(target), ...elsewhere, forCommand: true },
    { start: true, holds: true },
  );
  if (!control) throw new Error(`the gateway of ${target.workspace} could not be started.`);
  try {
    await before?.(control);
    await settled(control);
    return await use(control);
  } finally {
    control.dispose();
  }
}

async function settled(control: ControlClient): Promise<void> {
  const started = performance.now();
  let announced = false;
  while (performance.now() - started < SETTLE_TIMEOUT_MS) {
    const { servers } = await control.request('status', {});
    const starting = servers.filter((server) => server.state === 'starting').map((server) => server.name);
    if (starting.length === 0) return;
    if (!announced && performance.now() - started > PATIENCE_MS) {
      announced = true;
      printAside(`waiting for ${inLines(starting).join(', ')} …\n`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
