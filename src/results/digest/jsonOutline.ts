/**
 * Outline of JSON from one pass over its text, without parsing it into objects, so that 100 MB need no memory. Merges
 * repeating places (the elements of an array) into one. Beyond the detailed part, counts only open containers.
 */
export interface OutlineNode {
  /** Number of values of each type here. */
  types: Map<JsonType, number>;
  keys: Map<string, OutlineNode>;
  /** Number of keys beyond the kept ones. */
  furtherKeys: number;
  /** Elements of arrays at this place. */
  items: OutlineNode | undefined;
  shortest: number;
  longest: number;
  /** First scalar at this place, as written. */
  first: string | undefined;
}

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonOutline {
  root: OutlineNode;
  /** False if the outline has only the beginning in detail. Arrays have their full count anyway. */
  isComplete: boolean;
}

const DETAIL_CHARS = 1 << 20;
export const MAX_OUTLINE_DEPTH = 6;
export const MAX_OUTLINE_KEYS = 64;
const MAX_FIRST_CHARS = 80;
/** Number of characters between two turns of the event loop. */
const TURN_CHARS = 4 << 20;

interface Frame {
  node: OutlineNode;
  isArray: boolean;
  length: number;
}

/** Outlines a text; undefined when it is no JSON object or array. */
export async function outlineJson(text: string, turn: () => Promise<void>): Promise<JsonOutline | undefined> {
  const scanner = new Scanner(text);
  for (let stop = TURN_CHARS; ; stop += TURN_CHARS) {
    const state = scanner.run(stop);
    if (state === 'broken') return undefined;
    if (state === 'done') return { root: scanner.root, isComplete: scanner.isComplete };
    await turn();
  }
}

class Scanner {
  readonly root = newNode();
  isComplete = true;
  readonly #text: string;
  #at = 0;
  #stack: Frame[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  run(stop: number): 'done' | 'broken' | 'more' {
    while (this.#at < stop) {
      this.#skipBlanks();
      const frame = this.#stack.at(-1);
      const fine = frame ? this.#next(frame) : this.#begin();
      if (!fine) return 'broken';
      if (this.#stack.length === 0) {
        this.#skipBlanks();
        return this.#at >= this.#text.length ? 'done' : 'broken';
      }
    }
    return 'more';
  }

  /** Begins with the root, which must be an object or an array. */
  #begin(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    return (code === OPEN_OBJECT || code === OPEN_ARRAY) && this.#value(this.root);
  }

  /** Reads one member of the container, or its end. */
  #next(frame: Frame): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === (frame.isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#at += 1;
      this.#close(frame);
      return true;
    }
    if (frame.length > 0) {
      if (code !== COMMA) return false;
      this.#at += 1;
      this.#skipBlanks();
    }
    frame.length += 1;
    if (frame.isArray) {
      frame.node.items ??= newNode();
      return this.#value(frame.node.items);
    }
    return this.#member(frame);
  }

  #member(frame: Frame): boolean {
    const key = this.#string();
    if (key === undefined) return false;
    this.#skipBlanks();
    if (this.#text.charCodeAt(this.#at) !== COLON) return false;
    this.#at += 1;
    this.#skipBlanks();
    let node = frame.node.keys.get(key);
    if (!node && frame.node.keys.size < MAX_OUTLINE_KEYS) {
      node = newNode();
      frame.node.keys.set(key, node);
    }
    if (node) return this.#value(node);
    frame.node.furtherKeys += 1;
    return this.#skipValue();
  }

  #value(node: OutlineNode): boolean {
    const start = this.#at;
    const type = typeAt(this.#text.charCodeAt(start));
    if (!type) return false;
    node.types.set(type, (node.types.get(type) ?? 0) + 1);
    if (type !== 'object' && type !== 'array') {
      if (!this.#skipScalar(type)) return false;
      node.first ??= this.#text.slice(start, Math.min(this.#at, start + MAX_FIRST_CHARS + 1));
      return true;
    }
    const isDetailed = start < DETAIL_CHARS;
    if (!isDetailed) this.isComplete = false;
    if (!isDetailed || this.#stack.length >= MAX_OUTLINE_DEPTH) return this.#skipValue();
    this.#at += 1;
    this.#stack.push({ node, isArray: type === 'array', length: 0 });
    return true;
  }

  #close({ node, isArray, length }: Frame): void {
    this.#stack.pop();
    if (!isArray) return;
    node.shortest = Math.min(node.shortest, length);
    node.longest = Math.max(node.longest, length);
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  /** Returns a key as written, without its quotation marks. */
  #string(): string | undefined {
    const start = this.#at;
    return this.#skipString() ? this.#text.slice(start + 1, this.#at - 1) : undefined;
  }

  #skipString(): boolean {
    if (this.#text.charCodeAt(this.#at) !== QUOTE) return false;
    for (let from = this.#at + 1; ; ) {
      const quote = this.#text.indexOf('"', from);
      if (quote === -1) return false;
      let escapes = 0;
      while (this.#text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes += 1;
      from = quote + 1;
      if (escapes % 2 === 0) {
        this.#at = from;
        return true;
      }
    }
  }

  #skipScalar(type: JsonType): boolean {
    if (type === 'string') return this.#skipString();
    const start = this.#at;
    while (this.#at < this.#text.length && !isEndOfScalar(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#at - start <= 400 && SCALAR.test(this.#text.slice(start, this.#at));
  }

  /** Skips a value: only its brackets and strings matter. */
  #skipValue(): boolean {
    const type = typeAt(this.#text.charCodeAt(this.#at));
    if (!type) return false;
    if (type !== 'object' && type !== 'array') return this.#skipScalar(type);
    for (let depth = 0; this.#at < this.#text.length; ) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) {
        if (!this.#skipString()) return false;
        continue;
      }
      this.#at += 1;
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        depth -= 1;
        if (depth === 0) return true;
      }
    }
    return false;
  }
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

export function newNode(): OutlineNode {
  return {
    types: new Map(),
    keys: new Map(),
    furtherKeys: 0,
    items: undefined,
    shortest: Number.POSITIVE_INFINITY,
    longest: 0,
    first: undefined,
  };
}

function typeAt(code: number): JsonType | undefined {
  if (code === OPEN_OBJECT) return 'object';
  if (code === OPEN_ARRAY) return 'array';
  if (code === QUOTE) return 'string';
  if (code === 0x74 || code === 0x66) return 'boolean';
  if (code === 0x6e) return 'null';
  return code === 0x2d || (code >= 0x30 && code <= 0x39) ? 'number' : undefined;
}

function isEndOfScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || code <= 0x20;
}
