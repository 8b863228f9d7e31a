import { INVALID_REQUEST } from '../../errors/rpcCodes.ts';

/** Rejection of an HTTP request, with one sentence. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON-RPC code for the body. */
  readonly code: number;

  constructor(status: number, message: string, headers: Record<string, string> = {}, code: number = INVALID_REQUEST) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}
