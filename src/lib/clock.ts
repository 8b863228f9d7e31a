export interface Clock {
  /** Milliseconds, never backwards: `performance.now()`. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Returns what cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
