import type { ConnectionDeclaration, FieldDeclaration } from '../store/declaration.ts';
import { takesRange } from '../store/declaration.ts';
import type { RecordStore, StoredStream } from '../store/recordStore.ts';
import type { Row, SQLInputValue } from '../store/sqlite.ts';
import { shown } from '../store/values.ts';
import { fieldNotGranted, RequestError, unknownField } from './requestError.ts';

/** Right to read a connection. Everything that is not listed is out of reach. */
export interface Grant {
  readonly id: string;
  readonly connection: string;
  /** Streams with their fields. `all` stands for every stream, and for every field of a stream. */
  readonly streams: 'all' | readonly { readonly name: string; readonly fields: 'all' | readonly string[] }[];
  /** Records of this time and later, as ISO 8601 in UTC. */
  readonly since?: string;
  /** Records before this time. */
  readonly until?: string;
  /** End of the grant itself. */
  readonly expires?: string;
}

/** Condition in SQL with its values. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * Stream as a grant shows it. Each query takes its table, columns and condition from here, so that what was not granted
 * is in no part of a statement.
 */
export class VisibleStream {
  readonly connection: ConnectionDeclaration;
  readonly name: string;
  readonly table: string;
  readonly words: string;
  readonly id: number;
  /** Granted fields in declared order, with their columns. */
  readonly columns: ReadonlyMap<string, string>;
  readonly stream: StoredStream;
  /** Part of every `WHERE`. */
  readonly scope: Condition;
  /** Whether the grant hides words or records. A score would then depend on what is hidden. */
  readonly hidesWords: boolean;

  constructor(stream: StoredStream, grant: Grant, fields: 'all' | readonly string[]) {
    const { declaration, connection, id, columns } = stream;
    const { primaryKey, timeField } = declaration;
    this.stream = stream;
    this.connection = connection;
    this.name = declaration.name;
    this.table = `r${id}`;
    this.words = `f${id}`;
    this.id = id;
    const isGranted = (field: string): boolean =>
      fields === 'all' || field === primaryKey || field === timeField || fields.includes(field);
    this.columns = new Map([...columns].filter(([field]) => isGranted(field)));
    this.scope = timeScope(grant);
    const isLimited = grant.since !== undefined || grant.until !== undefined;
    const hidden = [...columns.keys()].some((field) => declaration.fields[field]?.lexical && !isGranted(field));
    this.hidesWords = isLimited || hidden;
  }

  get primaryKey(): string {
    return this.stream.declaration.primaryKey;
  }

  get timeField(): string | undefined {
    return this.stream.declaration.timeField;
  }

  get hasTimeLimit(): boolean {
    return this.scope.values.length > 0;
  }

  /** Granted fields whose words are searched. */
  get lexical(): string[] {
    return [...this.columns.keys()].filter((name) => this.field(name).lexical === true);
  }

  field(name: string): FieldDeclaration {
    return this.stream.declaration.fields[name] as FieldDeclaration;
  }

  /** Returns the column of a field that a request names. Throws if it is unknown or not granted. */
  column(name: string): string {
    const column = this.columns.get(name);
    if (column !== undefined) return column;
    throw this.stream.columns.has(name) ? fieldNotGranted(name) : unknownField(name);
  }

  canRange(name: string): boolean {
    return takesRange(this.field(name));
  }

  /** Columns for a `SELECT` of these fields. */
  selected(fields: Iterable<string>): string {
    return ['seq', 'key', 'at', 'emitted', ...[...fields].map((name) => this.column(name))]
      .map((column) => `r.${column}`)
      .join(', ');
  }

  data(row: Row, fields: Iterable<string>): Record<string, unknown> {
    return Object.fromEntries([...fields].map((name) => [name, shown(row[this.column(name)], this.field(name))]));
  }
}

function timeScope({ since, until }: Grant): Condition {
  const values: SQLInputValue[] = [];
  const parts: string[] = [];
  // Records without a time are outside of every time limit.
  if (since !== undefined || until !== undefined) parts.push("r.at > ''");
  if (since !== undefined) {
    parts.push('r.at >= ?');
    values.push(since);
  }
  if (until !== undefined) {
    parts.push('r.at < ?');
    values.push(until);
  }
  return { sql: parts.length === 0 ? '1' : parts.join(' AND '), values };
}

export interface ReadScope {
  readonly store: RecordStore;
  readonly grants: readonly Grant[];
  readonly now: Date;
}

/** Returns the streams that the grants show, by connection and in declared order. */
export function visibleStreams({ store, grants, now }: ReadScope): VisibleStream[] {
  const valid = grants.filter(({ expires }) => expires === undefined || expires > now.toISOString());
  return store.streams.flatMap((stream) => {
    const grant = valid.find(({ connection }) => connection === stream.connection.id);
    if (!grant) return [];
    if (grant.streams === 'all') return [new VisibleStream(stream, grant, 'all')];
    const granted = grant.streams.find(({ name }) => name === stream.declaration.name);
    return granted ? [new VisibleStream(stream, grant, granted.fields)] : [];
  });
}

export const connectionRow = ({ id, displayName }: ConnectionDeclaration): object => ({
  connection_id: id,
  display_name: displayName,
});

/** Returns each connection once, in the order of the streams. */
export function connectionsOf(streams: readonly VisibleStream[]): ConnectionDeclaration[] {
  const found = new Map(streams.map(({ connection }) => [connection.id, connection]));
  return [...found.values()];
}

/** Returns the streams of the connection that a request names. Throws if no grant covers it. */
export function withinConnection(streams: readonly VisibleStream[], id: string | undefined): readonly VisibleStream[] {
  if (id === undefined) return streams;
  const own = streams.filter(({ connection }) => connection.id === id);
  if (own.length > 0) return own;
  throw new RequestError(404, 'connection_not_found', `connection_id '${id}' is not addressable under this grant.`, {
    param: 'connection_id',
  });
}

/** Returns the streams of this name. Throws if no grant covers one. */
export function named(streams: readonly VisibleStream[], name: string): VisibleStream[] {
  const own = streams.filter((one) => one.name === name);
  if (own.length > 0) return own;
  throw new RequestError(403, 'grant_stream_not_allowed', `Stream '${name}' is not in the grant.`);
}
