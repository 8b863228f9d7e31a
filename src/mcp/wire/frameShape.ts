/** Facts about a frame from its bytes, before anything recurses into it or a parser picks one of two members. */
export interface FrameShape {
  /** First repeated member in the message, its `params`, `result` or `error`. */
  duplicate: string | undefined;
  /** Subtrees beyond the nesting limit, each as [start, end). */
  tooDeep: readonly (readonly [number, number])[];
}

/** Nesting limit of a frame (M7.1). No schema or result needs more, and code that walks them recurses. */
export const MAX_FRAME_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Members that filters and routing inspect: two parsers must not see two calls (CVE-2026-27896). */
const WATCHED: ReadonlySet<string> = new Set(['params', 'result', 'error']);

/**
 * Scans the bytes once, without recursion. Invalid JSON gives an arbitrary shape; the parser will reject it. Skips
 * strings and inspects everything else byte by byte.
 */
export function frameShape(bytes: Buffer, maxDepth = MAX_FRAME_DEPTH): FrameShape {
  const scan = new ShapeScan(bytes, maxDepth);
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = scan.string(i);
        break;
      case COMMA:
        scan.comma();
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        scan.open(i);
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        scan.close(i);
        break;
    }
  }
  return { duplicate: scan.duplicate, tooDeep: scan.tooDeep };
}

class ShapeScan {
  duplicate: string | undefined;
  readonly tooDeep: [number, number][] = [];
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  /** Depth of the message: 2 within a batch. */
  readonly #top: number;
  #depth = 0;
  #cutFrom = -1;
  /** Members seen so far of the message and of the watched value within it. */
  #names: Set<string> | undefined;
  #innerNames: Set<string> | undefined;
  #lastName = '';
  #awaitsName = false;

  constructor(bytes: Buffer, maxDepth: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
    this.#top = bytes.toString('latin1', 0, 64).trimStart().startsWith('[') ? 2 : 1;
  }

  /** Returns the end of the string. */
  string(start: number): number {
    const end = endOfString(this.#bytes, start);
    const names = this.#awaitsName ? this.#namesHere() : undefined;
    if (names && this.duplicate === undefined) {
      const name = nameOf(this.#bytes, start, end);
      if (names.has(name)) this.duplicate = name;
      names.add(name);
      if (this.#depth === this.#top) this.#lastName = name;
    }
    this.#awaitsName = false;
    return end;
  }

  comma(): void {
    this.#awaitsName = this.#depth <= this.#top + 1;
  }

  open(at: number): void {
    this.#depth += 1;
    const isObject = this.#bytes[at] === OPEN_OBJECT;
    if (this.#depth === this.#top) this.#names = isObject ? new Set() : undefined;
    if (this.#depth === this.#top + 1) {
      this.#innerNames = isObject && this.#names && WATCHED.has(this.#lastName) ? new Set() : undefined;
    }
    this.#awaitsName = isObject;
    if (this.#depth === this.#maxDepth + 1) this.#cutFrom = at;
  }

  close(at: number): void {
    this.#depth -= 1;
    this.#awaitsName = false;
    if (this.#depth === this.#maxDepth && this.#cutFrom !== -1) {
      this.tooDeep.push([this.#cutFrom, at + 1]);
      this.#cutFrom = -1;
    }
  }

  #namesHere(): Set<string> | undefined {
    if (this.#depth === this.#top) return this.#names;
    return this.#depth === this.#top + 1 ? this.#innerNames : undefined;
  }
}

function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}

function nameOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end + 1);
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    // The parser will reject the whole text.
    return text;
  }
}

/**
 * Returns the frame with `null` in place of subtrees that nest too deep: one such tool must not cost a list the others.
 */
export function withoutDepths(bytes: Buffer, tooDeep: FrameShape['tooDeep']): Buffer {
  if (tooDeep.length === 0) return bytes;
  const parts: Buffer[] = [];
  let from = 0;
  for (const [start, end] of tooDeep) {
    parts.push(bytes.subarray(from, start), NULL);
    from = end;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

const NULL = Buffer.from('null');
