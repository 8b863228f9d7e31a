import { visibleText } from '../../text/visibleText.ts';

/** What a selector took out of an artifact. */
export interface Selection {
  /** The slice as it stands in the artifact. */
  text: string;
  /** What it is of how much: `lines 80–159 of 12,345`. Undefined when it is all there is. */
  place?: string | undefined;
  /** The selector that reads on. */
  next?: Readonly<Record<string, unknown>> | undefined;
}

/** Limit of a slice. Place, next call and handle fit beside it (G11.6). */
export const MAX_SELECTION_CHARS = 6_500;

/** How much of the text may be shown: what is hidden in it takes more room when it is escaped. */
export function fits(text: string, room: number): boolean {
  return text.length <= room && visibleText(text).length <= room;
}

/** The longest beginning that may be shown, at a whole character. */
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
