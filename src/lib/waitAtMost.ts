/** Waits for `work` until it settles, the deadline passes or the signal is aborted. The work itself goes on. */
export async function waitAtMost(
  work: Promise<unknown>,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let release = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    release = resolve;
  });
  const timer = setTimeout(release, Math.max(0, deadline - performance.now()));
  signal?.addEventListener('abort', release, { once: true });
  if (signal?.aborted) release();
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', release);
  }
}
