import { countTokens } from '../../../catalog/tokenizer/tokens.ts';

/** Characters to count exactly per second. The rest is estimated. */
const EXACT_CHARS_PER_SECOND = 200_000;
/** Ratio for English text and JSON until something was counted. */
const CHARS_PER_TOKEN = 4;
/** Limits the memory of the ratio, so that it follows recent texts. */
const MEMORY_CHARS = 1_000_000;

/** Counts tokens for statistics: exactly while that is cheap, otherwise estimated. */
export class TokenMeter {
  readonly #now: () => number;
  #second = -1;
  #left = 0;
  #chars = CHARS_PER_TOKEN;
  #tokens = 1;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  count(text: string): number {
    const second = Math.floor(this.#now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#left = EXACT_CHARS_PER_SECOND;
    }
    if (text.length > this.#left) return Math.round((text.length * this.#tokens) / this.#chars);
    this.#left -= text.length;
    const tokens = countTokens(text);
    if (this.#chars > MEMORY_CHARS) {
      this.#chars /= 2;
      this.#tokens /= 2;
    }
    this.#chars += text.length;
    this.#tokens += tokens;
    return tokens;
  }

  /** Estimates the tokens of a text from its beginning. */
  countScaled(beginning: string, chars: number): number {
    if (beginning.length === 0) return 0;
    return Math.round((this.count(beginning) * chars) / beginning.length);
  }
}
