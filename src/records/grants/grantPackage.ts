import { candidateList } from '../provider/ambiguity.ts';
import type { RecordAnswer, RecordProvider, RecordRequest } from '../provider/recordProvider.ts';
import { parameter, SCHEMA_PATH, SEARCH_PATH } from '../provider/recordQuery.ts';
import type { GrantMember } from './membership.ts';
import { mergedSchema } from './mergedSchema.ts';
import { mergedSearch } from './mergedSearch.ts';

/**
 * Several grants as one provider (R5): every grant with a client token of its own. The index and a search ask all of
 * them. Any other read goes to the one grant that has the connection, with that grant's token alone.
 */
export class GrantPackage implements RecordProvider {
  readonly url: string;
  readonly #members: readonly GrantMember[];

  constructor(members: readonly GrantMember[], url: string) {
    this.#members = members;
    this.url = url;
  }

  get(request: RecordRequest): Promise<RecordAnswer> {
    const connectionId = parameter(request.query, 'connection_id');
    const refusal = connectionId === undefined ? undefined : this.refusal(connectionId);
    if (refusal) return Promise.resolve(refusal);
    const members = connectionId === undefined ? this.#members : this.#having(connectionId);
    const [only] = members;
    if (request.path === SCHEMA_PATH) return mergedSchema(members, request);
    if (request.path === SEARCH_PATH || request.path.startsWith(`${SEARCH_PATH}/`))
      return mergedSearch(members, request);
    if (only !== undefined && members.length === 1) return only.provider.get(request);
    return Promise.resolve(this.#ambiguous());
  }

  refusal(connectionId: string | undefined): RecordAnswer | undefined {
    if (connectionId === undefined) return this.#members.length === 1 ? undefined : this.#ambiguous();
    return this.#having(connectionId).length === 0 ? this.#unknown(connectionId) : undefined;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#members.map(({ provider }) => provider.dispose()));
  }

  #having(connectionId: string): GrantMember[] {
    return this.#members.filter(({ connections }) => connections.some((one) => one.connectionId === connectionId));
  }

  #ambiguous(): RecordAnswer {
    const { length } = this.#candidates();
    const remedy = length === 0 ? 'call schema first, because no source is known yet' : 'repeat it with connection_id';
    return this.#error(409, {
      type: 'api_error',
      code: 'ambiguous_connection',
      message: `This read needs one of ${length} sources; ${remedy}.`,
      param: 'connection_id',
      retry_with: 'connection_id',
    });
  }

  #unknown(connectionId: string): RecordAnswer {
    return this.#error(404, {
      type: 'not_found_error',
      code: 'not_found',
      message: `No grant has the connection "${connectionId.slice(0, 200)}"; repeat the call with one of the listed.`,
      param: 'connection_id',
      retry_with: 'connection_id',
    });
  }

  /** Builds an error from the membership alone: no source is asked for it. */
  #error(status: number, error: Readonly<Record<string, unknown>>): RecordAnswer {
    return { status, body: { error: { ...error, ...candidateList(this.#candidates()) } } };
  }

  #candidates(): Record<string, unknown>[] {
    return this.#members.flatMap(({ grantId, connectorKey, displayName, connections }) =>
      connections.map((one) => ({
        grant_id: grantId ?? null,
        connector_key: connectorKey ?? null,
        connection_id: one.connectionId,
        display_name: one.displayName ?? displayName ?? null,
      })),
    );
  }
}
