import { type FieldMetric, takesMetric } from '../store/declaration.ts';
import type { RecordStore } from '../store/recordStore.ts';
import type { Row } from '../store/sqlite.ts';
import { shown } from '../store/values.ts';
import { conditionOf } from './filters.ts';
import type { Params } from './params.ts';
import { invalid } from './requestError.ts';
import { bucketIn, endOfBucket, GRANULARITIES, type Granularity } from './timeBuckets.ts';
import type { VisibleStream } from './visible.ts';

export const AGGREGATE_PARAMS = [
  'metric',
  'field',
  'group_by',
  'group_by_time',
  'granularity',
  'time_zone',
  'limit',
  'filter',
  'connection_id',
  'connector_instance_id',
];

const METRICS = ['count', 'sum', 'min', 'max', 'count_distinct'] as const;
type Metric = (typeof METRICS)[number];

interface Question {
  readonly metric: Metric;
  readonly field: string | undefined;
  readonly groupBy: string | undefined;
  readonly time: { field: string; granularity: Granularity; zone: string } | undefined;
  readonly limit: number;
}

interface Group {
  readonly key: unknown;
  readonly count: number;
  readonly value: unknown;
}

/** Answers a metric over the records of one or several connections, as one number or by groups. */
export function aggregate(store: RecordStore, params: Params, streams: readonly VisibleStream[]): object {
  const question = questionOf(params);
  const { metric, field, groupBy, time, limit } = question;
  const source = sourceOf(question, params, streams);
  const isGrouped = groupBy !== undefined || time !== undefined;
  const groups = isGrouped ? groupsOf(store, question, source) : undefined;
  const total = groups
    ? groups.reduce((sum, { count }) => sum + count, 0)
    : Number(scalar(store, source, 'count(*)')?.result);
  const typed = (value: unknown): unknown => typedValue(streams[0] as VisibleStream, question, value);
  const shownGroups = groups?.slice(0, limit);
  return {
    object: 'aggregation',
    stream: (streams[0] as VisibleStream).name,
    metric,
    field: field ?? null,
    group_by: groupBy ?? null,
    group_by_time: time?.field ?? null,
    granularity: time?.granularity ?? null,
    time_zone: time?.zone ?? null,
    approximate: false,
    filtered_record_count: total,
    ...(groups && shownGroups
      ? {
          limit,
          groups: shownGroups.map(({ key, count, value }) =>
            metric === 'count' ? { key, count } : { key, value: typed(value), count },
          ),
          other_count: groups.slice(limit).reduce((sum, { count }) => sum + count, 0),
        }
      : { value: metric === 'count' ? total : typed(scalar(store, source, expressionOf(metric))?.result ?? null) }),
    links: { self: params.self },
    meta: { count: { kind: 'none' }, warnings: params.warnings },
  };
}

function questionOf(params: Params): Question {
  const metric = params.one('metric') as Metric | undefined;
  if (metric === undefined || !METRICS.includes(metric)) {
    throw invalid(`metric must be one of ${METRICS.join(', ')}`, 'metric');
  }
  const field = metric === 'count' ? undefined : params.one('field');
  if (metric !== 'count' && field === undefined) throw invalid(`field is required for ${metric}`, 'field');
  const groupBy = params.one('group_by');
  const timeField = params.one('group_by_time');
  if (groupBy !== undefined && timeField !== undefined) {
    throw invalid('group_by and group_by_time cannot be combined; choose one grouping dimension', 'group_by');
  }
  const granularity = params.one('granularity') as Granularity | undefined;
  const zone = params.one('time_zone');
  if (timeField === undefined && (granularity !== undefined || zone !== undefined)) {
    throw invalid('granularity and time_zone need group_by_time', 'granularity');
  }
  if (timeField !== undefined && (granularity === undefined || !GRANULARITIES.includes(granularity))) {
    throw invalid(`group_by_time needs a granularity: one of ${GRANULARITIES.join(', ')}`, 'granularity');
  }
  const given = params.one('limit');
  if (given !== undefined && groupBy === undefined && timeField === undefined) {
    throw invalid('limit needs group_by or group_by_time', 'limit');
  }
  if (given !== undefined && !/^([1-9]\d?|100)$/.test(given)) throw invalid('limit must be 1 to 100', 'limit');
  const time =
    timeField === undefined || granularity === undefined
      ? undefined
      : { field: timeField, granularity, zone: zone ?? 'UTC' };
  return { metric, field, groupBy, time, limit: Number(given ?? 10) };
}

/** Rows to compute with: `g` is the group, `v` the value. */
interface Source {
  readonly sql: string;
  readonly values: readonly (string | number | bigint | null | NodeJS.ArrayBufferView)[];
}

function sourceOf(
  { metric, field, groupBy, time }: Question,
  params: Params,
  streams: readonly VisibleStream[],
): Source {
  const parts = streams.map((stream) => {
    const { sql, values } = conditionOf(stream, params.filters);
    const g = groupExpression(stream, groupBy, time?.field);
    const v = field === undefined || metric === 'count' ? 'NULL' : `r.${declared(stream, field, metric)}`;
    return { sql: `SELECT ${g} AS g, ${v} AS v FROM ${stream.table} r WHERE ${sql}`, values };
  });
  return { sql: parts.map(({ sql }) => sql).join(' UNION ALL '), values: parts.flatMap(({ values }) => values) };
}

