import { Refusal } from './answers.ts';

/** Record that an id names. */
export interface RecordHandle {
  stream: string;
  recordId: string;
  connectionId: string | undefined;
}

/** Whether a name is safe as one segment of a path. */
function isSegment(name: string): boolean {
  return name !== '' && name !== '.' && !name.includes('..') && !/[/\\]/.test(name);
}

/** Returns a name as a segment of a path. Throws `invalid_request` for one that could lead elsewhere. */
export function segment(param: string, name: string): string {
  if (isSegment(name)) return encodeURIComponent(name);
  throw new Refusal('invalid_request', `"${param}" must be a plain name without "/", "\\" and ".."; see schema.`, {
    param,
  });
}

/** Parses `stream:record`, where the record may contain `:`. */
function parseBase(base: string): { stream: string; recordId: string } | undefined {
  const colon = base.indexOf(':');
  const [stream, recordId] = [base.slice(0, colon), base.slice(colon + 1)];
  return colon > 0 && isSegment(stream) && isSegment(recordId) ? { stream, recordId } : undefined;
}

/** Parses an id of `search`: `connection/stream:record` or `stream:record`. Throws `invalid_id`. */
export function parseResultId(id: string): RecordHandle {
  const slash = id.indexOf('/');
  const connectionId = slash === -1 ? undefined : id.slice(0, slash);
  const base = parseBase(id.slice(slash + 1));
  if (base && (connectionId === undefined || isEmbeddable(connectionId))) return { ...base, connectionId };
  throw new Refusal(
    'invalid_id',
    '"id" must be "connection_id/stream:record_id" or "stream:record_id"; pass an id of search unchanged.',
    { param: 'id' },
  );
}

function isEmbeddable(connectionId: string): boolean {
  return isSegment(connectionId) && !connectionId.includes(':');
}

/** Returns the id with its connection in it, where both have the form for it. */
export function resultId(base: string, connectionId: string | undefined): string {
  if (connectionId === undefined || !isEmbeddable(connectionId) || !parseBase(base)) return base;
  return `${connectionId}/${base}`;
}
