/** Source of records: granted, or one that the user could grant. */
export interface RecordSourceRow {
  /** Id that the record tools use. */
  connection: string;
  kind: 'history' | 'agents' | 'folder';
  /** Path of a folder. */
  path?: string;
  isGranted: boolean;
  /** Streams with the number of loaded records; none before the first load. */
  streams: readonly { name: string; records: number }[];
  /** Streams of the grant with their fields; absent where all are granted. */
  limits?: readonly { name: string; fields: 'all' | readonly string[] }[];
  since?: string;
  until?: string;
  /** Time of the grant's end. */
  expires?: string;
  /** Lines and rows that could not be read. */
  malformed: number;
  /** Why the last load failed. */
  problem?: string;
}

export interface RecordSources {
  sources: readonly RecordSourceRow[];
  /** Why no grant counts. */
  problem?: string;
}

/** Grant that the user gives: all streams if none is named, for ever without `expires`. */
export interface RecordGrant {
  /** `history`, `agents`, or the path of a folder. */
  subject: string;
  streams: readonly string[];
  expires?: string;
}

/** `reason`: why a request had no effect, in one sentence. */
export type RecordOutcome = { reason?: undefined } | { reason: string };
