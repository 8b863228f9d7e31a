import type { RecordRequest } from '../../provider/recordProvider.ts';
import { invalid, RequestError } from './requestError.ts';

/** Value of `filter[field]`, or of `filter[field][gte]` and the like. */
export interface FilterParam {
  readonly field: string;
  readonly operator: string | undefined;
  readonly value: string;
}

const BRACKETS = /^(filter|expand_limit)\[([^[\]]+)\](?:\[([^[\]]*)\])?$/;
const LISTS: Readonly<Record<string, string>> = { 'streams[]': 'streams', 'expand[]': 'expand', 'fields[]': 'fields' };

/** Parameters of a request, checked against those that its route takes. */
export class Params {
  readonly path: string;
  readonly filters: readonly FilterParam[];
  readonly expandLimits: ReadonlyMap<string, string>;
  readonly warnings: object[] = [];
  readonly #values = new Map<string, string[]>();
  readonly #query: RecordRequest['query'];

  constructor({ path, query }: Pick<RecordRequest, 'path' | 'query'>, allowed: readonly string[]) {
    this.path = path;
    this.#query = query;
    const filters: FilterParam[] = [];
    const limits = new Map<string, string>();
    for (const [key, value] of query) {
      const [, family, name = '', operator] = BRACKETS.exec(key) ?? [];
      const plain = LISTS[key] ?? key;
      if (!allowed.includes(family ?? plain)) throw invalid(`Unsupported query parameter: ${key}`, key);
      if (family === 'filter') filters.push({ field: name, operator, value });
      else if (family === 'expand_limit') limits.set(name, value);
      else if (plain === 'filter') throw invalid('filter takes a field: filter[field]=value', 'filter');
      else this.#values.set(plain, [...(this.#values.get(plain) ?? []), value]);
    }
    this.filters = filters;
    this.expandLimits = limits;
  }

  /** The one value of a parameter. An empty one is absent. */
  one(name: string): string | undefined {
    const values = this.#values.get(name) ?? [];
    if (values.length > 1) throw invalid(`${name} is given more than once`, name);
    return values[0] === '' ? undefined : values[0];
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Values of a list, which is repeated or separated by commas. */
  list(name: string): string[] {
    const values = this.all(name).flatMap((value) => value.split(','));
    return [...new Set(values.map((value) => value.trim()).filter((value) => value !== ''))];
  }

  /** Limit of a page: 25 by default, at most 100, with a warning when it was cut. */
  get pageLimit(): number {
    const given = this.one('limit');
    const limit = given !== undefined && /^\d+$/.test(given) ? Number(given) : 0;
    if (limit === 0) return 25;
    if (limit <= MAX_LIMIT) return limit;
    this.warnings.push({
      code: 'limit_clamped',
      param: 'limit',
      message: `limit is ${MAX_LIMIT} at most.`,
      detail: { requested_limit: limit, max_limit: MAX_LIMIT },
    });
    return MAX_LIMIT;
  }

  /** Connection that the request names, by its name of today or by the former one. */
  get connectionId(): string | undefined {
    const named = this.one('connection_id');
    const alias = this.one('connector_instance_id');
    if (alias === undefined) return named;
    if (named !== undefined && named !== alias) {
      throw new RequestError(
        400,
        'invalid_argument',
        'connection_id and connector_instance_id name the same thing and differ here. Send connection_id alone.',
        { param: 'connector_instance_id' },
      );
    }
    this.warnings.push({
      code: 'deprecated_alias_used',
      param: 'connector_instance_id',
      message: '`connector_instance_id` is deprecated; send `connection_id` instead.',
    });
    return alias;
  }

  get self(): string {
    return address(this.path, this.#query);
  }

  /** Address of the next page. */
  next(cursor: string | undefined): string | null {
    if (cursor === undefined) return null;
    return address(this.path, [...this.#query.filter(([key]) => key !== 'cursor'), ['cursor', cursor]]);
  }
}

const MAX_LIMIT = 100;

function address(path: string, query: RecordRequest['query']): string {
  const text = new URLSearchParams(query.map(([key, value]): [string, string] => [key, value])).toString();
  return text === '' ? path : `${path}?${text}`;
}
