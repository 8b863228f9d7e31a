import { isRecord } from '../../../lib/isRecord.ts';
import { oneLine } from '../../../text/porcelain.ts';
import { filled, firstFilled, type Json } from '../values.ts';

const TITLE_KEYS = ['title', 'name', 'subject', 'summary'];
const SOURCE_KEYS = ['display_name', 'connector_key', 'connector_id', 'connection_id'];
/** Times of the record itself, best first; `emitted_at` is only when it was collected. */
const AUTHORED = ['sent_at', 'authored_at', 'created_at', 'source_created_at', 'occurred_at', 'updated_at'];
const INGESTED = ['emitted_at'];
const NESTED = ['data', 'record', 'metadata', 'source'];
const MAX_TITLE_CHARS = 200;
const MAX_TIME_CHARS = 40;

/**
 * Returns the title of a record: its own, or its source, stream and time (R4.3). `places` are where a title may be, best
 * first; a title that only repeats the snippet identifies nothing.
 */
export function titleOf(record: Json, places: readonly Json[], stream: string | undefined, snippet?: string): string {
  const plain = snippet === undefined ? undefined : withoutTags(snippet);
  for (const place of places) {
    const own = firstFilled(place, TITLE_KEYS);
    if (own === undefined) continue;
    const title = oneLine(own, MAX_TITLE_CHARS);
    if (title !== '' && withoutTags(title) !== plain) return title;
  }
  const source = firstFilled(record, SOURCE_KEYS);
  const parts = [source, stream, timeOf(record, AUTHORED) ?? timeOf(record, INGESTED)];
  return oneLine(parts.filter((part) => part !== undefined).join(' / '), MAX_TITLE_CHARS) || 'record';
}

function withoutTags(text: string): string {
  return text.replace(/<\/?\w+>/g, '').trim();
}

function timeOf(record: Json, keys: readonly string[]): string | undefined {
  const nested = NESTED.map((key) => record[key]).filter(isRecord);
  for (const place of [record, ...nested]) {
    for (const key of keys) {
      for (const name of [key, key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]) {
        const value = place[name];
        const text = typeof value === 'number' ? String(value) : filled(value);
        if (text !== undefined) return oneLine(text, MAX_TIME_CHARS);
      }
    }
  }
  return undefined;
}

const URL_KEYS = ['url', 'record_url', 'html_url', 'web_url', 'permalink', 'link', 'href', 'source_url'];

/** Record whose address is wanted. */
export interface Addressed {
  stream: string | undefined;
  recordId: string | undefined;
  connectionId: string | undefined;
}

/** Returns the absolute address of a record: that of its source, or the provider's own (R4.4). */
export function urlOf(payload: Json | undefined, record: Json, of: Addressed, providerUrl: string): string {
  for (const key of URL_KEYS) {
    const given = payload && webAddress(payload[key]);
    if (given !== undefined) return given;
  }
  for (const key of URL_KEYS) {
    const given = webAddress(record[key], providerUrl, of.connectionId);
    if (given !== undefined) return given;
  }
  const { stream, recordId, connectionId } = of;
  if (stream === undefined || recordId === undefined) return providerUrl;
  const scope = connectionId === undefined ? '' : `?connection_id=${encodeURIComponent(connectionId)}`;
  return `${providerUrl}/v1/streams/${encodeURIComponent(stream)}/records/${encodeURIComponent(recordId)}${scope}`;
}

/**
 * Returns an address of the web. With `providerUrl`, a path is one of the provider, whose own addresses also name the
 * connection.
 */
function webAddress(value: unknown, providerUrl?: string, connectionId?: string): string | undefined {
  const text = filled(value);
  if (text === undefined) return undefined;
  const absolute = providerUrl !== undefined && /^\/(?!\/)/.test(text) ? `${providerUrl}${text}` : text;
  if (!/^https?:\/\//i.test(absolute) || !URL.canParse(absolute)) return undefined;
  const url = new URL(absolute);
  if (url.username !== '' || url.password !== '') return undefined;
  if (providerUrl === undefined || !absolute.startsWith(`${providerUrl}/v1/`)) return absolute;
  if (connectionId === undefined || url.searchParams.has('connection_id')) return absolute;
  return `${absolute}${url.search === '' ? '?' : '&'}connection_id=${encodeURIComponent(connectionId)}`;
}
