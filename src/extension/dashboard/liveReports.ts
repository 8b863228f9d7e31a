import type { LimitsReport } from '../../control/activityContract.ts';
import type { TelemetryReport } from '../../control/healthContract.ts';

export const POLL_INTERVAL_MS = 1_000;

export interface ReportSource {
  telemetry(): Promise<TelemetryReport>;
  /** Resolves to `unsupported` if the worker does not know the request. */
  limits(): Promise<LimitsReport | 'unsupported'>;
}

/** Asks for telemetry and limits once a second, only while somebody looks. A slow worker gets one request at a time. */
export class LiveReports {
  telemetry: TelemetryReport | undefined;
  limits: { report: LimitsReport; at: number } | 'unsupported' | undefined;

  readonly #source: ReportSource;
  readonly #changed: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Round of requests whose answers count. */
  #round: object | undefined;

  constructor(source: ReportSource, changed: () => void) {
    this.#source = source;
    this.#changed = changed;
  }

  start(): void {
    if (this.#timer) return;
    this.#timer = setInterval(() => void this.#ask(), POLL_INTERVAL_MS);
    void this.#ask();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#round = undefined;
  }

  /** Forgets the reports of a worker that was replaced. */
  reset(): void {
    this.telemetry = undefined;
    this.limits = undefined;
    this.#round = undefined;
  }

  async #ask(): Promise<void> {
    if (this.#round) return;
    const round = {};
    this.#round = round;
    try {
      const [telemetry, limits] = await Promise.all([this.#source.telemetry(), this.#source.limits()]);
      if (this.#round !== round) return;
      this.telemetry = telemetry;
      this.limits = limits === 'unsupported' ? limits : { report: limits, at: Date.now() };
    } catch {
      // The gateway is away; the page shows the last reports as old.
    } finally {
      if (this.#round === round) this.#round = undefined;
    }
    // Ages and countdowns pass also without an answer.
    if (this.#timer) this.#changed();
  }
}
