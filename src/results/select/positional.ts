import { count, groupDigits } from '../../text/porcelain.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { lineBatches } from './lineBatches.ts';
import { fits, fittingPrefix, MAX_SELECTION_CHARS, type Selection } from './selection.ts';

/** Selectors by position: characters, bytes, lines (G11.2). */

const NEXT_LINES = 100;
const NEXT_BYTES = 6_000;
/** Longest UTF-8 sequence in bytes. */
const BYTES_PER_CHAR = 4;

/**
 * Returns the first characters. A negative number leaves out that many at the end, as the conformance cases require.
 */
export async function head(reader: ArtifactReader, chars: number): Promise<Selection> {
  const wanted = chars < 0 ? Number.POSITIVE_INFINITY : chars;
  const bytes = await reader.read(0, Math.min(wanted, 2 * MAX_SELECTION_CHARS) * BYTES_PER_CHAR);
  const isWhole = bytes.length >= reader.info.size;
  const points = Array.from(decode(bytes, isWhole));
  const end = chars < 0 ? points.length + (isWhole ? chars : 0) : chars;
  const text = fittingPrefix(points.slice(0, Math.max(0, end)).join(''), MAX_SELECTION_CHARS);
  return fromBytes(reader, bytes, 0, text);
}

/** Returns the bytes from one offset to another, widened to whole characters. */
export async function range(reader: ArtifactReader, start: number, end: number): Promise<Selection> {
  const from = start < 0 ? Math.max(0, reader.info.size + start) : start;
  const to = Math.min(end < 0 ? reader.info.size + end : end, reader.info.size);
  const before = Math.min(from, BYTES_PER_CHAR - 1);
  const around = await reader.read(from - before, Math.min(to - from, NEXT_BYTES * BYTES_PER_CHAR) + before + 3);
  let first = before;
  while (first > 0 && isContinuation(around[first])) first -= 1;
  if (isContinuation(around[first])) first = before;
  let last = Math.max(first, Math.min(around.length, to - from + before));
  while (last < around.length && isContinuation(around[last])) last += 1;
  const bytes = around.subarray(first, last);
  const offset = from - before + first;
  const text = fittingPrefix(bytes.toString('utf8'), MAX_SELECTION_CHARS);
  return fromBytes(reader, bytes, offset, text);
}

export async function lines(reader: ArtifactReader, start: number, end: number | undefined): Promise<Selection> {
  const total = reader.info.lines;
  const first = start < 0 ? Math.max(0, total + start) : start;
  const stop = end === undefined ? total : end < 0 ? Math.max(0, total + end) : Math.min(end, total);
  if (first >= stop)
    return { text: '', place: first === 0 && total === 0 ? undefined : `no line of ${groupDigits(total)}` };
  return takeUnits(reader, first, stop, {
    word: 'line',
    total: groupDigits(total),
    isAll: first === 0 && stop === total,
  });
}

/** Returns as many of the last lines as fit. */
export async function tail(reader: ArtifactReader, wanted: number): Promise<Selection> {
  const { size, lines: total } = reader.info;
  const length = Math.min(size, MAX_SELECTION_CHARS * BYTES_PER_CHAR);
  const bytes = await reader.read(size - length, length);
  const all = bytes
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  const isWhole = length === size;
  const shown: string[] = [];
  for (let i = all.length - 1; i >= (isWhole ? 0 : 1) && shown.length < wanted; i--) {
    const line = all[i] as string;
    if (!fits([line, ...shown].join('\n'), MAX_SELECTION_CHARS)) break;
    shown.unshift(line);
  }
  if (shown.length === 0 && wanted > 0 && size > 0) return range(reader, Math.max(0, size - NEXT_BYTES), size);
  const first = total - shown.length;
  if (first <= 0) return { text: shown.join('\n') };
  return {
    text: shown.join('\n'),
    place: `lines ${first}–${total - 1} of ${groupDigits(total)}`,
    next: { type: 'lines', start: Math.max(0, first - NEXT_LINES), end: first },
  };
}

export interface Units {
  word: 'line' | 'row';
  total: string;
  isAll: boolean;
  /** Joins lines to a unit and returns their number. Without it, every line is a unit. */
  join?: (lines: readonly string[], at: number) => number;
}

/** Returns as many lines or rows as fit. A selector by bytes continues a line that is too long. */
async function takeUnits(reader: ArtifactReader, first: number, stop: number, units: Units): Promise<Selection> {
  const shown: string[] = [];
  let used = 0;
  let number = first;
  for await (const batch of lineBatches(reader, first)) {
    for (const line of batch) {
      if (number === stop) return placed(shown, first, number, stop, units);
      if (!fits(line.text, MAX_SELECTION_CHARS - used)) {
        if (shown.length > 0) return placed(shown, first, number, stop, units);
        return longLine(line.text, line.start, number, reader);
      }
      shown.push(line.text);
      used += line.text.length + 1;
      number += 1;
    }
  }
  return placed(shown, first, number, stop, units);
}

export function placed(
  shown: readonly string[],
  first: number,
  end: number,
  stop: number,
  { word, total, isAll }: Units,
): Selection {
  const text = shown.join('\n');
  if (isAll && end >= stop) return { text };
  const place = `${word}s ${first}–${end - 1} of ${total}`;
  const isLast = groupDigits(end) === total;
  return isLast
    ? { text, place }
    : {
        text,
        place,
        next: { type: `${word}s`, start: end, end: end + Math.max(1, Math.min(NEXT_LINES, end - first)) },
      };
}

export function longLine(text: string, start: number, number: number, reader: ArtifactReader): Selection {
  const shown = fittingPrefix(text, MAX_SELECTION_CHARS);
  const at = start + Buffer.byteLength(shown);
  return {
    text: shown,
    place: `the beginning of line ${number} (byte ${at} of ${reader.info.size})`,
    next: { type: 'range', start: at, end: at + NEXT_BYTES },
  };
}

function fromBytes(reader: ArtifactReader, bytes: Buffer, offset: number, text: string): Selection {
  const end = offset + bytesOf(bytes, text);
  const { size } = reader.info;
  if (offset === 0 && end >= size) return { text };
  return {
    text,
    place: `bytes ${offset}–${end} of ${count(size, 'byte')}`,
    next: end < size ? { type: 'range', start: end, end: end + NEXT_BYTES } : undefined,
  };
}

/** Returns from how many bytes the text was decoded: invalid UTF-8 became characters of another length. */
function bytesOf(bytes: Buffer, text: string): number {
  if (!text.includes('\ufffd')) return Buffer.byteLength(text);
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytes.toString('utf8', 0, middle).length < text.length) low = middle + 1;
    else high = middle;
  }
  while (low < bytes.length && isContinuation(bytes[low])) low += 1;
  return low;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decode(bytes: Buffer, isWhole: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: !isWhole });
}
