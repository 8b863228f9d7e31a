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

/** Range of an artifact, at most 1 MiB, without known secrets. */
export interface ArtifactBytes {
  row: ArtifactRow;
  /** Offset in the artifact itself: that of the first whole character from the requested one on. */
  offset: number;
  /** Base64. */
  bytes: string;
  /** Offset of the next byte; absent at the end. */
  next?: number;
}

export interface ArtifactSelection {
  text: string;
  /** Place of the text: `lines 80–159 of 12,345`; absent for the whole. */
  place?: string;
  /** Selector that reads on. */
  next?: Readonly<Record<string, unknown>>;
  /** Table, where the selector gives one. */
  columns?: readonly string[];
  rows?: readonly (readonly string[])[];
  /** Number of all rows that match, where known. */
  total?: number;
}

/** `reason` says in one sentence why there is nothing: unknown, expired, not allowed. */
export type ArtifactAnswer<T> = T | { reason: string };
