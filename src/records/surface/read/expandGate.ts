import { isRecord } from '../../../lib/isRecord.ts';
import { readCompactSchema } from '../../provider/readSchema.ts';
import { Refusal } from '../answers.ts';
import { param } from '../filters.ts';
import type { ReadContext } from '../readContext.ts';
import { relationsOf } from '../schema/capabilities.ts';
import { isInScope, schemaDocument, streamRows } from '../schema/schemaRows.ts';

export interface Expansion {
  expand?: readonly string[] | undefined;
  expand_limit?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Refuses `expand` on a stream that offers no relations, as the provider's schema has it at this moment (R3.8). Without
 * a schema, or without the stream in it, the provider decides.
 */
export async function checkExpand(
  { expand, expand_limit: limits }: Expansion,
  scope: { stream: string; connectionId: string | undefined },
  { provider, signal }: ReadContext,
): Promise<void> {
  const relations = [...new Set([...(expand ?? []), ...Object.keys(limits ?? {})])];
  if (relations.length === 0) return;
  const query = [...param('stream', scope.stream), ...param('connection_id', scope.connectionId)];
  const answer = await readCompactSchema(provider, query, signal).catch(() => undefined);
  if (answer?.status !== 200 || !isRecord(answer.body)) return;
  const rows = streamRows(schemaDocument(answer.body)).filter((row) => isInScope(row, scope));
  if (rows.length === 0 || rows.some(({ stream }) => relationsOf(stream).length > 0)) return;
  throw new Refusal(
    'invalid_expand',
    `The stream "${scope.stream}" offers no relations to expand, so not ${relations.join(', ')}; GET /v1/schema (expand_capabilities) lists what a stream offers: call schema(stream).`,
    { param: 'expand', stream: scope.stream, source: 'GET /v1/schema (expand_capabilities)' },
  );
}
