// Stands in for `@vscode/spdlog` in the VS Code server build. The real module is C++ without prebuilt parts, and every
// log file and output channel of the editor is written through it.

import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const LEVELS = /** @type {const} */ (['trace', 'debug', 'info', 'warning', 'error', 'critical']);
const INFO = 2;

/** Writes synchronously: VS Code expects a line on disk when the call returns (its `setFlushOn(0)`). */
class Logger {
  #file;
  #maxBytes;
  #level = INFO;
  #bare = false;

  /** @param {string} file @param {number} maxBytes */
  constructor(file, maxBytes) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  /** @param {number} level @param {string} message */
  #write(level, message) {
    if (level < this.#level) return;
    const time = new Date().toISOString().replace('T', ' ').slice(0, -1);
    const text = this.#bare ? message : `${time} [${LEVELS[level]}] ${message}\n`;
    try {
      const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
      if (size > this.#maxBytes) renameSync(this.#file, this.#file.replace(/(\.[^./\\]*)?$/, '.1$1'));
      appendFileSync(this.#file, text);
    } catch {
      // A log line is lost, for example because a test removed its folder. The editor goes on.
    }
  }

  /** @param {string} message */
  trace(message) {
    this.#write(0, message);
  }
  /** @param {string} message */
  debug(message) {
    this.#write(1, message);
  }
  /** @param {string} message */
  info(message) {
    this.#write(2, message);
  }
  /** @param {string} message */
  warn(message) {
    this.#write(3, message);
  }
  /** @param {string} message */
  error(message) {
    this.#write(4, message);
  }
  /** @param {string} message */
  critical(message) {
    this.#write(5, message);
  }

  getLevel() {
    return this.#level;
  }
  /** @param {number} level */
  setLevel(level) {
    this.#level = level;
  }
  /** Output channels write their own line ends. */
  clearFormatters() {
    this.#bare = true;
  }
  setPattern() {}
  flush() {}
  drop() {}
}

export function setLevel() {}
export function setFlushOn() {}

/** @param {string} _name @param {string} file @param {number} maxBytes */
export async function createAsyncRotatingLogger(_name, file, maxBytes) {
  mkdirSync(dirname(file), { recursive: true });
  return new Logger(file, maxBytes);
}
