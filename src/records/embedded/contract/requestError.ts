/** Refused request, with the envelope of the contract. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly code: string;
  /** Further members of the envelope, such as `param` and `available_connections`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  403: 'permission_error',
  404: 'not_found_error',
  410: 'gone_error',
};

export function errorBody({ status, code, message, details }: RequestError, requestId: string): object {
  return { error: { type: TYPES[status] ?? 'api_error', code, message, ...details, request_id: requestId } };
}

export const invalid = (message: string, param?: string): RequestError =>
  new RequestError(400, 'invalid_request', message, param === undefined ? {} : { param });

export const unknownField = (name: string): RequestError =>
  new RequestError(400, 'unknown_field', `Unknown field: ${name}`);

export const fieldNotGranted = (name: string): RequestError =>
  new RequestError(403, 'field_not_granted', `Fields not in grant: ${name}`);

export const invalidCursor = (): RequestError =>
  new RequestError(400, 'invalid_cursor', 'Malformed cursor', { param: 'cursor' });