/** The time of the order is the field of most groups by time. Its own column has an index. */
function groupExpression(stream: VisibleStream, groupBy: string | undefined, timeField: string | undefined): string {
  if (groupBy !== undefined) return `r.${declared(stream, groupBy, 'group_by')}`;
  if (timeField === undefined) return 'NULL';
  const column = declared(stream, timeField, 'group_by_time');
  return timeField === stream.timeField ? 'r.at' : `r.${column}`;
}

function declared(stream: VisibleStream, name: string, metric: FieldMetric): string {
  const column = stream.column(name);
  if (takesMetric(stream.field(name), metric)) return column;
  const what = metric.startsWith('group_by') ? metric : `Aggregation ${metric}`;
  throw invalid(`${what} is not declared for '${name}'`, metric.startsWith('group_by') ? metric : 'field');
}

function expressionOf(metric: Metric): string {
  if (metric === 'count') return 'count(*)';
  return metric === 'count_distinct' ? 'count(DISTINCT v)' : `${metric}(v)`;
}

function scalar({ reader }: RecordStore, { sql, values }: Source, expression: string): Row | undefined {
  return reader.get(`SELECT ${expression} AS result FROM (${sql})`, ...values);
}

function groupsOf(store: RecordStore, question: Question, source: Source): Group[] {
  return question.time ? timeGroups(store, question, source) : fieldGroups(store, question, source);
}

function fieldGroups({ reader }: RecordStore, { metric }: Question, { sql, values }: Source): Group[] {
  const rows = reader.all(
    `SELECT g, count(*) AS n, ${expressionOf(metric)} AS result FROM (${sql}) GROUP BY g`,
    ...values,
  );
  const groups = rows.map(({ g, n, result }) => ({ key: g, count: Number(n), value: result }));
  const rank = ({ value, count }: Group): number => (typeof value === 'number' ? value : count);
  return groups.sort((a, b) => rank(b) - rank(a) || (String(a.key) < String(b.key) ? -1 : 1));
}

/** Most groups that are read one by one. */
const MAX_RANGES = 1_000;

/**
 * Reads one group after the other, each as a range of the index of times, since a grouping by an expression would sort
 * all rows. Very many groups are grouped at once after all.
 */
function timeGroups(store: RecordStore, question: Question, source: Source): Group[] {
  const { granularity, zone } = question.time as NonNullable<Question['time']>;
  const bucket = bucketIn(granularity, zone);
  const groups: Group[] = [];
  const select = `SELECT min(g) AS first FROM (${source.sql}) WHERE g > ''`;
  let { first } = store.reader.get(select, ...source.values) ?? {};
  const untimed = ranged(store, question, source, "g IS NULL OR g = ''", []);
  if (untimed.count > 0) groups.push({ ...untimed, key: null });
  while (typeof first === 'string') {
    if (groups.length >= MAX_RANGES) return groupedAtOnce(store, question, source);
    const end = endOfBucket(first, bucket);
    groups.push({ ...ranged(store, question, source, 'g >= ? AND g < ?', [first, end]), key: bucket(first) });
    first = store.reader.get(`${select} AND g >= ?`, ...source.values, end)?.first;
  }
  return groups;
}

function ranged(
  { reader }: RecordStore,
  { metric }: Question,
  { sql, values }: Source,
  range: string,
  limits: readonly string[],
): Omit<Group, 'key'> {
  const select = `SELECT count(*) AS n, ${expressionOf(metric)} AS result FROM (${sql}) WHERE ${range}`;
  const { n, result } = reader.get(select, ...values, ...limits) as Row;
  return { count: Number(n), value: result };
}

/** Groups in SQL by ten minutes, since no zone divides them, and then by the asked time in the asked zone. */
function groupedAtOnce({ reader }: RecordStore, { metric, time }: Question, { sql, values }: Source): Group[] {
  const { granularity, zone } = time as NonNullable<Question['time']>;
  const bucket = bucketIn(granularity, zone);
  const chars = granularity === 'minute' ? 16 : 15;
  const isDistinct = metric === 'count_distinct';
  const rows = reader.all(
    `SELECT substr(nullif(g, ''), 1, ${chars}) AS g, count(*) AS n, ${isDistinct ? 'v' : expressionOf(metric)} AS result
     FROM (${sql}) GROUP BY 1${isDistinct ? ', v' : ''}`,
    ...values,
  );
  const groups = new Map<string | null, { count: number; values: unknown[] }>();
  for (const { g, n, result } of rows) {
    const key = g === null ? null : bucket(`${g}${chars === 16 ? '' : '0'}:00.000Z`);
    const group = groups.get(key) ?? { count: 0, values: [] };
    group.count += Number(n);
    if (result !== null) group.values.push(result);
    groups.set(key, group);
  }
  return [...groups]
    .map(([key, { count, values: parts }]) => ({ key, count, value: joined(metric, parts) }))
    .sort((a, b) => (a.key === null ? -1 : b.key === null ? 1 : a.key < b.key ? -1 : 1));
}

/** Joins the results of parts of one group. */
function joined(metric: Metric, parts: readonly unknown[]): unknown {
  if (metric === 'count_distinct') return new Set(parts).size;
  if (parts.length === 0) return null;
  const values = parts as (number | string)[];
  if (metric === 'min') return values.reduce((a, b) => (a < b ? a : b));
  if (metric === 'max') return values.reduce((a, b) => (a > b ? a : b));
  return (values as number[]).reduce((a, b) => a + b, 0);
}

function typedValue(stream: VisibleStream, { metric, field }: Question, value: unknown): unknown {
  if (field === undefined || metric === 'count_distinct' || metric === 'sum') return value;
  return shown(value, stream.field(field));
}
