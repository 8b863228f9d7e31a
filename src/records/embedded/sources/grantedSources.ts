import type { StoredGrant } from '../grants/grantFile.ts';
import { AgentsSource } from './agents/agentsSource.ts';
import { FolderSource } from './folder/folderSource.ts';
import { type HistoryPlaces, HistorySource } from './history/historySource.ts';
import type { RecordSource } from './recordSource.ts';

export interface SourcePlaces extends HistoryPlaces {
  /** Folder with the logs of the user's agents; the home folder. */
  readonly home: string;
}

/** Returns the source that a grant opens. */
export function grantedSource(
  { connection, source }: StoredGrant,
  places: SourcePlaces,
  malformed: (count: number) => void,
): RecordSource {
  if (source.kind === 'history') return new HistorySource(places);
  if (source.kind === 'agents') return new AgentsSource(places.home, malformed);
  return new FolderSource(connection, source, malformed);
}
