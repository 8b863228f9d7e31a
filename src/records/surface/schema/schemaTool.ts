import { candidateList } from '../../provider/ambiguity.ts';
import { readCompactSchema, readSchema } from '../../provider/readSchema.ts';
import { bodyOf, envelope, Refusal, type ToolAnswer, textAnswer } from '../answers.ts';
import { param } from '../filters.ts';
import type { ReadContext } from '../readContext.ts';
import { defined, type Json } from '../values.ts';
import { withWarning } from '../warnings.ts';
import { fullDocument, indexDocument, scopedDocument } from './schemaDocument.ts';
import { isInScope, type SchemaScope, schemaDocument, streamRows } from './schemaRows.ts';
import { indexText, scopedText } from './schemaText.ts';

interface SchemaArguments {
  detail?: 'compact' | 'full';
  stream?: string;
  connection_id?: string;
}

/** Revision of the provider's contract that this surface was written for. */
export const KNOWN_VERSION = '2026-04-06';

/** Answers `schema` (R2). */
export async function schema(args: SchemaArguments, context: ReadContext): Promise<ToolAnswer> {
  const { provider, signal } = context;
  const scope: SchemaScope = { stream: args.stream, connectionId: args.connection_id };
  const query = [...param('stream', scope.stream), ...param('connection_id', scope.connectionId)];
  const isFull = args.detail === 'full';
  if (isFull && scope.stream === undefined) {
    throw new Refusal(
      'invalid_request',
      'detail "full" needs "stream": call schema for the index, then schema(stream, connection_id, detail: "full").',
      { param: 'detail' },
    );
  }
  const answer = isFull
    ? await readSchema(provider, [['detail', 'full'], ...query], signal)
    : await readCompactSchema(provider, query, signal);
  const read = schemaDocument(bodyOf(answer));
  const document = withVersion(read, answer.version);
  if (isFull) refuseSeveral(document, scope);
  if (scope.stream === undefined) {
    return textAnswer(indexText(document, scope), envelope(indexDocument(document, scope), answer, provider.url));
  }
  const shown = isFull ? fullDocument(document, scope) : scopedDocument(document, scope);
  return textAnswer(scopedText(document, scope, isFull), envelope(shown, answer, provider.url));
}

/** Refuses an exhaustive schema of several sources: it would be as large as all of them (R2.5). */
function refuseSeveral(document: Json, scope: SchemaScope): void {
  if (scope.connectionId !== undefined) return;
  const sources = streamRows(document)
    .filter((row) => isInScope(row, scope))
    .flatMap(({ connections, connectorKey, name, displayName }) =>
      connections.map((one) =>
        defined({
          connection_id: one.connectionId,
          connector_key: connectorKey,
          stream: name,
          display_name: one.displayName ?? displayName,
        }),
      ),
    );
  if (sources.length < 2) return;
  throw new Refusal(
    'ambiguous_schema_detail',
    `${sources.length} sources have the stream; repeat the call with connection_id for the schema of one.`,
    { param: 'connection_id', retry_with: 'connection_id', ...candidateList(sources) },
  );
}

/** Says that the provider speaks a newer revision, whose additions pass through unknown (R7.6). */
function withVersion(document: Json, version: string | undefined): Json {
  if (version === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(version) || version <= KNOWN_VERSION) return document;
  return withWarning(document, {
    code: 'newer_provider',
    message: `the provider speaks revision ${version}, Waygate knows ${KNOWN_VERSION}; parts may be missing here`,
  });
}
