import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as realFiles from 'node:fs/promises';

/** The part of the file system that artifacts need: a test puts one in its place whose disk is full. */
export type ArtifactFiles = Pick<
  typeof realFiles,
  'chmod' | 'lstat' | 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink' | 'utimes'
>;

/** What is known of an artifact without its bytes. */
export interface ArtifactInfo {
  handle: string;
  /** Who may open it: a session, or `workspace`. */
  owner: string;
  mediaType: string;
  label: string;
  size: number;
  /** Line breaks, and one for a last line that has none. */
  lines: number;
  sha256: string;
}

/**
 * One file per artifact: its bytes, what is known of it as JSON, then eight hexadecimal digits that say how long that
 * JSON is, and a mark. A file that was cut short has no mark, so it is no artifact.
 */
const MARK = 'WGA1';
const TAIL_BYTES = 8 + MARK.length;
const MAX_INFO_BYTES = 16 * 1024;

export function fileNameOf(owner: string, handle: string): string {
  return hash('sha256', `${owner}\0${handle}`, 'hex');
}

/** What can be told of bytes only once all have passed. */
export interface Measured {
  size: number;
  lines: number;
  sha256: string;
}

/** Of bytes that come in chunks. */
export class Measure {
  readonly #hash = createHash('sha256');
  #size = 0;
  #breaks = 0;
  #last = LINE_FEED;

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#hash.update(chunk);
    this.#size += chunk.length;
    this.#breaks += breaksIn(chunk);
    this.#last = chunk[chunk.length - 1] as number;
  }

  done(): Measured {
    return { size: this.#size, lines: linesOf(this.#breaks, this.#last), sha256: this.#hash.digest('hex') };
  }
}

/** Of bytes that are there: a hash in one step costs a third. */
export function measured(bytes: Buffer): Measured {
  return { size: bytes.length, lines: linesOf(breaksIn(bytes), bytes.at(-1)), sha256: hash('sha256', bytes, 'hex') };
}

function breaksIn(chunk: Buffer): number {
  let breaks = 0;
  for (let i = chunk.indexOf(LINE_FEED); i !== -1; i = chunk.indexOf(LINE_FEED, i + 1)) breaks += 1;
  return breaks;
}

function linesOf(breaks: number, last = LINE_FEED): number {
  return breaks + (last === LINE_FEED ? 0 : 1);
}

const LINE_FEED = 0x0a;

export function infoBlock(info: ArtifactInfo): Buffer {
  const json = Buffer.from(JSON.stringify(info));
  return Buffer.concat([json, Buffer.from(json.length.toString(16).padStart(8, '0') + MARK)]);
}

/** Writes all of it, or throws: a short write is what a full disk answers first. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}

/** For its owner alone, and never through a link that somebody put in its place. */
export function createPrivate(files: ArtifactFiles, path: string): Promise<FileHandle> {
  return files.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
}

export function openNoFollow(files: ArtifactFiles, path: string): Promise<FileHandle> {
  return files.open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
}

/** Undefined when the file is not a whole artifact. */
export async function readInfo(file: FileHandle): Promise<ArtifactInfo | undefined> {
  const { size } = await file.stat();
  const tail = await readAt(file, Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
  const length = Number.parseInt(tail.toString('latin1', 0, 8), 16);
  if (tail.toString('latin1', 8) !== MARK || !(length <= MAX_INFO_BYTES)) return undefined;
  try {
    const info = JSON.parse((await readAt(file, size - TAIL_BYTES - length, length)).toString()) as ArtifactInfo;
    return info.size === size - TAIL_BYTES - length ? info : undefined;
  } catch {
    return undefined;
  }
}

export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at === length ? bytes : bytes.subarray(0, at);
}

export const REAL_FILES: ArtifactFiles = realFiles;
