import { isRecord } from '../../../lib/isRecord.ts';
import { invalidCursor, RequestError } from './requestError.ts';

/** Cursor as the contract has it: base64 of JSON, opaque to readers, checked when it returns. */
export function encodeCursor(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64');
}

function decoded(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64').toString());
    if (isRecord(value)) return value;
  } catch {
    // Falls through to the one error.
  }
  throw invalidCursor();
}

export type Order = 'asc' | 'desc';

/** Place behind the last record of a page. */
export interface PagePlace {
  readonly at: string;
  readonly key: string;
}

export const pageCursor = (order: Order, { at, key }: PagePlace): string =>
  encodeCursor({ kind: 'page', session: 'records', order, cursor_value: at, primary_key: [key] });

export function readPageCursor(text: string, order: Order): PagePlace {
  const { kind, session, order: bound, cursor_value: at, primary_key: keys } = decoded(text);
  const key: unknown = Array.isArray(keys) ? keys[0] : undefined;
  if (kind !== 'page' || session !== 'records' || typeof at !== 'string' || typeof key !== 'string') {
    throw invalidCursor();
  }
  if (bound !== order) {
    throw new RequestError(400, 'invalid_cursor', `The cursor belongs to order=${String(bound)}`, { param: 'cursor' });
  }
  return { at, key };
}

/** Place in a session of changes: behind `after`, up to `head`, which was the newest change when it began. */
export interface ChangePlace {
  readonly after: number;
  readonly head: number;
}

export const bookmark = (store: string, version: number): string =>
  encodeCursor({ kind: 'changes_since', version, store });

export const changesCursor = (store: string, { after, head }: ChangePlace): string =>
  encodeCursor({ kind: 'page', session: 'changes', after, head, store });

export function readBookmark(text: string, store: string): number {
  const { kind, version, store: origin } = decoded(text);
  if (kind !== 'changes_since' || !isCount(version)) throw invalidCursor();
  if (origin !== store) throw expired();
  return version;
}

export function readChangesCursor(text: string, store: string): ChangePlace {
  const { kind, session, after, head, store: origin } = decoded(text);
  if (kind !== 'page' || session !== 'changes' || !isCount(after) || !isCount(head)) throw invalidCursor();
  if (origin !== store) throw expired();
  return { after, head };
}

/** Place in the hits of a search. `subject` identifies the search, `head` the newest change that it saw. */
export interface SearchPlace {
  readonly offset: number;
  readonly head: number;
}

export const searchCursor = (subject: string, { offset, head }: SearchPlace): string =>
  encodeCursor({ kind: 'page', session: 'search', subject, offset, head });

export function readSearchCursor(text: string, subject: string): SearchPlace {
  const { kind, session, subject: bound, offset, head } = decoded(text);
  if (kind !== 'page' || session !== 'search' || !isCount(offset) || !isCount(head)) throw invalidCursor();
  if (bound !== subject) {
    throw new RequestError(400, 'invalid_cursor', 'The cursor belongs to another search', { param: 'cursor' });
  }
  return { offset, head };
}

export const expired = (): RequestError =>
  new RequestError(410, 'cursor_expired', 'The bookmark is too old. Read again with changes_since=beginning.', {
    param: 'changes_since',
  });

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
