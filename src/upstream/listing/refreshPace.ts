import type { LiveRefreshConfig } from '../../config/gatewayConfig.ts';

const MINUTE_MS = 60_000;
/** Where nothing is configured: many servers announce several changes in a row, right at their start. */
const DEFAULT: LiveRefreshConfig = { enabled: true, debounceSeconds: 0.2, maxRefreshesPerMinute: 60 };

/** When a server that says its lists have changed is listed again: not at once, and not too often. */
export class RefreshPace {
  readonly #config: () => LiveRefreshConfig;
  readonly #now: () => number;
  /** Of the last minute, oldest first. */
  #times: number[] = [];

  constructor(config: () => LiveRefreshConfig = () => DEFAULT, now: () => number = () => performance.now()) {
    this.#config = config;
    this.#now = now;
  }

  /** How long to wait from now; `undefined` where its news are not to be heard. */
  delayMs(): number | undefined {
    const { enabled, debounceSeconds, maxRefreshesPerMinute } = this.#config();
    if (!enabled) return undefined;
    const now = this.#now();
    this.#times = this.#times.filter((time) => now - time < MINUTE_MS);
    const blocking = this.#times.at(-maxRefreshesPerMinute);
    const untilAllowed = blocking === undefined ? 0 : blocking + MINUTE_MS - now;
    return Math.max(debounceSeconds * 1_000, untilAllowed);
  }

  onRefresh(): void {
    this.#times.push(this.#now());
  }
}
