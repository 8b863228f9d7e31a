import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as realFiles from 'node:fs/promises';
import type { CatalogTool } from '../../catalog/types.ts';
import { checkOwn } from '../../lib/readBounded.ts';

/** Part of the file system that artifacts need, so that a test can replace it by a full disk. */
export type ArtifactFiles = Pick<
  typeof realFiles,
  'chmod' | 'lstat' | 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink' | 'utimes'
>;

/** Tool, resource or prompt that a result came from, as rules and questions name it. */
export type ArtifactSource = Pick<
  CatalogTool,
  'id' | 'name' | 'namespace' | 'server' | 'origin' | 'upstreamName' | 'title' | 'tags' | 'safety' | 'fingerprint'
>;

/** Facts about an artifact, without its bytes. */
export interface ArtifactInfo {
  handle: string;
  /** Owner that may open the artifact: a session, or `workspace`. */
  owner: string;
  mediaType: string;
  label: string;
  size: number;
  /** Number of lines: line breaks, plus one for a last line without a break. */
  lines: number;
  sha256: string;
  /** Absent where the source is unknown: the strictest rule that could apply counts then. */
  source?: ArtifactSource | undefined;
}

/**
 * Mark at the end of a file. A file holds an artifact's bytes, its info as JSON, eight hexadecimal digits with the
 * length of that JSON, and this mark. A truncated file has no mark, so it is no artifact.
 */
const MARK = 'WGA1';
const TAIL_BYTES = 8 + MARK.length;
const MAX_INFO_BYTES = 16 * 1024;
/** Size limit of a source. A longer one counts as unknown. */
const MAX_SOURCE_CHARS = 8 * 1024;

export function sourceOf(tool: ArtifactSource | undefined): ArtifactSource | undefined {
  if (!tool) return undefined;
  const { id, name, namespace, server, origin, upstreamName, title, tags, safety, fingerprint } = tool;
  const named = { id, name, namespace, server, upstreamName, title, tags, safety, fingerprint };
  const source = { ...named, ...(origin !== undefined && { origin }) };
  return Buffer.byteLength(JSON.stringify(source)) > MAX_SOURCE_CHARS ? undefined : source;
}

export function fileNameOf(owner: string, handle: string): string {
  return hash('sha256', `${owner}\0${handle}`, 'hex');
}

/** Facts about bytes, known after the last chunk. */
export interface Measured {
  size: number;
  lines: number;
  sha256: string;
}

/** Measures bytes that come in chunks. */
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

/** Measures bytes in memory: a hash in one step costs a third. */
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

/** Writes all bytes or throws: a full disk first answers with a short write. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}

/** Creates a file for its owner alone, and never through a link in its place. */
export function createPrivate(files: ArtifactFiles, path: string): Promise<FileHandle> {
  return files.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
}

/** Opens an artifact. Follows no link, and believes no file that another user owns or may write (T2.17). */
export async function openOwn(files: ArtifactFiles, path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await files.open(path, flags);
  try {
    checkOwn(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads the info of an artifact; undefined for an incomplete file. */
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
