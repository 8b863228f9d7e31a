import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isRecord } from '../../../lib/isRecord.ts';
import { isAbsent, readFailure, readOwnText } from '../../../lib/readBounded.ts';
import { writeWhole } from '../../../lib/writeWhole.ts';
import type { ReadRights } from '../contract/respond.ts';
import type { Grant } from '../contract/visible.ts';
import { isoTime } from '../store/values.ts';

/** Place that a grant opens. `history` and `agents` are Waygate's own connections. */
export type GrantSource =
  | { readonly kind: 'history' }
  | { readonly kind: 'agents' }
  | { readonly kind: 'folder'; readonly path: string; readonly name: string };

export interface StoredGrant extends Grant {
  readonly source: GrantSource;
  readonly created: string;
}

export interface GrantBook {
  readonly grants: readonly StoredGrant[];
  /** Why no grant counts. */
  readonly damaged?: string;
}

const VERSION = 1;

export const grantFile = (stateFolder: string): string => join(stateFolder, 'records-grants.json');

/** Grant of a workspace for its own history, which is there until the user revokes it. */
const HISTORY_GRANT: StoredGrant = {
  id: 'grt_history',
  connection: 'history',
  source: { kind: 'history' },
  streams: 'all',
  created: '1970-01-01T00:00:00.000Z',
};

/** Reads the grants. Of a file that cannot be read in full, no grant counts, not even that of the history. */
export function readGrants(stateFolder: string): GrantBook {
  const file = grantFile(stateFolder);
  let text: string;
  try {
    text = readOwnText(file);
  } catch (error) {
    if (isAbsent(error, file)) return { grants: [HISTORY_GRANT] };
    return damaged(file, readFailure(error));
  }
  try {
    return { grants: parseGrants(JSON.parse(text)) };
  } catch (error) {
    return damaged(file, error instanceof GrantError ? error.message : 'it is no JSON');
  }
}

/** Replaces the file. The absence of a grant for the history is kept too, since the user revoked it. */
export function writeGrants(stateFolder: string, grants: readonly StoredGrant[]): void {
  const content = { version: VERSION, grants };
  writeWhole(grantFile(stateFolder), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, sync: true });
}

/** Returns the grants that have not expired. */
export function validGrants({ grants }: GrantBook, now: Date): StoredGrant[] {
  return grants.filter(({ expires }) => expires === undefined || expires > now.toISOString());
}

/** Rights that the grants give at a time. */
export function rightsOf(book: GrantBook, now: Date): ReadRights {
  const valid = validGrants(book, now);
  const { damaged: refusal } = book;
  const content = JSON.stringify(valid.map(({ id, streams, since, until }) => [id, streams, since, until]));
  const grantId = `grt_${hash('sha256', content, 'hex').slice(0, 16)}`;
  return { grants: valid, grantId, ...(refusal !== undefined && { refusal }) };
}

class GrantError extends Error {}

function damaged(file: string, why: string): GrantBook {
  return {
    grants: [],
    damaged: `No record can be read, because ${file} with the grants is damaged: ${why}. Remove the file and grant again.`,
  };
}

/** Checks every member: a restriction that is not understood must not be dropped. */
function parseGrants(value: unknown): StoredGrant[] {
  const { version, grants, ...rest } = membersOf(value, 'it');
  if (version !== VERSION) throw new GrantError('its version is unknown');
  if (!Array.isArray(grants)) throw new GrantError('it has no list of grants');
  nothingElse(rest, 'it');
  const parsed = grants.map(parseGrant);
  if (new Set(parsed.map(({ connection }) => connection)).size !== parsed.length) {
    throw new GrantError('a connection has two grants');
  }
  return parsed;
}

function parseGrant(value: unknown): StoredGrant {
  const { id, connection, source, streams, since, until, expires, created, ...rest } = membersOf(value, 'a grant');
  nothingElse(rest, 'a grant');
  return {
    id: text(id, 'id'),
    connection: text(connection, 'connection'),
    source: parseSource(source),
    streams: streams === 'all' ? 'all' : parseStreams(streams),
    created: text(created, 'created'),
    ...(since !== undefined && { since: time(since, 'since') }),
    ...(until !== undefined && { until: time(until, 'until') }),
    ...(expires !== undefined && { expires: time(expires, 'expires') }),
  };
}

function parseSource(value: unknown): GrantSource {
  const { kind, path, name, ...rest } = membersOf(value, 'a source');
  nothingElse(rest, 'a source');
  if (kind === 'folder') return { kind, path: text(path, 'path'), name: text(name, 'name') };
  if (kind === 'history' || kind === 'agents') return { kind };
  throw new GrantError('a source is of an unknown kind');
}

function parseStreams(value: unknown): Exclude<Grant['streams'], 'all'> {
  if (!Array.isArray(value)) throw new GrantError('streams is no list');
  return value.map((one) => {
    const { name, fields, ...rest } = membersOf(one, 'a stream');
    nothingElse(rest, 'a stream');
    const isList = Array.isArray(fields) && fields.every((field) => typeof field === 'string');
    if (fields !== 'all' && !isList) throw new GrantError('fields of a stream is no list');
    return { name: text(name, 'name'), fields: fields as 'all' | string[] };
  });
}

function membersOf(value: unknown, what: string): Record<string, unknown> {
  if (!isRecord(value)) throw new GrantError(`${what} is no object`);
  return value;
}

function nothingElse(rest: object, what: string): void {
  const [name] = Object.keys(rest);
  if (name !== undefined) throw new GrantError(`${what} has the unknown member ${name.slice(0, 40)}`);
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new GrantError(`${name} of a grant is no text`);
}

function time(value: unknown, name: string): string {
  if (typeof value === 'string' && isoTime(value) === value) return value;
  throw new GrantError(`${name} of a grant is no time`);
}
