import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../catalog/shapeHash.ts';
import { checkOwn, isAbsent, readBoundedText, readFailure } from '../lib/readBounded.ts';
import { shortened } from '../text/porcelain.ts';
import { visibleText } from '../text/visibleText.ts';
import type { Launch } from './launch.ts';
import { type TakeLock, takePatiently } from './patientLock.ts';

const FILE = 'trust.jsonl';
const MAX_BYTES = 64 * 1024 * 1024;
/** Longer than any entry. */
const TAIL_BYTES = 16 * 1024;
/** A server chooses the names in a subject. */
const MAX_SUBJECT_CHARS = 512;
/** Flags of an open that neither follows a link nor waits for the other end of a pipe. */
const OPEN_OWN =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const FIRST = '0'.repeat(64);

/** Decision or baseline; `person-question` is the answer to a question of a call. The log keeps hashes of what was shown, and no values. */
export interface TrustEvent {
  actor: 'person-cli' | 'person-editor' | 'person-question' | 'baseline';
  what: 'launch' | 'tool' | 'server' | 'secret-egress' | 'question';
  /** Action, and the server or item that it concerns. */
  subject: string;
  pin?: string;
  /** SHA-256 of the very lines that the user saw. */
  shown?: string;
}

export interface TrustEntry extends TrustEvent {
  seq: number;
  ts: string;
  /** Name of the workspace's state folder; absent in older entries. */
  workspace?: string;
  /** `sum` of the entry before. */
  prev: string;
  /** SHA-256 of the entry without this field. */
  sum: string;
}

export interface TrustLogPorts {
  /** State folder. */
  folder: string;
  /** Name of the workspace's state folder, by which its own entries are found among those of all workspaces. */
  workspace?: string;
  lock: TakeLock;
  now(): Date;
}

/** Log of trust decisions whose entries are chained by hashes, so that a change of any byte shows. Never rotated. */
export class TrustLog {
  readonly file: string;
  readonly #ports: TrustLogPorts;

  constructor(ports: TrustLogPorts) {
    this.#ports = ports;
    this.file = join(ports.folder, FILE);
  }

  /** Appends an event. Throws if it cannot be written. */
  add(event: TrustEvent): void {
    const release = takePatiently(this.#ports.lock, `${this.file}.lock`);
    let fd: number | undefined;
    try {
      fd = openSync(this.file, OPEN_OWN, 0o600);
      const stat = fstatSync(fd);
      checkOwn(stat);
      const { size } = stat;
      if (size > MAX_BYTES) throw new Error(`${this.file} is full (64 MiB); move it away`);
      const tail = tailOf(fd, size);
      const last = readEntry(tail.split('\n').findLast((line) => line !== '') ?? '');
      const { seq, sum: prev } = last ?? { seq: 0, sum: FIRST };
      const subject = shortened(visibleText(event.subject), MAX_SUBJECT_CHARS);
      const { workspace, now } = this.#ports;
      const place = workspace === undefined ? {} : { workspace };
      const body = { seq: seq + 1, ts: now().toISOString(), ...event, subject, ...place, prev };
      const line = JSON.stringify({ ...body, sum: sha256(JSON.stringify(body)) });
      // A torn last line stays as it is and shows in `verify`; the new entry begins on a line of its own.
      writeSync(fd, `${tail === '' || tail.endsWith('\n') ? '' : '\n'}${line}\n`);
      fsyncSync(fd);
    } finally {
      if (fd !== undefined) closeSync(fd);
      release();
    }
  }

  entries(): TrustEntry[] {
    return this.#lines().flatMap((line) => readEntry(line) ?? []);
  }

  /** Walks the chain. Returns its head, and the first line (from 1) that does not follow from the one before. */
  verify(): { lines: number; head: string; brokenAt?: number } {
    const lines = this.#lines();
    let prev = FIRST;
    for (const [index, line] of lines.entries()) {
      const entry = readEntry(line);
      if (entry?.seq !== index + 1 || entry.prev !== prev)
        return { lines: lines.length, head: prev, brokenAt: index + 1 };
      prev = entry.sum;
    }
    return { lines: lines.length, head: prev };
  }

  #lines(): string[] {
    let text: string;
    try {
      text = readBoundedText(this.file, { maxBytes: MAX_BYTES + TAIL_BYTES, own: true });
    } catch (error) {
      if (isAbsent(error, this.file)) return [];
      // An unreadable log is not an empty one.
      throw new Error(`${this.file} cannot be read: ${readFailure(error)}.`);
    }
    const lines = text.split('\n');
    // Every complete line ends with a line break.
    if (lines.at(-1) === '') lines.pop();
    else lines.push('');
    return lines;
  }
}

/** Returns the entry for an approved launch, whose lines the user saw. */
export function launchEvent(
  actor: TrustEvent['actor'],
  { name, hash }: Pick<Launch, 'name' | 'hash'>,
  lines: readonly string[],
): TrustEvent {
  return { actor, what: 'launch', subject: `approve ${name}`, pin: hash, shown: sha256(lines.join('\n')) };
}

/** Returns the entry for a secret that the user allowed to be sent, in answer to a question of a call. */
export function secretEvent(server: string, { kind, owner = '' }: { kind: string; owner?: string }): TrustEvent {
  const secret = [kind, owner].filter((word) => word !== '').join(' ');
  return { actor: 'person-question', what: 'secret-egress', subject: `send ${secret} to ${server}` };
}

function tailOf(fd: number, size: number): string {
  const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
  readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  return bytes.toString('utf8');
}

/** Reads an entry; `undefined` unless the line is byte for byte what was written. */
function readEntry(line: string): TrustEntry | undefined {
  try {
    const { sum, ...body } = JSON.parse(line) as TrustEntry;
    const isWhole = sum === sha256(JSON.stringify(body)) && line === JSON.stringify({ ...body, sum });
    return isWhole ? { ...body, sum } : undefined;
  } catch {
    return undefined;
  }
}
