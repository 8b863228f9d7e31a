import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

export interface ReadBounds {
  maxBytes: number;
  /** Folder that the links of a path in it must not leave. */
  within?: string | undefined;
  /** Refuses a link, and a file that another user owns or may write. */
  own?: boolean;
  /** Refuses, besides, a file that another user may read. */
  secret?: boolean;
}

/** Error for a file that is not read: `ENOTREG`, `EFBIG`, `ELOOP` for a link out, `EOWNER`. */
export class RefusedFile extends Error {
  override readonly name = 'RefusedFile';
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Bound of a file that a person writes. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

/** Bound of a file that Waygate itself writes. */
const MAX_OWN_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;
/** A device or a named pipe must not block the process that opens it; Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Reads a regular file of at most `maxBytes`. Throws the system's error or `RefusedFile`. All checks concern the opened file, so that an exchange of the path has no effect.
 */
export function readBounded(file: string, { maxBytes, within, own = false, secret = false }: ReadBounds): Buffer {
  // Opening alone can act on a device, so anything else is refused before.
  checkKind(own ? lstatSync(file) : statSync(file));
  const fd = openSync(file, own ? FLAGS | (constants.O_NOFOLLOW ?? 0) : FLAGS);
  try {
    const stat = fstatSync(fd);
    checkKind(stat);
    if (within !== undefined) checkLinks(file, within, stat);
    if (own || secret) checkOwner(stat, secret);
    if (stat.size > maxBytes) throw tooLarge(maxBytes);
    return readAll(fd, maxBytes);
  } finally {
    closeSync(fd);
  }
}

/** Returns the text of a file, without the mark that editors on Windows put first. */
export function readBoundedText(file: string, bounds: ReadBounds): string {
  return readBounded(file, bounds)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}

/** Returns the text of a file in the state folder. Refuses what another user could have put there. */
export function readOwnText(file: string): string {
  return readBoundedText(file, { maxBytes: MAX_OWN_BYTES, own: true });
}

/** Whether a read failed because there is no file. A dangling link is a file that cannot be read. */
export function isAbsent(error: unknown, file: string): boolean {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOTDIR') return true;
  return code === 'ENOENT' && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true;
}

/** Returns why a file was not read: a clause, or the system's code. */
export function readFailure(error: unknown): string {
  return error instanceof RefusedFile ? error.message : ((error as NodeJS.ErrnoException).code ?? String(error));
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether a folder is or contains a path, links followed. */
export function holds(folder: string, path: string): boolean {
  return isWithin(canonical(folder), canonical(path));
}

function checkKind(stat: Stats): void {
  if (stat.isSymbolicLink()) throw new RefusedFile('it is a symbolic link', 'ELOOP');
  if (stat.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  if (!stat.isFile()) throw new RefusedFile('it is no regular file', 'ENOTREG');
}

function checkLinks(file: string, within: string, opened: Stats): void {
  const root = canonical(within);
  if (!isWithin(within, file) && !isWithin(root, file)) return;
  const real = realpathSync(file);
  const { dev, ino } = lstatSync(real);
  if (isWithin(root, real) && dev === opened.dev && ino === opened.ino) return;
  throw new RefusedFile(`a link leads out of ${within}`, 'ELOOP');
}

function canonical(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Throws `RefusedFile` unless an opened file is a regular one that no other user owns or may write. */
export function checkOwn(stat: Stats): void {
  checkKind(stat);
  checkOwner(stat, false);
}

function checkOwner({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, secret: boolean): void {
  if (process.getuid === undefined) return;
  if (uid !== process.getuid()) throw new RefusedFile('it belongs to another user', 'EOWNER');
  if ((mode & 0o022) !== 0) throw new RefusedFile('other users may write it', 'EOWNER');
  if (secret && (mode & 0o044) !== 0) throw new RefusedFile('other users may read it', 'EOWNER');
}

/** Reads to the end, because the size of a file may be wrong or may grow. */
function readAll(fd: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - length));
    const read = readSync(fd, chunk, 0, chunk.length, null);
    if (read === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, read));
    length += read;
    if (length > maxBytes) throw tooLarge(maxBytes);
  }
}

function tooLarge(maxBytes: number): RefusedFile {
  const kib = maxBytes / 1024;
  return new RefusedFile(`it is larger than ${kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`}`, 'EFBIG');
}
