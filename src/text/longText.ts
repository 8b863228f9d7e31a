/**
 * Text of any length in its original parts. Joining a result of 100 MB would double it in memory, so readers take the
 * head, the tail, or chunk by chunk.
 */
export class LongText {
  readonly #parts: readonly string[];
  readonly #separator: string;
  readonly length: number;

  constructor(parts: readonly string[], separator = '\n') {
    this.#parts = parts;
    this.#separator = separator;
    this.length = parts.reduce((sum, part) => sum + part.length, 0) + Math.max(0, parts.length - 1) * separator.length;
  }

  /** Returns at most this many characters of the beginning, and never half of a surrogate pair. */
  head(chars: number): string {
    let text = '';
    for (const piece of this.#pieces()) {
      text += piece.slice(0, chars + 1 - text.length);
      if (text.length > chars) break;
    }
    return text.length <= chars ? text : text.slice(0, wholeCut(text, chars));
  }

  /** Returns at most this many characters of the end, and never half of a surrogate pair. */
  tail(chars: number): string {
    let text = '';
    for (let i = this.#parts.length - 1; i >= 0 && text.length <= chars; i--) {
      const room = chars + 1 - text.length;
      text = (this.#parts[i] as string).slice(-room) + text;
      if (i > 0) text = this.#separator + text;
    }
    return text.length <= chars ? text : text.slice(wholeCut(text, text.length - chars, 1));
  }

  /** Yields the whole text in pieces of about this many characters. Slices of a flat string share its memory. */
  *chunks(size = 1 << 20): Generator<string> {
    for (const piece of this.#pieces()) {
      for (let start = 0; start < piece.length; ) {
        const end = start + size >= piece.length ? piece.length : wholeCut(piece, start + size, 1);
        yield start === 0 && end === piece.length ? piece : piece.slice(start, end);
        start = end;
      }
    }
  }

  /** Returns whether the text has a single part, so that a string of it costs nothing more. */
  get isFlat(): boolean {
    return this.#parts.length === 1;
  }

  /** Joins the text. Use it only for a text that is flat or known to be short. */
  toString(): string {
    return this.#parts.length === 1 ? (this.#parts[0] as string) : this.#parts.join(this.#separator);
  }

  *#pieces(): Generator<string> {
    for (let i = 0; i < this.#parts.length; i++) {
      if (i > 0 && this.#separator) yield this.#separator;
      yield this.#parts[i] as string;
    }
  }
}

/** Returns `end`, moved by one where it would split a surrogate pair: back, or forward when `direction` is 1. */
export function wholeCut(text: string, end: number, direction: -1 | 1 = -1): number {
  const before = text.charCodeAt(end - 1);
  const after = text.charCodeAt(end);
  const parts = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return parts ? end + direction : end;
}
