/** Waits for work that goes on whether or not anybody waits: until it is done, a time has come, or the signal is given. */
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
