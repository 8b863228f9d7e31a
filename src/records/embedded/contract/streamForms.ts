import {
  type FieldDeclaration,
  type FieldMetric,
  isScalar,
  metricsOf,
  RANGE_OPERATORS,
  schemaOf,
  takesMetric,
  takesRange,
} from '../store/declaration.ts';
import { relationTarget } from './expand.ts';
import type { VisibleStream } from './visible.ts';

/** Compact form: the abilities of each field as flags, such as `t=string,eq,lex,a=group_by`. */
export function compactStream(stream: VisibleStream, all: readonly VisibleStream[]): object {
  return {
    name: stream.name,
    primary_key: [stream.primaryKey],
    ...(stream.timeField !== undefined && { cursor_field: stream.timeField }),
    field_capabilities: Object.fromEntries(fieldsOf(stream).map(([name, field]) => [name, flags(field)])),
    expand_capabilities: expandRows(stream, all),
  };
}

function flags(field: FieldDeclaration): string {
  const metrics = metricsOf(field);
  return [
    `t=${schemaOf(field).type}`,
    ...(isScalar(field) ? ['eq'] : []),
    ...(takesRange(field) ? [`r=${RANGE_OPERATORS.join('|')}`] : []),
    ...(field.lexical ? ['lex'] : []),
    ...(metrics.length > 0 ? [`a=${metrics.join('|')}`] : []),
  ].join(',');
}

/** Full form: JSON Schema, query abilities and views, all reduced to the granted fields. */
export function fullStream(stream: VisibleStream, all: readonly VisibleStream[]): object {
  const { semantics, views = [], relations = [] } = stream.stream.declaration;
  const fields = fieldsOf(stream);
  const withMetric = (metric: FieldMetric): string[] =>
    fields.filter(([, field]) => takesMetric(field, metric)).map(([name]) => name);
  const usable = relations.filter((relation) => relationTarget(stream, relation, all));
  return {
    object: 'stream_metadata',
    name: stream.name,
    semantics,
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(field)])),
      required: [stream.primaryKey],
    },
    primary_key: [stream.primaryKey],
    cursor_field: stream.timeField ?? null,
    consent_time_field: stream.timeField ?? null,
    selection: { fields: true, resources: false },
    views: views
      .map((view) => ({ ...view, fields: view.fields.filter((name) => stream.columns.has(name)) }))
      .filter(({ fields: shown }) => shown.length > 0),
    relationships: usable.map(({ name, stream: target, foreignKey, cardinality }) => ({
      name,
      stream: target,
      foreign_key: foreignKey,
      cardinality,
    })),
    query: {
      range_filters: Object.fromEntries(
        fields.filter(([, field]) => takesRange(field)).map(([name]) => [name, RANGE_OPERATORS]),
      ),
      search: { lexical_fields: stream.lexical, semantic_fields: [] },
      aggregations: {
        count: true,
        sum: withMetric('sum'),
        min: withMetric('min'),
        max: withMetric('max'),
        group_by: withMetric('group_by'),
        group_by_time: withMetric('group_by_time'),
        count_distinct: withMetric('count_distinct'),
      },
      expand: usable.map(({ name, defaultLimit, maxLimit }) => ({
        name,
        default_limit: defaultLimit,
        max_limit: maxLimit,
      })),
    },
    field_capabilities: Object.fromEntries(fields.map(([name, field]) => [name, capabilities(field)])),
    expand_capabilities: expandRows(stream, all),
    freshness: { status: 'unknown' },
  };
}

function capabilities(field: FieldDeclaration): object {
  const ability = (declared: boolean): object => ({ declared, usable: declared });
  const metrics = ['sum', 'min', 'max', 'group_by', 'group_by_time', 'count_distinct'] as const;
  return {
    schema: schemaOf(field),
    granted: true,
    exact_filter: ability(isScalar(field)),
    range_filter: { ...ability(takesRange(field)), ...(takesRange(field) && { operators: RANGE_OPERATORS }) },
    lexical_search: ability(field.lexical === true),
    semantic_search: ability(false),
    aggregation: Object.fromEntries(metrics.map((metric) => [metric, ability(takesMetric(field, metric))])),
  };
}

/** Relations whose other end the grant shows. Others are not mentioned. */
function expandRows(stream: VisibleStream, all: readonly VisibleStream[]): object[] {
  const relations = stream.stream.declaration.relations ?? [];
  return relations
    .filter((relation) => relationTarget(stream, relation, all))
    .map(({ name, stream: target, cardinality, foreignKey, defaultLimit, maxLimit }) => ({
      name,
      stream: target,
      target_stream: target,
      cardinality,
      granted: true,
      usable: true,
      foreign_key: foreignKey,
      max_limit: maxLimit,
      default_limit: defaultLimit,
    }));
}

function fieldsOf(stream: VisibleStream): [string, FieldDeclaration][] {
  return [...stream.columns.keys()].map((name) => [name, stream.field(name)]);
}
