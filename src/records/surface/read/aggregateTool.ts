import { isRecord } from '../../../lib/isRecord.ts';
import { bodyOf, envelope, Refusal, type ToolAnswer, textAnswer } from '../answers.ts';
import { inQuotes, withinBudget } from '../boundedText.ts';
import { filterParams, param } from '../filters.ts';
import { type ReadContext, requireSource } from '../readContext.ts';
import { segment } from '../resultIds.ts';
import type { Json } from '../values.ts';
import { recordsIn } from '../values.ts';
import { warningLines } from '../warnings.ts';
import { MAX_TEXT_BYTES } from './queryTool.ts';

interface AggregateArguments {
  stream: string;
  metric: string;
  field?: string;
  group_by?: string;
  group_by_time?: string;
  granularity?: string;
  time_zone?: string;
  limit?: number;
  filter?: unknown;
  connection_id?: string;
}

const MAX_GROUPS = 5;

/** Answers `aggregate` (R3.7). */
export async function aggregate(args: AggregateArguments, context: ReadContext): Promise<ToolAnswer> {
  const { stream, connection_id: connectionId } = args;
  const path = `/v1/streams/${segment('stream', stream)}/aggregate`;
  const query = [
    ...param('metric', args.metric),
    ...param('field', args.field),
    ...param('group_by', args.group_by),
    ...param('group_by_time', args.group_by_time),
    ...param('granularity', args.granularity),
    ...param('time_zone', args.time_zone),
    ...param('limit', args.limit),
    ...filterParams(args.filter),
    ...param('connection_id', connectionId),
  ];
  requireSource(context, connectionId);
  const { provider, signal } = context;
  const answer = await provider.get({ path, query, signal });
  const result = aggregationOf(bodyOf(answer));
  return textAnswer(aggregateText(args, result), envelope(result, answer, provider.url));
}

function aggregationOf(body: Json): Json {
  const inner = isRecord(body.data) && body.metric === undefined ? body.data : body;
  if ('value' in inner || Array.isArray(inner.groups)) return inner;
  throw new Refusal('invalid_provider_answer', 'The record provider answered with neither "value" nor "groups".');
}

function aggregateText(args: AggregateArguments, result: Json): string {
  const {
    group_by: groupBy,
    group_by_time: byTime,
    granularity,
    time_zone: zone,
  } = { ...args, ...given(result) } as Json;
  const field = result.field ?? args.field;
  const name = `${args.metric}(${args.stream})${field === undefined || field === null ? '' : ` field=${String(field)}`}`;
  const notes = [
    ...(result.approximate === true ? [' approximate=true'] : []),
    ...(typeof result.filtered_record_count === 'number'
      ? [` filtered_record_count=${result.filtered_record_count}`]
      : []),
  ].join('');
  if (!Array.isArray(result.groups)) {
    return withinBudget(`${name} = ${scalar(result.value)}.${notes}`, warningLines(result), MAX_TEXT_BYTES, omitted);
  }
  const by = [
    ...(groupBy === undefined ? [] : [` group_by=${inQuotes(groupBy, 120)}`]),
    ...(byTime === undefined ? [] : [` group_by_time=${inQuotes(byTime, 120)}`]),
    ...(granularity === undefined ? [] : [` granularity=${inQuotes(granularity, 40)}`]),
    ...(zone === undefined ? [] : [` time_zone=${inQuotes(zone, 60)}`]),
  ].join('');
  const groups = recordsIn(result.groups);
  const shown = groups
    .slice(0, MAX_GROUPS)
    .map((group) => `${inQuotes(group.key, 120)}=${scalar(resultOf(args.metric, group))}`);
  const more = groups.length - shown.length;
  const other = result.other_count;
  const tail = [
    ...(more > 0 ? [`more_groups=${more}`] : []),
    ...(typeof other === 'number' ? [`other_count=${other}`] : []),
  ].join('; ');
  const list = groups.length === 0 ? '' : ` [${shown.join(', ')}]`;
  const head = `${name}${by}: ${groups.length} group(s)${list}${tail === '' ? '' : ` ${tail}`}.${notes}`;
  return withinBudget(head, warningLines(result), MAX_TEXT_BYTES, omitted);
}

/** Returns the result of a group. Beside that of another metric, a provider may write how many records it is from. */
function resultOf(metric: string, { count, value }: Json): unknown {
  return metric === 'count' ? (count ?? value) : (value ?? count);
}

const omitted = (lines: number): string => `warnings_omitted=${lines}`;

/** Returns the members that have a value: a provider writes `null` for an argument that was not given. */
function given(result: Json): Json {
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== null));
}

function scalar(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : inQuotes(value, 200);
}
