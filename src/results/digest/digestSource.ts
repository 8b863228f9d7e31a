import type { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';

/** What a model gets of a text too long to be shown. */
export interface Digest {
  /** What it is and how much: `JSON, 1,200,000 characters: an array of 1,998 objects`. */
  title: string;
  body: string;
  /** The selectors of `tool_view` that would help most, best first. */
  views: readonly Selector[];
}

export type Selector = Readonly<Record<string, unknown>>;

/** A text with what a digest of any kind needs of it. */
export interface DigestSource {
  text: LongText;
  /** The beginning, enough to see what it is. */
  sample: string;
  isWhole: boolean;
  /** How long the body may be. */
  room: number;
  /** Gives the event loop its turn between two pieces of a large text. */
  turn(): Promise<void>;
}

export function size(text: LongText): string {
  return count(text.length, 'character');
}
