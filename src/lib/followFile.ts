import { type Stats, statSync } from 'node:fs';

/**
 * Calls back after a file was changed, replaced, made or removed, until the returned function is called. Looks at the
 * file before it returns: `watchFile` of Node looks for the first time some time later, and never reports a change in
 * between.
 */
export function followFile(file: string, onChange: () => void, intervalMs: number): () => void {
  let seen = versionOf(file);
  const timer = setInterval(() => {
    const version = versionOf(file);
    if (version === seen) return;
    seen = version;
    onChange();
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

function versionOf(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats ? fileVersion(stats) : 'none';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Identifies the content of a file without reading it, where every write makes another file. */
export function fileVersion({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
