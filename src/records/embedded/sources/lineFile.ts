import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { isRecord, parseRecord } from '../../../lib/isRecord.ts';

/** Place up to which a file of lines was read. */
export interface LineState {
  /** Hash of the first bytes. If it differs, the file was replaced. */
  readonly head: string;
  readonly headBytes: number;
  /** Offset behind the last whole line. */
  readonly offset: number;
  /** Number of the lines before it. */
  readonly lines: number;
  /** Lines that are no JSON objects, or too long. */
  readonly malformed: number;
}

export interface JsonLine {
  readonly value: Record<string, unknown>;
  readonly text: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

const CHUNK_BYTES = 256 * 1024;
const HEAD_BYTES = 512;
const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Follows no link, and waits for the other end of no pipe. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

export function parseLineState(text: string | undefined): LineState | undefined {
  const value = text === undefined ? undefined : parseRecord(text);
  if (!isRecord(value) || typeof value.head !== 'string' || typeof value.offset !== 'number') return undefined;
  return value as unknown as LineState;
}

/**
 * Reads the whole lines behind a known place. `restarted` is set if the file was truncated or replaced and is read from
 * its beginning again. A last line without a line break stays for the next time.
 */
export class LineFile {
  readonly restarted: boolean;
  readonly size: number;
  readonly modified: string;
  readonly #fd: number;
  #state: LineState;

  constructor(file: string, before?: LineState) {
    this.#fd = openSync(file, FLAGS);
    const stat = fstatSync(this.#fd);
    this.size = stat.isFile() ? stat.size : 0;
    this.modified = stat.mtime.toISOString();
    const isSame = before !== undefined && this.size >= before.offset && this.#hashOf(before.headBytes) === before.head;
    this.restarted = before !== undefined && !isSame;
    this.#state = isSame ? before : { head: '', headBytes: 0, offset: 0, lines: 0, malformed: 0 };
  }

  /** Place behind the last line that was returned. */
  get state(): LineState {
    return this.#state;
  }

  *read(): Generator<JsonLine> {
    // A longer beginning identifies the file better, once it is there.
    const headBytes = Math.min(HEAD_BYTES, this.size);
    this.#state = { ...this.#state, head: this.#hashOf(headBytes), headBytes };
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let position = this.#state.offset;
    let held = '';
    let heldBytes = 0;
    let isOverlong = false;
    while (position < this.size) {
      const read = readSync(this.#fd, chunk, 0, Math.min(CHUNK_BYTES, this.size - position), position);
      if (read === 0) return;
      position += read;
      let begin = 0;
      for (let end = chunk.indexOf(LINE_FEED, 0); end !== -1 && end < read; end = chunk.indexOf(LINE_FEED, begin)) {
        held += decoder.write(chunk.subarray(begin, end));
        heldBytes += end + 1 - begin;
        begin = end + 1;
        const text = held;
        const wasOverlong = isOverlong;
        [held, isOverlong] = ['', false];
        const value = wasOverlong ? undefined : parseRecord(text);
        const isBlank = !wasOverlong && text.trim() === '';
        const { offset, lines, malformed } = this.#state;
        this.#state = {
          ...this.#state,
          offset: offset + heldBytes,
          lines: lines + 1,
          malformed: malformed + Number(!value && !isBlank),
        };
        heldBytes = 0;
        if (value) yield { value, text, line: lines + 1 };
      }
      held += decoder.write(chunk.subarray(begin, read));
      heldBytes += read - begin;
      if (held.length > MAX_LINE_CHARS) [held, isOverlong] = ['', true];
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #hashOf(bytes: number): string {
    const head = Buffer.alloc(bytes);
    const read = readSync(this.#fd, head, 0, bytes, 0);
    return hash('sha256', head.subarray(0, read), 'hex').slice(0, 32);
  }
}

const LINE_FEED = 0x0a;
