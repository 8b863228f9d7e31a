import { ProviderError } from '../provider/providerError.ts';
import { readCompactSchema } from '../provider/readSchema.ts';
import type { RecordAnswer, RecordProvider, RecordRequest } from '../provider/recordProvider.ts';
import { SCHEMA_PATH } from '../provider/recordQuery.ts';
import { OWNER_ANSWER, tokenKindOf } from './ownerCredentials.ts';

/**
 * Provider whose token has been checked before the first read (R6.3): the schema names the kind of its bearer, and any
 * kind but `client` is refused for good. Nothing is read while the schema cannot be had.
 */
export class CheckedProvider implements RecordProvider {
  readonly url: string;
  readonly #inner: RecordProvider;
  #refusal: ProviderError | undefined;
  #check: Promise<RecordAnswer> | undefined;

  constructor(inner: RecordProvider) {
    this.#inner = inner;
    this.url = inner.url;
  }

  /** Asks for the schema once. Returns its answer; throws for a refused token. */
  async check(signal?: AbortSignal): Promise<RecordAnswer> {
    this.#check ??= readCompactSchema(this.#inner, [], signal);
    const check = this.#check;
    try {
      const answer = await check;
      // A failure says nothing about the token, so the next read asks again.
      if (answer.status !== 200 && this.#check === check) this.#check = undefined;
      return this.#judged(answer);
    } catch (error) {
      if (this.#check === check) this.#check = undefined;
      throw error;
    }
  }

  async get(request: RecordRequest): Promise<RecordAnswer> {
    if (this.#refusal) throw this.#refusal;
    const checked = await this.check();
    if (checked.status !== 200) return checked;
    const answer = await this.#inner.get(request);
    return request.path === SCHEMA_PATH ? this.#judged(answer) : answer;
  }

  dispose(): Promise<void> {
    return this.#inner.dispose();
  }

  #judged(answer: RecordAnswer): RecordAnswer {
    const kind = answer.status === 200 ? tokenKindOf(answer.body) : undefined;
    if (kind !== undefined && kind.toLowerCase() !== 'client') {
      this.#refusal = new ProviderError('owner_credential_refused', OWNER_ANSWER);
    }
    if (this.#refusal) throw this.#refusal;
    return answer;
  }
}
