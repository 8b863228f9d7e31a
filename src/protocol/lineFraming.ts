/**
 * Newline-delimited frames over a byte stream, as MCP's stdio transport has them. Frames stay bytes: whoever only
 * forwards them never decodes them.
 */

/** A frame beyond this fails by itself; the stream goes on behind its newline (facts/reliability.md R8). */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** How much of an oversized frame is kept, so that its reader can find out whose it was. */
const OVERSIZE_PREFIX_BYTES = 1024;

export interface LineHandlers {
  /** One frame without its line end. Empty lines are skipped. */
  onLine(line: Buffer): void;
  /** A frame over the limit: its first bytes and its whole size. */
  onOversize(prefix: Buffer, bytes: number): void;
}

export class LineSplitter {
  readonly #handlers: LineHandlers;
  readonly #limit: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(handlers: LineHandlers, limit = MAX_FRAME_BYTES) {
    this.#handlers = handlers;
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.subarray(start));
  }

  /** What has come since the last newline: a frame that its writer never finished. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  #append(part: Buffer): void {
    if (part.length === 0) return;
    const kept = this.#bytes;
    this.#bytes += part.length;
    if (this.#bytes <= this.#limit) this.#parts.push(part);
    else if (kept <= this.#limit) {
      // The frame has just become too long: only its beginning is worth its memory.
      this.#parts = [Buffer.from(Buffer.concat([...this.#parts, part]).subarray(0, OVERSIZE_PREFIX_BYTES))];
    }
  }

  #emit(): void {
    const bytes = this.#bytes;
    let line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (line[0] === BYTE_ORDER_MARK[0] && line.subarray(0, 3).equals(BYTE_ORDER_MARK)) line = line.subarray(3);
    if (bytes > this.#limit) {
      this.#handlers.onOversize(line, bytes);
      return;
    }
    if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
    if (line.length > 0) this.#handlers.onLine(line);
  }
}
