/** Type of a field. Lists and objects are kept as JSON: they are shown, and not compared. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'date-time' | 'array' | 'object';

/**
 * Field of a stream. Every field but lists and objects takes exact filters; numbers and times take ranges, sums, minima,
 * maxima and time groups by their type.
 */
export interface FieldDeclaration {
  readonly type: FieldType;
  /** Words of the field are searched. */
  readonly lexical?: boolean;
  readonly groupBy?: boolean;
  readonly distinct?: boolean;
  /** Refuses ranges and metrics that the type would take. */
  readonly exactOnly?: boolean;
}

/** Relation to another stream of the same connection, for one hop of `expand`. */
export interface RelationDeclaration {
  readonly name: string;
  readonly stream: string;
  readonly cardinality: 'has_many' | 'has_one';
  /** `has_many`: field of the other stream with this record's key. `has_one`: field of this stream with the other key. */
  readonly foreignKey: string;
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

export interface StreamDeclaration {
  readonly name: string;
  readonly semantics: 'append_only' | 'mutable_state';
  /** Field with the record's id. */
  readonly primaryKey: string;
  /** Field of the order, and of a grant's time limits; absent for records without a time. */
  readonly timeField?: string;
  readonly fields: Readonly<Record<string, FieldDeclaration>>;
  readonly views?: readonly { id: string; label: string; fields: readonly string[] }[];
  readonly relations?: readonly RelationDeclaration[];
}

/** Configured source, with the id that requests name. Several connections may share a connector and its streams. */
export interface ConnectionDeclaration {
  readonly id: string;
  readonly connectorKey: string;
  readonly displayName: string;
}

const METRICS = ['sum', 'min', 'max', 'group_by', 'group_by_time', 'count_distinct'] as const;
export type FieldMetric = (typeof METRICS)[number];

export const RANGE_OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;
export type RangeOperator = (typeof RANGE_OPERATORS)[number];

export const isNumeric = ({ type }: FieldDeclaration): boolean => type === 'integer' || type === 'number';

export const isScalar = ({ type }: FieldDeclaration): boolean => type !== 'array' && type !== 'object';

export const takesRange = (field: FieldDeclaration): boolean =>
  field.exactOnly !== true && (isNumeric(field) || field.type === 'date-time');

export function takesMetric(field: FieldDeclaration, metric: FieldMetric): boolean {
  switch (metric) {
    case 'group_by':
      return field.groupBy === true;
    case 'count_distinct':
      return field.distinct === true;
    case 'sum':
      return takesRange(field) && isNumeric(field);
    case 'group_by_time':
      return takesRange(field) && field.type === 'date-time';
    default:
      return takesRange(field);
  }
}

export const metricsOf = (field: FieldDeclaration): FieldMetric[] => METRICS.filter((one) => takesMetric(field, one));

/** Returns the JSON Schema of a field. */
export function schemaOf({ type }: FieldDeclaration): { type: string; format?: string; items?: { type: string } } {
  if (type === 'date-time') return { type: 'string', format: 'date-time' };
  return type === 'array' ? { type, items: { type: 'string' } } : { type };
}

export const lexicalFields = ({ fields }: StreamDeclaration): string[] =>
  Object.keys(fields).filter((name) => fields[name]?.lexical === true);
