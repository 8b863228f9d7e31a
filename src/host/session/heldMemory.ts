import { encodeMessage, KEPT_NOTIFICATION } from '../../link/frames.ts';

/** Some more than a worker keeps of one session: its lists, and a hundred conversations. */
const MAX_KEPT = 128;
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * What workers have kept with the host of a session: quotas, what was allowed for it, what its client has listed. Nothing
 * of it is understood here. The latest word counts, however the worker that said it ended.
 */
export class HeldMemory {
  readonly #kept = new Map<string, { value: unknown; bytes: number; at: number }>();
  #bytes = 0;

  /** `bytes`: what the worker has needed to say it. */
  keep(key: string, value: unknown, bytes: number): void {
    if (bytes > MAX_KEPT_BYTES) return;
    this.#forget(key);
    if (value === undefined) return;
    this.#kept.set(key, { value, bytes, at: performance.now() });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#bytes <= MAX_KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  /** What a new worker is told, the oldest first. Ages, since clocks of processes have nothing in common. */
  frames(): string[] {
    if (this.#kept.size === 0) return [];
    const now = performance.now();
    const kept = [...this.#kept].map(([key, { value, at }]) => [key, value, (now - at) / 1_000]);
    return [encodeMessage({ method: KEPT_NOTIFICATION, params: { kept } })];
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}
