/**
 * A source of records with the read contract of a resource server: `GET` requests below `/v1/`, answered with a status
 * and a JSON body. A remote provider sends them over HTTP, the embedded one answers them in this process, and the five
 * tools do not know the difference.
 *
 * @example
 * const answer = await provider.get({ path: '/v1/streams/calls/records', query: [['limit', '5']] });
 */
export interface RecordProvider {
  /** Address that results name as `provider_url`. */
  readonly url: string;
  /** Answers one read. Rejects only if no answer can be had, with an error whose message is safe to show. */
  get(request: RecordRequest): Promise<RecordAnswer>;
  /**
   * Returns the error of a read that needs one source and names none, or an unknown one. Sends no request. A provider
   * with a single source has no such errors.
   */
  refusal?(connectionId: string | undefined): RecordAnswer | undefined;
  dispose(): Promise<void>;
}

export interface RecordRequest {
  /** Path with its segments percent-encoded, such as `/v1/streams/calls/records/c%3A1`. */
  readonly path: string;
  /** Decoded parameters in order; a list repeats its key, `filter[field][gte]` stays one key. */
  readonly query: readonly (readonly [key: string, value: string])[];
  readonly signal?: AbortSignal | undefined;
}

export interface RecordAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly requestId?: string | undefined;
  /** Revision of the contract that the provider names. */
  readonly version?: string | undefined;
}
