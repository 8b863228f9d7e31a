import type { Disposable } from '../observable.ts';

export interface Paced extends Disposable {
  (): void;
}

/** Runs `action` once, `quietMs` after the last call. Meant for bursts of file events. */
export function debounced(quietMs: number, action: () => void): Paced {
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    clearTimeout(timer);
    timer = setTimeout(action, quietMs);
  };
  return Object.assign(run, { dispose: () => clearTimeout(timer) });
}

/** Runs `action` at once, then at most every `intervalMs`. The last call of a burst always runs. */
export function throttled(intervalMs: number, action: () => void): Paced {
  let timer: NodeJS.Timeout | undefined;
  let pending = false;
  const due = (): void => {
    timer = undefined;
    if (pending) run();
  };
  const run = (): void => {
    pending = timer !== undefined;
    if (pending) return;
    timer = setTimeout(due, intervalMs);
    action();
  };
  return Object.assign(run, {
    dispose: () => {
      clearTimeout(timer);
      pending = false;
    },
  });
}
