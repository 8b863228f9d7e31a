const MAX_LINES = 40;
const MAX_LINE_CHARS = 1_000;
/** Size of the kept end of stderr. It may double between two clean-ups. */
const RING_BYTES = 64 * 1024;
const MAX_PARTS = 256;

/**
 * The last lines a server wrote to stderr. Always drained: a full pipe would stop the server. Nothing is decoded before
 * somebody looks, so that a flood costs no more than its reading.
 */
export class StderrTail {
  #parts: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  readonly #scrub: (text: string) => string;

  constructor(scrubSecrets: (text: string) => string) {
    this.#scrub = scrubSecrets;
  }

  push(chunk: Buffer): void {
    // A copy of the end alone: a part of a large buffer would keep the whole of it.
    const kept = chunk.length > RING_BYTES ? Buffer.from(chunk.subarray(-RING_BYTES)) : chunk;
    this.#dropped += chunk.length - kept.length;
    this.#parts.push(kept);
    this.#bytes += kept.length;
    while (this.#bytes - (this.#parts[0] as Buffer).length >= RING_BYTES) {
      const oldest = this.#parts.shift() as Buffer;
      this.#bytes -= oldest.length;
      this.#dropped += oldest.length;
    }
    if (this.#parts.length > MAX_PARTS) this.#compact();
  }

  /** A server that writes byte by byte must not have an object kept for each. */
  #compact(): void {
    const whole = Buffer.concat(this.#parts);
    const kept = whole.length > RING_BYTES ? Buffer.from(whole.subarray(-RING_BYTES)) : whole;
    this.#dropped += whole.length - kept.length;
    this.#parts = [kept];
    this.#bytes = kept.length;
  }

  /** How many bytes of it are gone. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Free of secrets, also of those that take several lines. */
  get lines(): readonly string[] {
    const lines = Buffer.concat(this.#parts).toString('utf8').split(/\r?\n/);
    // What is cut off at its beginning is no line, unless it is all there is.
    if (this.#dropped > 0 && lines.length > 1) lines.shift();
    const open = lines.pop() ?? '';
    // Mask before any cut, because half a secret is still a secret.
    const scrubbed = this.#scrub([...lines.slice(-MAX_LINES), open].join('\n')).split('\n');
    const end = (scrubbed.pop() as string).slice(-MAX_LINE_CHARS);
    const whole = scrubbed.map((line) => line.slice(0, MAX_LINE_CHARS));
    return end === '' ? whole : [...whole, end];
  }

  /** The line that most likely says why: the last that names an error, else the last that says anything. */
  lastMeaningful(): string | undefined {
    const said = this.lines.filter((line) => /\w/.test(line) && !/^\s+at /.test(line) && !/^Node\.js v/.test(line));
    return said.findLast((line) => /error|cannot|failed|not found|denied|missing|required/i.test(line)) ?? said.at(-1);
  }
}
