import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../config/declaration/document.ts';
import { type ServerState, serverState } from '../../control/serverStates.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { count } from '../../text/porcelain.ts';

export interface StartupView {
  config: Settings['startup'];
  /** Enabled servers. */
  servers: readonly { name: string; state: ServerState; required: boolean }[];
  toolCount: number;
}

const POLL_MS = 50;
const NAMED = 5;

/** Returns the unmet requirement of `startup` in one sentence. */
export function startupFlaw({ config, servers, toolCount }: StartupView): string | undefined {
  const { mode, minHealthyServers, failOnEmptyCatalog } = config;
  const down = servers.filter(({ state }) => !serverState(state).isUp);
  const missing = down.filter(({ required }) => required);
  if (mode === 'strict' && missing.length > 0) {
    const names = missing.slice(0, NAMED).map(({ name, state }) => `${name} (${serverState(state).words})`);
    const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : '';
    return `"startup" is strict, and these servers are not up: ${names.join(', ')}${more}.`;
  }
  const up = servers.length - down.length;
  if (mode === 'degraded' && up < minHealthyServers) {
    return `"startup" needs ${count(minHealthyServers, 'server')}, and ${up} of ${servers.length} ${up === 1 ? 'is' : 'are'} up.`;
  }
  return failOnEmptyCatalog && toolCount === 0 ? '"startup" needs a tool, and the catalog has none.' : undefined;
}

/** Admits calls once the start meets the requirements of `startup`; waits for servers that are still starting. */
export class StartupGate {
  readonly #view: () => StartupView;
  #isOpen = false;

  constructor(view: () => StartupView) {
    this.#view = view;
  }

  /**
   * Reason why nothing is answered; `undefined` once the start has succeeded, because later failures have their own
   * reports.
   */
  get flaw(): string | undefined {
    if (this.#isOpen) return undefined;
    const flaw = startupFlaw(this.#view());
    this.#isOpen = flaw === undefined;
    return flaw;
  }

  async admit(): Promise<void> {
    // Counted from the call: an edit or an approval may start servers long after the worker began.
    const began = performance.now();
    while (this.flaw !== undefined && this.#mayChange(began)) await sleep(POLL_MS);
    const { flaw } = this;
    if (flaw === undefined) return;
    throw new GatewayError('UPSTREAM_UNAVAILABLE', `Waygate does not serve yet: ${flaw} Report this to the user.`);
  }

  #mayChange(began: number): boolean {
    const { config, servers } = this.#view();
    const waited = performance.now() - began;
    return waited < config.timeoutSeconds * 1_000 && servers.some(({ state }) => state === 'starting');
  }
}
