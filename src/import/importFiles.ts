import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../lib/makeFolder.ts';
import { isAbsent, MAX_CONFIG_BYTES, type ReadBounds, readBounded, readFailure } from '../lib/readBounded.ts';
import type { ClientId } from './clientIds.ts';
import type { ReadSource } from './planImport.ts';
import { type ClientSource, UnreadableSource } from './sourceFile.ts';
import { CLIENT_SOURCES, sourceOfFile } from './sources/all.ts';
import type { Place, Surroundings } from './surroundings.ts';

/** Some clients keep their history beside their servers, so the user's own files may be large. */
const MAX_OWN_BYTES = 64 * 1024 * 1024;

/** Client file that exists but cannot be read, with the place of the error. */
export interface UnreadableFile {
  title: string;
  file: string;
  message: string;
}

export interface FoundSources {
  sources: ReadSource[];
  unreadable: UnreadableFile[];
}

/** Reads the existing files of the given clients. */
export function findSources(at: Surroundings, clients: readonly ClientId[]): FoundSources {
  const found: FoundSources = { sources: [], unreadable: [] };
  const seen = new Set<string>();
  for (const client of CLIENT_SOURCES.filter(({ id }) => clients.includes(id))) {
    for (const place of client.places(at)) {
      // If the workspace is the home folder, one file has two places.
      if (seen.has(place.file)) continue;
      seen.add(place.file);
      const text = readIfThere(place, found, at.workspace);
      if (text !== undefined) take(client, place, text, at, found);
    }
  }
  return found;
}

/** Reads a file that the user named; undefined if it does not exist. */
export function readNamedSource(file: string, at: Surroundings): FoundSources | undefined {
  const found: FoundSources = { sources: [], unreadable: [] };
  const place: Place = { file: resolve(file), scope: 'user', title: file };
  const text = readIfThere(place, found);
  if (text === undefined) return found.unreadable.length > 0 ? found : undefined;
  const client = formOf(place, text, found);
  if (client) take(client, { ...place, title: client.title }, text, at, found);
  return { ...found, sources: found.sources.map((source) => ({ ...source, scope: 'named' })) };
}

/** Returns the searched places, for a user without any of these files. */
export function placesOf(at: Surroundings, clients: readonly ClientId[]): string[] {
  return CLIENT_SOURCES.filter(({ id }) => clients.includes(id)).flatMap((client) =>
    client.places(at).map(({ file }) => file),
  );
}

function readIfThere({ file, title, scope }: Place, found: FoundSources, workspace?: string): string | undefined {
  try {
    const within = scope === 'workspace' ? workspace : undefined;
    return readBounded(file, boundsOf(within)).toString('utf8');
  } catch (error) {
    if (!isAbsent(error, file)) {
      found.unreadable.push({ title, file, message: `${file}: it cannot be read (${readFailure(error)}).` });
    }
    return undefined;
  }
}

function formOf({ file, title }: Place, text: string, found: FoundSources): ClientSource | undefined {
  return tolerant({ file, title }, found, () => sourceOfFile(file, text));
}

function take(client: ClientSource, place: Place, text: string, at: Surroundings, found: FoundSources): void {
  // An empty settings file was created but never filled.
  if (text.trim() === '') return;
  const beside = (client.beside?.(at) ?? []).map((file) => readIfThere({ ...place, file }, found));
  const context = { ...at, beside: beside.filter((one) => one !== undefined) };
  const parsed = tolerant(place, found, () => client.parse(text, context));
  if (parsed) found.sources.push({ client: client.id, ...place, parsed });
}

function tolerant<T>(
  { file, title }: Pick<Place, 'file' | 'title'>,
  found: FoundSources,
  read: () => T,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error;
    found.unreadable.push({ title, file, message: `${file}:${error.line}:${error.column}: ${error.message}.` });
    return undefined;
  }
}

function boundsOf(within: string | undefined): ReadBounds {
  return { within, maxBytes: within === undefined ? MAX_OWN_BYTES : MAX_CONFIG_BYTES };
}

/** Returns the text of a file, if it exists. `within` is the workspace whose file this is. */
export function readTextIfThere(file: string, within?: string): string | undefined {
  try {
    return readBounded(file, boundsOf(within)).toString('utf8');
  } catch (error) {
    if (isAbsent(error, file)) return undefined;
    throw new Error(`${file} cannot be read (${readFailure(error)}).`);
  }
}

/** Another program has changed the file since it was read. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Replaces a file atomically, and only if it still has the content that the new text was made from. */
export function replaceFile(file: string, before: string | undefined, after: string, within?: string): void {
  makeFolder(dirname(file));
  if (readTextIfThere(file, within) !== before) {
    throw new ChangedMeanwhile(
      `${file} was changed by someone else in the meantime; nothing was written. Run it again.`,
    );
  }
  // Replace the target of a symbolic link and keep the link.
  const target = before === undefined ? file : realpathSync(file);
  const temporary = join(dirname(target), `.${randomBytes(6).toString('hex')}.waygate-new`);
  try {
    writeFileSync(temporary, after, { flag: 'wx' });
    if (before !== undefined) chmodSync(temporary, statSync(target).mode & 0o777);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Takes a replacement back. Removes a file that did not exist before. */
export function restoreFile(file: string, after: string, before: string | undefined, within?: string): void {
  if (before !== undefined) {
    replaceFile(file, after, before, within);
    return;
  }
  if (readTextIfThere(file, within) !== after) {
    throw new ChangedMeanwhile(`${file} was changed by someone else in the meantime; it stays as it is.`);
  }
  rmSync(file);
}

export const BACKUP_SUFFIX = '.waygate-backup';

/** Copies a file beside itself, readable only by its owner, without overwriting an earlier copy. */
export function backUp(file: string): string {
  for (let n = 1; ; n++) {
    const copy = `${file}${BACKUP_SUFFIX}${n === 1 ? '' : `-${n}`}`;
    try {
      // A client's file may hold tokens, and its copy is read by nobody else.
      writeFileSync(copy, readFileSync(file), { flag: 'wx', mode: 0o600 });
      return copy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
