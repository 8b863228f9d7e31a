import { isRecord } from '../../lib/isRecord.ts';
import { candidateList } from '../provider/ambiguity.ts';
import { readCompactSchema } from '../provider/readSchema.ts';
import type { RecordAnswer, RecordRequest } from '../provider/recordProvider.ts';
import { parameter, type Query, SCHEMA_PATH, without } from '../provider/recordQuery.ts';
import { connectorsOf, isInScope, schemaDocument, streamRows } from '../surface/schema/schemaRows.ts';
import { askAll, failureWarnings, type GrantMember, learn, type MemberAnswer, sourceOf } from './membership.ts';

/** Reads the schema of all members as one document (R5.2). */
export async function mergedSchema(members: readonly GrantMember[], request: RecordRequest): Promise<RecordAnswer> {
  const { query, signal } = request;
  if (parameter(query, 'detail') === 'full') return fullSchema(members, request);
  const plain = without(query, 'view');
  const answers = await askAll(members, ({ provider }) => readCompactSchema(provider, plain, signal));
  const good = answers.filter(({ failure }) => failure === undefined);
  const [first] = answers;
  if (good.length === 0 && first !== undefined) return lone(first);
  const isWhole = parameter(plain, 'stream') === undefined && parameter(plain, 'connection_id') === undefined;
  for (const { member, answer } of good) {
    if (isWhole && isRecord(answer?.body)) learn(member, schemaDocument(answer.body));
  }
  const connectors = good.flatMap(({ member, answer }) => connectorsIn(member, answer as RecordAnswer));
  const sources = members.map(sourceOf);
  return {
    status: 200,
    requestId: good[0]?.answer?.requestId,
    version:
      good
        .map(({ answer }) => answer?.version ?? '')
        .sort()
        .at(-1) || undefined,
    body: {
      object: 'schema',
      connectors,
      connector_count: connectors.length,
      stream_count: connectors.reduce((sum, { streams }) => sum + (Array.isArray(streams) ? streams.length : 0), 0),
      package: { grant_package: true, member_count: members.length, sources: sources.slice(0, MAX_SOURCES) },
      meta: { warnings: failureWarnings(answers), package: { partial: good.length < answers.length } },
    },
  };
}

/** Sources that the document lists beside its connectors, which name theirs themselves. */
const MAX_SOURCES = 50;

function connectorsIn(member: GrantMember, { body }: RecordAnswer): Record<string, unknown>[] {
  if (!isRecord(body)) return [];
  return connectorsOf(schemaDocument(body)).map((connector) => {
    const source = isRecord(connector.source) ? connector.source : {};
    const known = Object.fromEntries(Object.entries(sourceOf(member)).filter(([, value]) => value !== null));
    return {
      ...connector,
      connector_key: connector.connector_key ?? member.connectorKey,
      display_name: connector.display_name ?? known.display_name,
      source: { ...source, ...known },
    };
  });
}

/** Reads the exhaustive schema of the one source that has the stream; the compact one says which that is. */
async function fullSchema(members: readonly GrantMember[], { query, signal }: RecordRequest): Promise<RecordAnswer> {
  const scope = { stream: parameter(query, 'stream'), connectionId: parameter(query, 'connection_id') };
  if (members.length === 1 && members[0]) return members[0].provider.get({ path: SCHEMA_PATH, query, signal });
  const compact: Query = without(query, 'detail');
  const answers = await askAll(members, ({ provider }) => readCompactSchema(provider, compact, signal));
  const sources = answers.flatMap((one) =>
    one.failure !== undefined || !isRecord(one.answer?.body)
      ? []
      : streamRows(schemaDocument(one.answer.body))
          .filter((row) => isInScope(row, scope))
          .flatMap((row) => (row.connections.length > 0 ? row.connections : one.member.connections))
          .map(({ connectionId, displayName }) => ({ member: one.member, connectionId, displayName })),
  );
  const [source, another] = sources;
  if (source === undefined) return missing(answers);
  if (another === undefined) return source.member.provider.get({ path: SCHEMA_PATH, query, signal });
  const candidates = sources.map(({ member, connectionId, displayName }) => ({
    grant_id: member.grantId ?? null,
    connector_key: member.connectorKey ?? null,
    connection_id: connectionId,
    stream: scope.stream,
    display_name: displayName ?? member.displayName ?? null,
  }));
  const error = {
    type: 'api_error',
    code: 'ambiguous_schema_detail',
    message: `${sources.length} sources have the stream; repeat the call with connection_id for the schema of one.`,
    param: 'connection_id',
    retry_with: 'connection_id',
    ...candidateList(candidates),
  };
  return { status: 409, body: { error } };
}

/** Answers for a stream that no member has: with the failure of a member that may have it, or an empty document. */
function missing(answers: readonly MemberAnswer[]): RecordAnswer {
  const failed = answers.find(({ failure }) => failure !== undefined);
  if (failed && answers.every(({ failure }) => failure !== undefined)) return lone(failed);
  const meta = { warnings: failureWarnings(answers), package: { partial: failed !== undefined } };
  return { status: 200, body: { object: 'schema', connectors: [], connector_count: 0, stream_count: 0, meta } };
}

/** Returns the failure of a member as the answer of all. */
export function lone({ answer, failure }: MemberAnswer): RecordAnswer {
  if (answer) return answer;
  const error = { type: 'api_error', code: 'source_unavailable', message: failure ?? 'The source did not answer.' };
  return { status: 503, body: { error } };
}
