import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseRecord } from '../lib/isRecord.ts';
import { latency, oneLine } from '../text/porcelain.ts';
import { visibleJson } from '../text/visibleText.ts';

const POLL_MS = 200;
const CHUNK_BYTES = 64 * 1024;
/** Longer text without a line end is no event. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Yields the events that are appended to a log from now on, across rotations. Skips broken lines. */
export async function* followEvents(
  path: string,
  { signal, pollMs = POLL_MS }: { signal: AbortSignal; pollMs?: number },
): AsyncGenerator<Record<string, unknown>> {
  let file = await opened(path);
  let offset = file ? (await file.stat()).size : 0;
  let rest = Buffer.alloc(0);
  try {
    while (!signal.aborted) {
      const chunk = await file?.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
      if (chunk && chunk.bytesRead > 0) {
        offset += chunk.bytesRead;
        const text = Buffer.concat([rest, chunk.buffer.subarray(0, chunk.bytesRead)]);
        const end = text.lastIndexOf(10) + 1;
        rest = text.subarray(end);
        if (rest.length > MAX_LINE_BYTES) rest = Buffer.alloc(0);
        yield* text
          .toString('utf8', 0, end)
          .split('\n')
          .flatMap<Record<string, unknown>>((line) => parseRecord(line) ?? []);
      } else if (await isSame(file, path)) {
        await sleep(pollMs, undefined, { signal }).catch(() => undefined);
      } else {
        // The old file was read to its end.
        await file?.close();
        file = await opened(path);
        offset = 0;
        rest = Buffer.alloc(0);
      }
    }
  } finally {
    await file?.close();
  }
}

function opened(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch(() => undefined);
}

async function isSame(file: FileHandle | undefined, path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  if (!file || !there) return !file && !there;
  const own = await file.stat();
  return own.ino === there.ino && own.dev === there.dev;
}

/** Renders an event on one line. */
export function eventText(record: Readonly<Record<string, unknown>>): string {
  const { event, timestamp, ts_unix_ms: ms, success, outcome, duration_ms: took, attributes, ...rest } = record;
  const time = typeof timestamp === 'string' ? timestamp : new Date(Number(ms)).toISOString();
  const { tool_id: tool, tool_name: name, namespace } = rest;
  const subject = [tool, name, namespace].find((value) => typeof value === 'string');
  const details = Object.entries((attributes as object | undefined) ?? {}).map(
    ([key, value]) => `${key}=${typeof value === 'object' ? visibleJson(value) : String(value)}`,
  );
  return oneLine(
    [
      time,
      success === false || outcome === 'error' ? 'failed' : 'ok',
      String(event),
      ...(subject === undefined ? [] : [String(subject)]),
      ...(typeof took === 'number' ? [latency(took)] : []),
      ...details,
    ].join(' '),
    400,
  );
}
