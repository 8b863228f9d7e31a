/** State of one connection, for `waygate records status`. */
export interface ConnectionStatus {
  readonly connection: string;
  readonly displayName: string;
  readonly streams: readonly { readonly name: string; readonly records: number }[];
  /** Lines and rows that could not be read. */
  readonly malformed: number;
  /** Why the last load failed. */
  readonly problem?: string;
}

export interface EngineStatus {
  readonly file: string;
  /** Whether the records are in memory instead, because Node has no SQLite. */
  readonly inMemory: boolean;
  readonly bytes: number;
  readonly loading: boolean;
  /** Why the grants count for nothing. */
  readonly refusal?: string;
  /** Why the database was made anew. */
  readonly rebuilt?: string;
  readonly connections: readonly ConnectionStatus[];
}
