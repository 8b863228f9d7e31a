import type { ArtifactReader } from '../artifacts/artifactReader.ts';

export interface Line {
  text: string;
  /** Offset of the line in bytes. */
  start: number;
  number: number;
}

/** Size of a chunk, processed without yielding. */
const CHUNK_BYTES = 256 * 1024;
/** Part of a long line that is decoded. */
const MAX_LINE_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

/** Yields lines from one on, a chunk at a time. Earlier lines are counted without decoding. */
export async function* lineBatches(reader: ArtifactReader, from = 0): AsyncGenerator<Line[]> {
  let number = 0;
  let start = 0;
  let pieces: Buffer[] = [];
  let kept = 0;
  const keep = (bytes: Buffer): void => {
    const piece = bytes.subarray(0, MAX_LINE_BYTES - kept);
    if (piece.length === 0 || number < from) return;
    pieces.push(piece);
    kept += piece.length;
  };
  for (let at = 0; at < reader.info.size; ) {
    const chunk = await reader.read(at, CHUNK_BYTES);
    if (chunk.length === 0) break;
    const batch: Line[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, begin)) {
      keep(chunk.subarray(begin, end));
      if (number >= from) batch.push({ text: decodeLine(pieces), start, number });
      [pieces, kept] = [[], 0];
      number += 1;
      begin = end + 1;
      start = at + begin;
    }
    keep(Buffer.from(chunk.subarray(begin)));
    at += chunk.length;
    if (batch.length > 0) yield batch;
  }
  if (start < reader.info.size && number >= from) yield [{ text: decodeLine(pieces), start, number }];
}

function decodeLine(pieces: readonly Buffer[]): string {
  const text = (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString('utf8');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
