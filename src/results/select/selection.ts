import { quotedData } from '../../text/fence.ts';

/** Result of a selector. */
export interface Selection {
  /** Slice as it is in the artifact. */
  text: string;
  /** Place of the slice: `lines 80–159 of 12,345`. Undefined for the whole. */
  place?: string | undefined;
  /** Selector that reads on. */
  next?: Readonly<Record<string, unknown>> | undefined;
}

/** Limit of a slice. Place, next call and handle fit beside it (G11.6). */
export const MAX_SELECTION_CHARS = 6_500;

/** Returns whether a text fits, also as an answer quotes it. */
export function fits(text: string, room: number): boolean {
  return text.length <= room && quotedData(text).length <= room;
}

/** Returns the longest beginning that fits, at a whole character. */
export function fittingPrefix(text: string, room: number): string {
  let prefix = cutWhole(text, room);
  while (!fits(prefix, room)) prefix = cutWhole(prefix, Math.floor(prefix.length * 0.8));
  return prefix;
}

function cutWhole(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
