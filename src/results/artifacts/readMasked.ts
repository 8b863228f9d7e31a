import { isText } from '../select/selectors.ts';
import type { ArtifactReader } from './artifactReader.ts';

/** Bytes of an artifact, masked. `next` is the offset behind them; absent at the end. */
export interface MaskedBytes {
  offset: number;
  bytes: Buffer;
  next?: number;
}

/** Text before and after a range that is searched with it. No secret is longer. */
const MARGIN_BYTES = 64 * 1024;

/**
 * Reads a range without the secrets in it, whatever the size of the artifact. Offsets are those of the artifact itself.
 * A mask for a secret across the end of a range is in both ranges.
 */
export async function readMasked(
  reader: ArtifactReader,
  offset: number,
  length: number,
  mask: (text: string) => string,
): Promise<MaskedBytes> {
  const { size } = reader.info;
  const start = Math.min(Math.max(0, offset), size);
  const end = Math.min(size, start + Math.max(1, length));
  const from = Math.max(0, start - MARGIN_BYTES);
  const window = await reader.read(from, Math.min(size, end + MARGIN_BYTES) - from);
  const readsText = await isText(reader);
  const [begins, ends] = [start - from, end - from].map((at) => (readsText ? characterAt(window, at) : at)) as [
    number,
    number,
  ];
  const place = { offset: from + begins, ...(from + ends < size && { next: from + ends }) };
  const own = window.subarray(begins, ends);
  if (!readsText) return { ...place, bytes: own };
  const whole = window.toString();
  const masked = mask(whole);
  if (masked === whole) return { ...place, bytes: own };
  const before = commonBeginning(mask(window.toString('utf8', 0, begins)), masked);
  const after = commonEnd(mask(window.toString('utf8', ends)), masked);
  return { ...place, bytes: Buffer.from(masked.slice(before, Math.max(before, masked.length - after))) };
}

/** Returns the beginning of the next whole character of UTF-8. */
function characterAt(bytes: Buffer, at: number): number {
  let place = at;
  while (place < bytes.length && place < at + 3 && ((bytes[place] as number) & 0xc0) === 0x80) place += 1;
  return place;
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1;
  return length;
}
