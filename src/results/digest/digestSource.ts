import type { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';

/** Digest of a long text for a model. */
export interface Digest {
  /** Kind and amount: `JSON, 1,200,000 characters: an array of 1,998 objects`. */
  title: string;
  body: string;
  /** Most helpful selectors of `tool_view`, best first. */
  views: readonly Selector[];
}

export type Selector = Readonly<Record<string, unknown>>;

/** Text with everything that a digest needs. */
export interface DigestSource {
  text: LongText;
  /** Beginning of the text, enough to recognise its kind. */
  sample: string;
  isWhole: boolean;
  /** Length limit of the body. */
  room: number;
  /** Yields to the event loop between two pieces of a large text. */
  turn(): Promise<void>;
}

export function size(text: LongText): string {
  return count(text.length, 'character');
}
