import { canonicalJson } from '../../../catalog/canonicalJson.ts';
import { countTokens } from '../../../catalog/tokenizer/tokens.ts';

/** This much is counted exactly each second; a burst beyond it is estimated by what was counted. */
const EXACT_CHARS_PER_SECOND = 200_000;
/** Of English text and JSON, until something was counted. */
const CHARS_PER_TOKEN = 4;
/** The estimate follows what was counted lately. */
const MEMORY_CHARS = 1_000_000;

/** Tokens for statistics: exact as long as that is cheap, so that counting never becomes what a gateway does. */
export class TokenMeter {
  readonly #now: () => number;
  readonly #schemas = new WeakMap<object, number>();
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

  /** A text of which only the beginning is at hand. */
  countScaled(beginning: string, chars: number): number {
    if (beginning.length === 0) return 0;
    return Math.round((this.count(beginning) * chars) / beginning.length);
  }

  /** As `tools/list` carries it. Counted once, and exactly: a schema does not change. */
  schema(schema: unknown): number {
    if (typeof schema !== 'object' || schema === null) return countTokens(canonicalJson(schema ?? {}));
    const known = this.#schemas.get(schema);
    if (known !== undefined) return known;
    const tokens = countTokens(canonicalJson(schema));
    this.#schemas.set(schema, tokens);
    return tokens;
  }
}
