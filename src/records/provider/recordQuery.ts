import type { RecordRequest } from './recordProvider.ts';

export type Query = RecordRequest['query'];

/** Path of the schema document. */
export const SCHEMA_PATH = '/v1/schema';
/** Path of the lexical search; the other modes are below it. */
export const SEARCH_PATH = '/v1/search';

/** Returns the first value of a parameter. */
export function parameter(query: Query, key: string): string | undefined {
  return query.find(([name]) => name === key)?.[1];
}

/** Returns the parameters without those of the given names. */
export function without(query: Query, ...keys: readonly string[]): Query {
  return query.filter(([name]) => !keys.includes(name));
}
