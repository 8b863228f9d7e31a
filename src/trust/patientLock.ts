const TRIES = 40;
const WAIT_MS = 5;

/** Takes a lock between processes; `undefined` while another process holds it. */
export type TakeLock = (path: string) => (() => void) | undefined;

/** Takes a lock that others hold for a few milliseconds. Throws if it stays taken. */
export function takePatiently(lock: TakeLock, path: string, waitMs = WAIT_MS): () => void {
  for (let tries = 0; tries < TRIES; tries++) {
    const release = lock(path);
    if (release) return release;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  }
  throw new Error(`another process holds ${path}`);
}
