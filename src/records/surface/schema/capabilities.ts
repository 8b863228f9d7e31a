import { isRecord } from '../../../lib/isRecord.ts';
import { filled, type Json, recordsIn, textsIn } from '../values.ts';

/** Kinds of aggregation, in the order in which they are listed. */
export const AGGREGATIONS = ['count_distinct', 'group_by', 'group_by_time', 'sum', 'min', 'max'] as const;
/** Order of the kinds within the flags of one field. */
const FLAG_ORDER = ['sum', 'min', 'max', 'group_by', 'group_by_time', 'count_distinct'] as const;
const OPERATORS: readonly string[] = ['gte', 'gt', 'lte', 'lt'];

/** Explains the flags of fields (R2.4). */
export const LEGEND: Readonly<Record<string, string>> = {
  t: 'type of the field',
  eq: 'filter {"field": value}',
  r: 'filter {"field": {"gte": value}} with these operators',
  lex: 'found by search mode lexical',
  sem: 'found by search mode semantic or hybrid',
  a: 'kinds of aggregate; group_by and group_by_time group, the others are metrics',
  'g=false': 'not granted: leave it out of fields and filter',
};

/** Abilities of one field, as a flag text such as `t=integer,eq,r=gte|lt,a=sum|min`. */
export function flagsOf(capability: unknown): string {
  if (typeof capability === 'string') return capability;
  if (!isRecord(capability)) return 'declared';
  const { schema, aggregation } = capability;
  const type = capability.type ?? (isRecord(schema) ? schema.type : undefined);
  const flags: string[] = [];
  if (type !== undefined) flags.push(`t=${value(Array.isArray(type) ? type.join('|') : type)}`);
  if (filled(capability.role)) flags.push(`role=${value(capability.role)}`);
  if (capability.granted === false) flags.push('g=false');
  flags.push(...ability('eq', capability.exact_filter));
  const range = capability.range_filter;
  const operators = isRecord(range) ? textsIn(range.operators).filter((one) => OPERATORS.includes(one)) : [];
  flags.push(...ability('r', range, (operators.length > 0 ? operators : OPERATORS).join('|')));
  flags.push(...ability('lex', capability.lexical_search), ...ability('sem', capability.semantic_search));
  const kinds = isRecord(aggregation)
    ? FLAG_ORDER.filter((kind) => isUsable(aggregation[kind]))
    : FLAG_ORDER.filter((kind) => textsIn(aggregation).includes(kind));
  if (kinds.length > 0) flags.push(`a=${kinds.join('|')}`);
  return flags.length === 0 ? 'declared' : flags.join(',');
}

function ability(flag: string, given: unknown, values?: string): string[] {
  if (isUsable(given)) return [values === undefined ? flag : `${flag}=${values}`];
  if (!isRecord(given) || given.declared !== true) return [];
  return [`${flag}=unusable:${value(given.reason ?? 'unknown')}`];
}

function isUsable(given: unknown): boolean {
  return given === true || (isRecord(given) && given.usable === true);
}

/** Returns a value for a place where `; , [ ] { } =` and spaces separate. */
function value(given: unknown): string {
  return String(given)
    .slice(0, 60)
    .replace(/[;,[\]{}=\s]/g, '_');
}

/** Abilities of a stream's fields, for the lines about search and aggregation. */
export interface StreamAbilities {
  fields: readonly (readonly [name: string, flags: string])[];
  lexical: readonly string[];
  semantic: readonly string[];
  aggregations: readonly (readonly [kind: string, fields: readonly string[]])[];
  /** Whether the provider names the fields and says nothing about them. */
  isSilent: boolean;
}

export function abilitiesOf(stream: Json): StreamAbilities {
  const capabilities = isRecord(stream.field_capabilities) ? stream.field_capabilities : {};
  const fields = Object.entries(capabilities).map(([name, given]) => [name, flagsOf(given)] as const);
  const flagged = fields.map(([name, flags]) => ({ name, flags: flags.split(',') }));
  const having = (flag: string): string[] =>
    flagged.filter(({ flags }) => flags.includes(flag)).map(({ name }) => name);
  const aggregating = (kind: string): string[] =>
    flagged
      .filter(({ flags }) => flags.some((flag) => flag.startsWith('a=') && flag.slice(2).split('|').includes(kind)))
      .map(({ name }) => name);
  return {
    fields,
    lexical: having('lex'),
    semantic: having('sem'),
    aggregations: AGGREGATIONS.map((kind) => [kind, aggregating(kind)] as const).filter(
      ([, names]) => names.length > 0,
    ),
    isSilent: fields.length > 0 && fields.every(([, flags]) => flags === 'declared'),
  };
}

/** Relations that a stream offers for `expand`. */
export function relationsOf(stream: Json): Record<string, unknown>[] {
  return recordsIn(stream.expand_capabilities);
}
