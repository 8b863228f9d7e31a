import { backUp, readTextIfThere, replaceFile } from './importFiles.ts';
import { exposedTwice, type ImportPlan, type PlannedServer, type ReadSource } from './planImport.ts';
import { RemovalRefused, withoutEntries } from './removal.ts';

/** Removal of imported servers from the file of one client. */
export interface Removal {
  source: ReadSource;
  removed: readonly PlannedServer[];
  /** Imported servers that the gateway cannot start yet. */
  kept: readonly PlannedServer[];
  before: string;
  /** Undefined if nothing is to be removed. */
  after: string | undefined;
  refused: string | undefined;
  backup?: string;
}

/** Plans removals. Entries that the gateway cannot start yet stay in their files. */
export function planRemovals(plan: ImportPlan): Removal[] {
  return [...exposedTwice(plan)].map(([source, servers]) => {
    const before = readTextIfThere(source.file) ?? '';
    const removed = servers.filter(({ cannotStart }) => cannotStart === undefined);
    const kept = servers.filter(({ cannotStart }) => cannotStart !== undefined);
    if (removed.length === 0) return { source, removed, kept, before, after: undefined, refused: undefined };
    try {
      const paths = removed.map(({ path }) => path);
      return { source, removed, kept, before, after: withoutEntries(source.file, before, paths), refused: undefined };
    } catch (error) {
      if (!(error instanceof RemovalRefused)) throw error;
      return { source, removed, kept, before, after: undefined, refused: error.message };
    }
  });
}

/** Carries out a planned removal, after a backup. */
export function remove(removal: Removal): void {
  removal.backup = backUp(removal.source.file);
  replaceFile(removal.source.file, removal.before, removal.after as string);
}

/** Takes a removal back. Throws `ChangedMeanwhile` if the file was edited since; the backup has the entries then. */
export function restore({ source: { file }, before, after }: Removal): void {
  replaceFile(file, after, before);
}
