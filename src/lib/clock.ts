import type { SupervisorClock } from '../supervision/supervised.ts';

export const SYSTEM_CLOCK: SupervisorClock = {
  now: () => performance.now(),
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
