import { isRecord } from '../../lib/isRecord.ts';
import type { RecordAnswer, RecordProvider } from './recordProvider.ts';
import { type Query, SCHEMA_PATH } from './recordQuery.ts';

export function readSchema(
  provider: RecordProvider,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<RecordAnswer> {
  return provider.get({ path: SCHEMA_PATH, query, signal });
}

/** Error codes of a server that does not know `view`. */
const UNKNOWN_VIEW: readonly unknown[] = ['bad_request', 'invalid_request', 'unsupported_query'];

/** Reads the compact schema. A server without that view is asked for all of it, which the caller projects (R2.7). */
export async function readCompactSchema(
  provider: RecordProvider,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<RecordAnswer> {
  const answer = await readSchema(provider, [['view', 'compact'], ...query], signal);
  const error = isRecord(answer.body) && isRecord(answer.body.error) ? answer.body.error : {};
  if (answer.status !== 400 || !UNKNOWN_VIEW.includes(error.code)) return answer;
  return readSchema(provider, query, signal);
}
