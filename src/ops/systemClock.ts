import type { SupervisorClock } from './supervised.ts';

export const SYSTEM_CLOCK: SupervisorClock = {
  now: () => performance.now(),
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
