import { isRecord } from '../../../lib/isRecord.ts';
import { visibleJson } from '../../../text/visibleText.ts';
import { bodyOf, envelope, Refusal, type ToolAnswer, textAnswer } from '../answers.ts';
import { cutBytes, inQuotes, withinBudget } from '../boundedText.ts';
import { expandLimitParams, filterParams, listParam, param } from '../filters.ts';
import { type ReadContext, requireSource } from '../readContext.ts';
import { segment } from '../resultIds.ts';
import { filled, type Json } from '../values.ts';
import { warningLines, withWarning } from '../warnings.ts';
import { checkExpand, type Expansion } from './expandGate.ts';
import { countOf, handles } from './handles.ts';
import { projectedRecord } from './projection.ts';

interface QueryArguments extends Expansion {
  stream: string;
  limit?: number;
  cursor?: string;
  order?: string;
  sort?: string;
  count?: string;
  filter?: unknown;
  fields?: readonly string[];
  view?: string;
  changes_since?: string;
  connection_id?: string;
}

/** Bytes of the text of a page or of hits (R3.6). */
export const MAX_TEXT_BYTES = 1_792;
const MAX_PREVIEWS = 5;
/** A shorter preview shows no field. */
const MIN_PREVIEW_BYTES = 80;
/** Bytes kept for the line after the previews. */
const RESERVED_BYTES = 100;

/** Answers `query_records` (R3). */
export async function queryRecords(args: QueryArguments, context: ReadContext): Promise<ToolAnswer> {
  const { stream, fields, connection_id: connectionId } = args;
  const path = `/v1/streams/${segment('stream', stream)}/records`;
  const query = [
    ...param('limit', args.limit),
    ...param('cursor', args.cursor),
    ...param('order', args.order),
    ...param('sort', args.sort),
    ...param('count', args.count),
    ...filterParams(args.filter),
    ...listParam('fields', fields),
    ...param('view', args.view),
    ...listParam('expand', args.expand),
    ...expandLimitParams(args.expand_limit),
    ...param('changes_since', args.changes_since),
    ...param('connection_id', connectionId),
  ];
  requireSource(context, connectionId);
  await checkExpand(args, { stream, connectionId }, context);
  const { provider, signal } = context;
  const answer = await provider.get({ path, query, signal });
  const page = withCursorCheck(pageOf(bodyOf(answer)), args.cursor);
  const expands = (args.expand?.length ?? 0) > 0;
  const records = page.data.map((record) => (isRecord(record) ? projectedRecord(record, fields, expands) : record));
  const shown = { ...page, data: records };
  return textAnswer(pageText(stream, shown), envelope(shown, answer, provider.url));
}

type Page = Json & { data: readonly unknown[] };

function pageOf(body: Json): Page {
  const inner = isRecord(body.data) && !Array.isArray(body.data) && Array.isArray(body.data.data) ? body.data : body;
  if (Array.isArray(inner.data)) return inner as Page;
  throw new Refusal(
    'invalid_provider_answer',
    'The record provider answered without a list of records in "data"; nothing of it is shown.',
  );
}

/** Warns of a provider that answers a cursor with itself: a reader would page for ever. */
function withCursorCheck(page: Page, cursor: string | undefined): Page {
  if (cursor === undefined || cursor === '' || page.next_cursor !== cursor) return page;
  const { next_cursor: _cursor, ...rest } = page;
  const warning = {
    code: 'cursor_repeated',
    message: 'the provider answered the cursor with itself; stop paging here',
  };
  return withWarning({ ...rest, has_more: false }, warning) as Page;
}

function pageText(stream: string, page: Page): string {
  const records = page.data;
  const previews = records.slice(0, MAX_PREVIEWS);
  const more = records.length - previews.length;
  const head = [
    `records from stream ${inQuotes(stream, 120)}: ${records.length} record(s).${handles(page, countOf(page))}`,
    ...unpageable(page),
    ...warningLines(page),
    ...(previews.length === 0 ? [] : [`Showing up to ${MAX_PREVIEWS}:`]),
  ].join('\n');
  const room = MAX_TEXT_BYTES - RESERVED_BYTES - Buffer.byteLength(head);
  const each = Math.max(MIN_PREVIEW_BYTES, Math.floor(room / Math.max(1, previews.length)) - '\nrecord[0] '.length);
  const lines = [
    ...previews.map((record, at) => `record[${at}] ${cutBytes(visibleJson(preview(record)), each)}`),
    ...(more > 0 ? [`more_records=${more}; structured output has them all, fewer fields make them readable`] : []),
  ];
  return withinBudget(head, lines, MAX_TEXT_BYTES, (left) => `previews_omitted=${Math.min(left, records.length)}`);
}

function unpageable({ has_more: hasMore, next_cursor: cursor }: Json): string[] {
  if (hasMore !== true || filled(cursor) !== undefined) return [];
  return ['has_more without next_cursor: name a connection_id, or narrow the read with filter or a higher limit.'];
}

/** Returns a record without what the line before it or the source has said. */
function preview(record: unknown): unknown {
  if (!isRecord(record)) return record;
  const { object: _object, stream: _stream, connector_instance_id: _alias, links: _links, ...rest } = record;
  return rest;
}
