import { StringDecoder } from 'node:string_decoder';

const MAX_LINES = 40;
const MAX_LINE_CHARS = 1_000;

/** The last lines a server wrote to stderr. Always drained: a full pipe would stop the server. */
export class StderrTail {
  readonly #decoder = new StringDecoder('utf8');
  readonly #lines: string[] = [];
  #open = '';

  push(chunk: Buffer): void {
    const parts = (this.#open + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#open = (parts.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of parts.slice(-MAX_LINES)) this.#lines.push(line.slice(0, MAX_LINE_CHARS));
    this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }

  get lines(): readonly string[] {
    return this.#open === '' ? [...this.#lines] : [...this.#lines, this.#open];
  }

  /** The line that most likely says why: the last that names an error, else the last that says anything. */
  lastMeaningful(): string | undefined {
    const said = this.lines.filter((line) => /\w/.test(line) && !/^\s+at /.test(line) && !/^Node\.js v/.test(line));
    return said.findLast((line) => /error|cannot|failed|not found|denied|missing|required/i.test(line)) ?? said.at(-1);
  }
}
