const MAX_LINES = 40;
const MAX_LINE_CHARS = 1_000;
/** Bytes of stderr to keep. The buffer may double between two compactions. */
const RING_BYTES = 64 * 1024;
const MAX_PARTS = 256;
const LINE_FEED = 0x0a;

export interface TailLimits {
  lines: number;
  bytes: number;
}

/**
 * Keeps the last lines of a server's stderr. Always drains the pipe, because a full one would block the server. Decodes
 * on demand, so that a flood causes little work.
 */
export class StderrTail {
  #parts: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #breaks = 0;
  readonly #scrub: (text: string) => string;
  readonly #limits: TailLimits;

  constructor(scrubSecrets: (text: string) => string, limits: TailLimits = { lines: MAX_LINES, bytes: RING_BYTES }) {
    this.#scrub = scrubSecrets;
    this.#limits = limits;
  }

  push(chunk: Buffer): void {
    const { bytes: ring } = this.#limits;
    for (let i = chunk.indexOf(LINE_FEED); i !== -1; i = chunk.indexOf(LINE_FEED, i + 1)) this.#breaks += 1;
    // Copy the end, because a slice keeps the whole buffer in memory.
    const kept = chunk.length > ring ? Buffer.from(chunk.subarray(-ring)) : chunk;
    this.#dropped += chunk.length - kept.length;
    this.#parts.push(kept);
    this.#bytes += kept.length;
    while (this.#bytes - (this.#parts[0] as Buffer).length >= ring) {
      const oldest = this.#parts.shift() as Buffer;
      this.#bytes -= oldest.length;
      this.#dropped += oldest.length;
    }
    if (this.#parts.length > MAX_PARTS) this.#compact();
  }

  /** Merges small pieces, so that a server that writes single bytes does not cause an object for each. */
  #compact(): void {
    const whole = Buffer.concat(this.#parts);
    const { bytes: ring } = this.#limits;
    const kept = whole.length > ring ? Buffer.from(whole.subarray(-ring)) : whole;
    this.#dropped += whole.length - kept.length;
    this.#parts = [kept];
    this.#bytes = kept.length;
  }

  /** Number of complete lines so far, dropped ones included. */
  get count(): number {
    return this.#breaks;
  }

  /** Number of dropped bytes. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Last lines with secrets masked, including secrets that span lines. */
  get lines(): readonly string[] {
    const lines = Buffer.concat(this.#parts).toString('utf8').split(/\r?\n/);
    // Drop a first line without its beginning, unless it is the only one.
    if (this.#dropped > 0 && lines.length > 1) lines.shift();
    const open = lines.pop() ?? '';
    // Mask before any cut, because half a secret is still a secret.
    const scrubbed = this.#scrub([...lines.slice(-this.#limits.lines), open].join('\n')).split('\n');
    const end = (scrubbed.pop() as string).slice(-MAX_LINE_CHARS);
    const whole = scrubbed.map((line) => line.slice(0, MAX_LINE_CHARS));
    return end === '' ? whole : [...whole, end];
  }

  /**
   * Returns the most likely reason of a failure: the last line that mentions an error, else the last line with text.
   */
  lastMeaningful(): string | undefined {
    const said = this.lines.filter((line) => /\w/.test(line) && !/^\s+at /.test(line) && !/^Node\.js v/.test(line));
    return said.findLast((line) => /error|cannot|failed|not found|denied|missing|required/i.test(line)) ?? said.at(-1);
  }
}
