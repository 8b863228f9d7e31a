import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const CHUNK_BYTES = 64 * 1024;
/** No event is longer; what is, is no event. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * What is appended to a file of JSON lines from now on, through rotations and a file that comes later. A line that a crash
 * has torn is left out.
 */
export async function* follow(
  path: string,
  options: { signal: AbortSignal; pollMs?: number },
): AsyncGenerator<Record<string, unknown>> {
  const { signal, pollMs = POLL_MS } = options;
  let file = await opened(path);
  let offset = file ? (await file.stat()).size : 0;
  let rest = Buffer.alloc(0);
  try {
    while (!signal.aborted) {
      const chunk = file ? await chunkAt(file, offset) : undefined;
      if (chunk) {
        offset += chunk.length;
        const whole = Buffer.concat([rest, chunk]);
        const end = whole.lastIndexOf(10) + 1;
        rest = whole.subarray(end);
        if (rest.length > MAX_LINE_BYTES) rest = Buffer.alloc(0);
        for (const line of whole.subarray(0, end).toString('utf8').split('\n')) {
          const record = parsed(line);
          if (record) yield record;
        }
        continue;
      }
      // Read to its end: only now may another have taken its name.
      if (!(await isSame(file, path))) {
        await file?.close();
        file = await opened(path);
        offset = 0;
        rest = Buffer.alloc(0);
        if (file) continue;
      }
      await sleep(pollMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await file?.close();
  }
}

async function opened(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch(() => undefined);
}

async function chunkAt(file: FileHandle, offset: number): Promise<Buffer | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
  return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
}

async function isSame(file: FileHandle | undefined, path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  if (!file || !there) return !file && !there;
  const own = await file.stat();
  return own.ino === there.ino && own.dev === there.dev;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
