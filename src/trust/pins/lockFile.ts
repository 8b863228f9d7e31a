import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pinOf } from '../../catalog/shapeHash.ts';
import { configFile } from '../../config/state/configPlaces.ts';
import { fileVersion } from '../../lib/followFile.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { isAbsent, readBoundedText, readFailure } from '../../lib/readBounded.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';
import { PINNED_PARTS, type PinnedItem } from './pinnedItems.ts';

const LOCK_FILE = 'waygate.lock';
/** Enough for several thousand items, and read within a second. */
const MAX_BYTES = 8 * 1024 * 1024;
const FORMAT = 1;

/** Items that a lock file pins, by server. */
export type LockedServers = Readonly<Record<string, readonly PinnedItem[]>>;

/** Returns the path of the lock file, beside the configuration that it belongs to. */
export function lockFileOf(workspace: string, given?: string): string {
  return join(dirname(given ?? configFile(workspace)), LOCK_FILE);
}

/** Reads the lock file of a workspace; `undefined` without one. Throws a sentence about a file that cannot be used. */
export function readLockFile(file: string, workspace: string): LockedServers | undefined {
  let problem: string;
  try {
    return parseLock(readBoundedText(file, { maxBytes: MAX_BYTES, within: workspace }));
  } catch (error) {
    if (isAbsent(error, file)) return undefined;
    problem = error instanceof UnusableLock ? error.message : readFailure(error);
  }
  throw new UnusableLock(`${file} cannot be used, so it pins nothing: ${problem}.`);
}

/** Lock file that is read once for each change, however many servers it pins. */
export class LockReader {
  readonly #file: string;
  readonly #workspace: string;
  #version: string | undefined;
  #read: () => LockedServers | undefined = () => undefined;

  constructor({ file, workspace }: { file: string; workspace: string }) {
    this.#file = file;
    this.#workspace = workspace;
  }

  /** Returns the content as `readLockFile` does, or throws the same error again. */
  read(): LockedServers | undefined {
    const version = versionOf(this.#file);
    if (version === undefined || version !== this.#version) {
      this.#read = outcomeOf(() => readLockFile(this.#file, this.#workspace));
      this.#version = version;
    }
    return this.#read();
  }
}

/** Identifies the content of a file; `undefined` if nothing does. */
function versionOf(file: string): string | undefined {
  try {
    return fileVersion(statSync(file));
  } catch {
    return undefined;
  }
}

/** Runs a function once. Returns a function that returns its value, or throws its error, each time. */
function outcomeOf<T>(run: () => T): () => T {
  try {
    const value = run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

class UnusableLock extends Error {
  override readonly name = 'UnusableLock';
}

/**
 * Serialises items for review: sorted, with a block for each item that has the version that its server declares, its
 * hash and its definition. The same items give the same bytes, and no character is hidden (T3.1).
 */
export function writeLock(servers: LockedServers): string {
  const blocks = sortedEntries(servers).map(([server, items]) => {
    const byKey = Object.fromEntries(items.map((item) => [item.key, blockOf(item)]));
    return [server, Object.fromEntries(sortedEntries(byKey))];
  });
  const text = `${visibleJson({ format: FORMAT, servers: Object.fromEntries(blocks) }, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new UnusableLock(`the items of the servers take more than ${MAX_BYTES / 1024 ** 2} MiB in a lock file`);
  return text;
}

/** Reads what `writeLock` wrote. Any other text, such as one with a key twice or a wrong hash, is refused (T3.4). */
export function parseLock(text: string): LockedServers {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof RangeError ? new UnusableLock('it nests too deep') : error;
  }
}

function parse(text: string): LockedServers {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? new UnusableLock('it is not JSON') : error;
  }
  if (!isRecord(content) || content.format !== FORMAT || !isRecord(content.servers)) {
    throw new UnusableLock(`it is no lock file of format ${FORMAT}`);
  }
  const servers = Object.fromEntries(
    Object.entries(content.servers).map(([server, items]) => [server, lockedItems(server, items)]),
  );
  // Git may have changed the line ends.
  if (writeLock(servers) !== text.replaceAll('\r\n', '\n'))
    throw new UnusableLock('it was not written by waygate lock');
  return servers;
}

function lockedItems(server: string, items: unknown): PinnedItem[] {
  return Object.entries(isRecord(items) ? items : {}).map(([key, block]) => {
    const { version, sha256, definition } = isRecord(block) ? block : {};
    const [kind, ...name] = key.split(':');
    const part = PINNED_PARTS.find((one) => one === kind);
    if (!part || definition === undefined || sha256 !== pinOf(definition)) {
      throw new UnusableLock(`the hash of "${visibleText(`${server} ${key}`)}" does not fit its definition`);
    }
    const raw =
      isRecord(definition) && typeof version === 'string' ? { ...definition, _meta: { version } } : definition;
    return { key, part, name: name.join(':'), use: 1, raw, pin: sha256 };
  });
}

function blockOf({ raw, pin: sha256 }: PinnedItem): object {
  if (!isRecord(raw)) return { version: null, sha256, definition: raw };
  const { _meta: meta, ...definition } = raw;
  const version = isRecord(meta) && typeof meta.version === 'string' ? meta.version : null;
  return { version, sha256, definition: sorted(definition) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(sortedEntries(value).map(([key, one]) => [key, sorted(one)]));
}

function sortedEntries<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
