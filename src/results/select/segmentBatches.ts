import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import type { Line } from './lineBatches.ts';

/** Line, or a part of one that is too long to be searched as a whole. */
export interface Segment extends Line {
  isPart: boolean;
}

const CHUNK_BYTES = 256 * 1024;
/** Length from which lines, such as JSON without line breaks, are split: a match states its place in the line. */
const MAX_WHOLE_BYTES = 16 * 1024;
const PART_BYTES = 4 * 1024;
const LINE_FEED = 0x0a;
/** Characters after which a line may be split, so that few words are cut: `,`, space, `}`, `;`, `>`. */
const CUTS = [0x2c, 0x20, 0x7d, 0x3b, 0x3e];

/** Yields all lines from one on, long ones in parts, and leaves out parts that begin before a byte. */
export async function* segmentBatches(reader: ArtifactReader, from: number, offset: number): AsyncGenerator<Segment[]> {
  let number = 0;
  let start = 0;
  let isPart = false;
  let pending: Buffer = Buffer.alloc(0);
  let batch: Segment[] = [];
  const emit = (bytes: Buffer, size: number): void => {
    if (number >= from && start >= offset) batch.push({ text: decode(bytes), start, number, isPart });
    start += size;
  };
  const emitParts = (): void => {
    if (pending.length <= MAX_WHOLE_BYTES) return;
    isPart = true;
    while (pending.length > 2 * PART_BYTES) {
      const end = partEnd(pending);
      emit(pending.subarray(0, end), end);
      pending = pending.subarray(end);
    }
  };
  for (let at = 0; at < reader.info.size; ) {
    const chunk = await reader.read(at, CHUNK_BYTES);
    if (chunk.length === 0) break;
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, begin)) {
      const rest = chunk.subarray(begin, end);
      pending = pending.length > 0 ? Buffer.concat([pending, rest]) : rest;
      emitParts();
      emit(pending, pending.length + 1);
      pending = pending.subarray(0, 0);
      isPart = false;
      number += 1;
      begin = end + 1;
    }
    pending = Buffer.concat([pending, chunk.subarray(begin)]);
    emitParts();
    at += chunk.length;
    yield batch;
    batch = [];
  }
  if (pending.length > 0) emit(pending, pending.length);
  yield batch;
}

function partEnd(bytes: Buffer): number {
  for (let i = PART_BYTES; i > PART_BYTES / 2; i--) {
    if (CUTS.includes(bytes[i - 1] as number)) return i;
  }
  let end = PART_BYTES;
  while (end > PART_BYTES - 4 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return end;
}

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
