import { isRecord } from '../../../lib/isRecord.ts';
import { resultId } from '../resultIds.ts';
import { defined, filled, firstFilled, type Json, recordsIn } from '../values.ts';
import { titleOf, urlOf } from './identity.ts';
import { snippetOf } from './snippet.ts';

/** Result of a search, with the identity of its source (R4.2). */
export interface SearchResult {
  id: string;
  title: string;
  url: string;
  stream?: string | undefined;
  record_key?: string | undefined;
  connection_id?: string | undefined;
  display_name?: string | undefined;
  connector_key?: string | undefined;
  snippet?: string | undefined;
}

const HIT_KEYS = ['data', 'results', 'hits'];

/** Hits of an answer, in any of the places where servers put them, and the envelope around them. */
export function hitsOf(body: Json): { hits: Record<string, unknown>[]; envelope: Json } | undefined {
  const key = HIT_KEYS.find((one) => Array.isArray(body[one]));
  if (key !== undefined) return { hits: recordsIn(body[key]), envelope: withoutHits(body) };
  if (!isRecord(body.data)) return undefined;
  const inner = hitsOf(body.data);
  return inner && { hits: inner.hits, envelope: { ...inner.envelope, ...withoutHits(body) } };
}

function withoutHits(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !HIT_KEYS.includes(key)));
}

export function connectorKeyOf(hit: Json): string | undefined {
  const source = isRecord(hit.source) ? hit.source : {};
  return (
    firstFilled(hit, ['connector_key', 'connector_id']) ?? firstFilled(source, ['connector_key', 'connector_id', 'id'])
  );
}

export function searchResult(hit: Json, at: number, query: string, providerUrl: string): SearchResult {
  const stream = filled(hit.stream);
  const recordKey = keyOf(hit);
  const connectionId = filled(hit.connection_id) ?? filled(hit.connector_instance_id);
  const snippet = snippetOf(hit.snippet ?? hit.highlight, query);
  const nested = [hit.data, hit.record].filter(isRecord);
  const of = { stream, recordId: recordKey, connectionId };
  return {
    id: resultId(baseOf(hit, stream, recordKey) ?? `result:${at + 1}`, connectionId),
    title: titleOf(hit, [hit, ...nested], stream, snippet),
    url: urlOf(nested[0], hit, of, providerUrl),
    ...defined({
      stream,
      record_key: recordKey,
      connection_id: connectionId,
      display_name: filled(hit.display_name),
      connector_key: connectorKeyOf(hit),
      snippet,
    }),
  };
}

function keyOf(hit: Json): string | undefined {
  const key = [hit.record_key, hit.id, hit.record_id].find(
    (one) => filled(one) !== undefined || typeof one === 'number',
  );
  return key === undefined ? undefined : String(key);
}

function baseOf(hit: Json, stream: string | undefined, recordKey: string | undefined): string | undefined {
  const own = filled(hit.result_id);
  if (own !== undefined) return own;
  if (stream !== undefined && recordKey !== undefined) return `${stream}:${recordKey}`;
  return recordKey ?? filled(hit.url);
}
