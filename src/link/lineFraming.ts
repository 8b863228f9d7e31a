/**
 * Newline-delimited frames over a byte stream, as in MCP's stdio transport. Frames stay bytes: a forwarder never
 * decodes them.
 */

/** Size limit of a frame (M7.1). A larger one fails alone; the stream continues after its newline. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Size of the kept beginning and end of an oversized frame, from which its reader finds the request. */
const OVERSIZE_KEPT_BYTES = 1024;

const NOTHING = Buffer.alloc(0);

export interface LineHandlers {
  /** Receives one frame without its line end. Empty lines are skipped. */
  onLine(line: Buffer): void;
  /** Receives a frame over the limit: its first bytes, its size, and its last bytes. */
  onOversize(prefix: Buffer, bytes: number, suffix: Buffer): void;
  /** Called for a frame with a byte order mark, which is removed. */
  onByteOrderMark?(): void;
}

export class LineSplitter {
  readonly #handlers: LineHandlers;
  readonly #limit: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Last bytes of a frame over the limit. */
  #suffix: Buffer = NOTHING;

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

  /** Number of bytes since the last newline: a frame that its writer never finished. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  #append(part: Buffer): void {
    if (part.length === 0) return;
    const kept = this.#bytes;
    this.#bytes += part.length;
    if (this.#bytes <= this.#limit) {
      this.#parts.push(part);
      return;
    }
    // The frame has just exceeded the limit: keep only its two ends.
    if (kept <= this.#limit) {
      const begun = [...this.#parts, part];
      this.#parts = [Buffer.concat(firstBytes(begun))];
      for (const each of begun) this.#keepLast(each);
    } else this.#keepLast(part);
  }

  #keepLast(part: Buffer): void {
    const last = part.subarray(-OVERSIZE_KEPT_BYTES);
    this.#suffix = Buffer.concat([this.#suffix, last]).subarray(-OVERSIZE_KEPT_BYTES);
  }

  #emit(): void {
    const bytes = this.#bytes;
    let line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (line[0] === BYTE_ORDER_MARK[0] && line.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
      line = line.subarray(3);
      this.#handlers.onByteOrderMark?.();
    }
    if (bytes > this.#limit) {
      const suffix = this.#suffix;
      this.#suffix = NOTHING;
      this.#handlers.onOversize(line, bytes, suffix);
      return;
    }
    if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
    if (line.length > 0) this.#handlers.onLine(line);
  }
}

/** Returns as many parts as the beginning needs, without joining megabytes. */
function firstBytes(parts: readonly Buffer[]): Buffer[] {
  const first: Buffer[] = [];
  let missing = OVERSIZE_KEPT_BYTES;
  for (const part of parts) {
    if (missing === 0) break;
    const taken = part.subarray(0, missing);
    first.push(taken);
    missing -= taken.length;
  }
  return first;
}
