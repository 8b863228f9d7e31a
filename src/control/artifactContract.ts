/** Kept results as the editor shows them. Types only. */

export interface ArtifactRow {
  handle: string;
  mediaType: string;
  label: string;
  size: number;
  lines: number;
  /** Time of the last use, in milliseconds since the epoch; artifacts expire from then on. */
  at: number;
  server?: string;
  toolId?: string;
  /** Call that made it, where this worker made it. */
  callId?: number;
}

export interface ArtifactPage {
  /** Newest first. */
  artifacts: readonly ArtifactRow[];
  more: boolean;
  use: { bytes: number; maxBytes: number; count: number; maxCount: number; maxAgeMs: number };
}

/** Bytes of an artifact, without known secrets, at most 1 MiB. */
export interface ArtifactBytes {
  row: ArtifactRow;
  /** Offset and size in the text after masking. */
  offset: number;
  /** Base64. */
  bytes: string;
  /** Offset of the next byte; absent at the end. */
  next?: number;
}

export interface ArtifactSelection {
  text: string;
  /** Table, where the selector gives one. */
  columns?: readonly string[];
  rows?: readonly (readonly string[])[];
  /** Number of all rows that match, where known. */
  total?: number;
}

/** `reason` says in one sentence why there is nothing: unknown, expired, not allowed. */
export type ArtifactAnswer<T> = T | { reason: string };
