export interface Clock {
  /** Milliseconds that never go backwards: `performance.now()`. */
  now(): number;
  /** Random number in [0, 1). */
  random(): number;
  /** Returns a function that cancels the run. */
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
