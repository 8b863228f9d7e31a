import { isRecord } from '../../../lib/isRecord.ts';
import { visibleJson } from '../../../text/visibleText.ts';
import { bodyOf, Refusal, type ToolAnswer, textAnswer } from '../answers.ts';
import { cutBytes } from '../boundedText.ts';
import { expandLimitParams, listParam, param } from '../filters.ts';
import { type ReadContext, requireSource } from '../readContext.ts';
import { parseResultId, type RecordHandle, segment } from '../resultIds.ts';
import { defined, firstFilled, type Json } from '../values.ts';
import { checkExpand, type Expansion } from './expandGate.ts';
import { titleOf, urlOf } from './identity.ts';
import { projected, projectedRecord } from './projection.ts';

interface FetchArguments extends Expansion {
  id: string;
  fields?: readonly string[];
  connection_id?: string;
}

/** Document that stands for one record (R4.6). The type allows no other member. */
interface RecordDocument {
  id: string;
  title: string;
  text: string;
  url: string;
  metadata: Json;
}

const TEXT_KEYS = ['text', 'content', 'body', 'summary'];
const MAX_JSON_BYTES = 1_000;
const MAX_EXPANDED_BYTES = 4_000;
/** A longer text would fill the context of any model. */
const MAX_TEXT_BYTES = 200_000;
const POINTER = '\n[cut; query_records has the whole record, fetch with fields a part]';

/** Answers `fetch` (R4.6): a document, and the same document as text. */
export async function fetchDocument(args: FetchArguments, context: ReadContext): Promise<ToolAnswer> {
  const handle = handleOf(args);
  const { stream, recordId, connectionId } = handle;
  const path = `/v1/streams/${segment('id', stream)}/records/${segment('id', recordId)}`;
  const query = [
    ...listParam('fields', args.fields),
    ...listParam('expand', args.expand),
    ...expandLimitParams(args.expand_limit),
    ...param('connection_id', connectionId),
  ];
  requireSource(context, connectionId);
  await checkExpand(args, { stream, connectionId }, context);
  const { provider, signal } = context;
  const document = documentOf(
    recordOf(bodyOf(await provider.get({ path, query, signal }))),
    args,
    handle,
    provider.url,
  );
  return textAnswer(JSON.stringify(document), { ...document });
}

function handleOf({ id, connection_id: given }: FetchArguments): RecordHandle {
  const handle = parseResultId(id);
  if (handle.connectionId !== undefined && given !== undefined && given !== handle.connectionId) {
    throw new Refusal(
      'conflicting_connection_id',
      `"id" names the connection ${handle.connectionId} and "connection_id" names ${given}; leave out "connection_id".`,
      { param: 'connection_id' },
    );
  }
  return { ...handle, connectionId: handle.connectionId ?? given };
}

/** Returns the record of an answer, which some servers wrap once more. */
function recordOf(body: Json): Json {
  return isRecord(body.data) && body.data.object === 'record' ? body.data : body;
}

function documentOf(record: Json, args: FetchArguments, handle: RecordHandle, providerUrl: string): RecordDocument {
  const fields = args.fields?.length ? args.fields : undefined;
  const expands = (args.expand?.length ?? 0) > 0;
  const whole = isRecord(record.data) ? record.data : {};
  const payload = fields ? projected(whole, fields) : whole;
  const source = { ...projectedRecord(record, fields, expands), data: payload };
  const { stream, recordId, connectionId } = handle;
  const metadata = {
    ...metadataOf(record, payload, fields),
    ...missing(record, { stream, connection_id: connectionId }),
  };
  return {
    id: args.id,
    title: titleOf(source, [payload, source], stream),
    text: textOf(payload, source),
    url: urlOf(payload, source, { stream, recordId, connectionId: connectionId ?? connectionOf(record) }, providerUrl),
    metadata,
  };
}

function connectionOf(record: Json): string | undefined {
  return firstFilled(record, ['connection_id', 'connector_instance_id']);
}

function textOf(payload: Json, record: Json): string {
  const own = firstFilled(payload, TEXT_KEYS) ?? firstFilled(record, TEXT_KEYS);
  const expanded = isRecord(record.expanded) && Object.keys(record.expanded).length > 0 ? record.expanded : undefined;
  const related = expanded ? `\nexpanded: ${cutBytes(visibleJson(expanded), MAX_EXPANDED_BYTES)}` : '';
  if (own !== undefined) return cutText(own, MAX_TEXT_BYTES) + related;
  return cutText(JSON.stringify(payload, null, 2), MAX_JSON_BYTES) + related;
}

function cutText(text: string, limit: number): string {
  const cut = cutBytes(text, limit);
  return cut === text ? text : cut + POINTER;
}

/** Members of a record that may appear in the metadata, beside `metadata` itself. */
const IDENTITY = [
  'object',
  'id',
  'stream',
  'connection_id',
  'connector_key',
  'connector_id',
  'display_name',
  'grant_id',
  'emitted_at',
];
const TIMES = ['sent_at', 'authored_at', 'created_at', 'source_created_at', 'occurred_at', 'updated_at'];
/** Identity that some providers put into the payload alone. */
const BACK_FILLED = ['stream', 'connection_id', 'connector_key', 'connector_id', 'display_name'];

/** Returns scalars alone. With `fields`, nothing of the source but those fields and the record's identity. */
function metadataOf(record: Json, payload: Json, fields: readonly string[] | undefined): Json {
  const own = isRecord(record.metadata) ? record.metadata : {};
  return {
    ...scalars(fields ? projected(own, fields) : own),
    ...scalars(members(payload, BACK_FILLED)),
    ...scalars(members(record, fields ? IDENTITY : [...IDENTITY, ...TIMES])),
  };
}

function members(from: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.map((key) => [key, from[key]]));
}

function scalars(from: Json): Json {
  return Object.fromEntries(
    Object.entries(from).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
}

/** Returns the parts of the handle that the record does not have itself. */
function missing(record: Json, handle: Json): Json {
  return defined(Object.fromEntries(Object.entries(handle).filter(([key]) => typeof record[key] !== 'string')));
}
